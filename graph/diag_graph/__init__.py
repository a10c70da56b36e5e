"""The diagnosis engine, usable as a library."""

__version__ = "0.1.0"
