"""Properties are about what the gate decides; how long an example takes on a busy machine fails no test."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
