"""Admin pages of suites and their versions."""

from __future__ import annotations
