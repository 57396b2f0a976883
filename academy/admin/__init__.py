"""The admin: curators import suites here and watch what is stored."""

from __future__ import annotations

from academy.admin import accounts, runs, suites  # noqa: F401
