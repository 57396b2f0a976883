"""How often one model may submit a ranked run, by the original's written rule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

ATTEMPTS = 3
WINDOW = timedelta(days=7)


def is_allowed(at: datetime, accepted: Sequence[datetime], *, mode: str = "ranked") -> bool:
    """Whether a submission may come in at a time, given those accepted before.

    An earlier one counts until it is more than seven days old: nobody states the boundary, and
    this reading is the stricter one. Practice is never limited.
    """
    if mode != "ranked":
        return True
    recent = [moment for moment in accepted if timedelta() <= at - moment <= WINDOW]
    return len(recent) < ATTEMPTS


def allowed_of(times: Sequence[datetime], *, mode: str = "ranked") -> list[bool]:
    """Which of these submissions come in; a refused one costs nothing."""
    accepted: list[datetime] = []
    verdicts = []
    for moment in times:
        verdict = is_allowed(moment, accepted, mode=mode)
        verdicts.append(verdict)
        if verdict:
            accepted.append(moment)
    return verdicts
