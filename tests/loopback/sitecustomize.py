"""Python imports a module of this name when it starts: so a program that a test starts is on loopback, too."""

import loopback_only

loopback_only.install()
