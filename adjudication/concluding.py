"""What an item that asks one thing came to, once it is resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from academy import deciding as core
from adjudication.models import ReviewItem, Seat
from adjudication.record_kinds import CONFIDENCES


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer that stands: of the third person where there was one, else of all seats."""

    value: Any
    reasons: tuple[str, ...]
    person: Any
    is_resolution: bool

    @property
    def reason(self) -> str:
        """All reasons as one text."""
        return "\n".join(self.reasons)


def conclusion(item: ReviewItem, key: str) -> Conclusion | None:
    """What a resolved item came to on one question; None where nobody answered it."""
    rows = item.seats.filter(state=Seat.State.SUBMITTED).select_related("holder")
    seats = [seat for seat in rows.order_by("submitted_at", "pk") if seat.verdicts.get(key)]
    thirds = [seat for seat in seats if seat.role == Seat.Role.THIRD]
    counted = thirds[-1:] or [seat for seat in seats if seat.role == Seat.Role.REVIEWER]
    if not counted:
        return None
    given = counted[-1].verdicts[key]
    said = (str(seat.verdicts[key].get("reason", "")).strip() for seat in counted)
    return Conclusion(
        value=given.get("value") if given.get("state") == "value" else None,
        reasons=tuple(dict.fromkeys(reason for reason in said if reason)),
        person=counted[-1].holder,
        is_resolution=bool(thirds),
    )


def store_answer(seat: Seat, subject: core.Subject, given: Mapping[str, Any]) -> None:
    """One final answer of a seat as a decision: of a person, or the resolution of a third."""
    state = given["state"]
    core.decide_subject(
        subject,
        source="resolution" if seat.role == Seat.Role.THIRD else "person",
        person=seat.holder,
        state=state,
        value=given.get("value") if state == "value" else None,
        reason=given.get("reason", ""),
        confidence=CONFIDENCES.get(given.get("confidence", "")),
        seat=seat.pk,
        at=seat.submitted_at,
    )
