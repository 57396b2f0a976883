"""Moments of one example day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def seconds(number: float) -> datetime:
    """So many seconds after noon."""
    return NOON + timedelta(seconds=number)
