"""The form of a review: one question per criterion, built from its scale, never from the format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from academy.models import Criterion

CANNOT_TELL = "unk"
DEFECTIVE = "odd"
NOT_APPLICABLE = "na"
STATES = {CANNOT_TELL: "cannot_tell", DEFECTIVE: "defective", NOT_APPLICABLE: "na"}
OUTCOMES = ("success", "partial", "incorrect", "incomplete", "blocked")
CONFIDENCES = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a criterion: what is sent, what is shown, its colour and its key."""

    code: str
    label: str
    css: str
    key: str
    value: Any = None


def choices_of(criterion: Criterion) -> list[Choice]:
    """The answers that a criterion's scale allows."""
    if criterion.scale == "rating":
        low, high = criterion.low or 0, 3 if criterion.high is None else criterion.high
        made = [
            Choice(str(number), anchor_of(criterion, number, low), "", str(number), number)
            for number in range(low, high + 1)
        ]
        if criterion.allows_na:
            made.append(Choice(NOT_APPLICABLE, "N/A", "na", "x"))
        return made
    if criterion.scale == "outcome":
        made = [
            Choice(name, name.capitalize(), "yes" if name == "success" else "", str(place), name)
            for place, name in enumerate(OUTCOMES, 1)
        ]
    else:
        made = [Choice("yes", "Met", "yes", "1", True), Choice("no", "Not met", "no", "2", False)]
    place = len(made)
    return [
        *made,
        Choice(CANNOT_TELL, "Cannot tell", "unk", str(place + 1)),
        Choice(DEFECTIVE, "Criterion defective", "odd", str(place + 2)),
    ]


def anchor_of(criterion: Criterion, number: int, low: int) -> str:
    """A rating's number with its anchor."""
    place = number - low
    anchors = criterion.anchors
    return f"{number} {anchors[place]}" if place < len(anchors) else str(number)


def words_of(text: str) -> str:
    """Typed text as it can be stored: one kind of line end, and no NUL, which has no place."""
    return text.replace("\r\n", "\n").replace("\x00", "\ufffd")


def read(criteria: Sequence[Criterion], data: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """What was sent, by criterion key; what was not answered has an empty state."""
    content = {}
    for criterion in criteria:
        code = data.get(f"v-{criterion.pk}", "")
        known = {choice.code: choice for choice in choices_of(criterion)}
        choice = known.get(code)
        state = "" if choice is None else STATES.get(code, "value")
        confidence = data.get(f"c-{criterion.pk}", "")
        content[criterion.key] = {
            "state": state,
            "value": choice.value if choice is not None and state == "value" else None,
            "reason": words_of(data.get(f"r-{criterion.pk}", "")),
            "confidence": confidence if confidence in CONFIDENCES else "",
        }
    return content


def code_of(criterion: Criterion, given: Mapping[str, Any]) -> str:
    """The code of a stored answer, for showing it again."""
    state = given.get("state", "")
    if state == "value":
        return next(
            (
                choice.code
                for choice in choices_of(criterion)
                if choice.value == given.get("value") and choice.code not in STATES
            ),
            "",
        )
    return next((code for code, name in STATES.items() if name == state), "")


def fields(
    criteria: Sequence[Criterion],
    content: Mapping[str, Mapping[str, Any]],
    problems: Mapping[str, str],
) -> list[dict[str, Any]]:
    """The questions as the template shows them, with what was answered and what is wrong."""
    first_open = next(
        (c.key for c in criteria if not content.get(c.key, {}).get("state")),
        criteria[0].key if criteria else "",
    )
    made = []
    for number, criterion in enumerate(criteria, 1):
        given = content.get(criterion.key, {})
        made.append(
            {
                "number": number,
                "criterion": criterion,
                "choices": choices_of(criterion),
                "chosen": code_of(criterion, given),
                "reason": given.get("reason", ""),
                "confidence": given.get("confidence", ""),
                "problem": problems.get(criterion.key, ""),
                "is_on": criterion.key == first_open,
                "is_rating": criterion.scale == "rating",
            }
        )
    return made
