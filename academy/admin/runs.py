"""Admin pages of entrants, runs and work."""

from __future__ import annotations
