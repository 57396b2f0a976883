"""One thing that an item asks: its text, its answers, and what an answer must come with.

Questions are plain values. Most are made from a criterion (`of_criterion`); those about a finding,
a key, a criterion or an appeal are made by their kind. Forms, checks and exports know only these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from academy import deciding as core
from academy.errors import AcademyError
from academy.models import Criterion

# Where a draft keeps the comment on the whole item; no question has an empty key.
COMMENT = ""
CANNOT_TELL = "unk"
DEFECTIVE = "odd"
NOT_APPLICABLE = "na"
STATES = {CANNOT_TELL: "cannot_tell", DEFECTIVE: "defective", NOT_APPLICABLE: "na"}
OUTCOMES = ("success", "partial", "incorrect", "incomplete", "blocked")
FAULTS = ("misaligned", "ambiguous", "infeasible", "stale")
NAMED = ("fits", "does not fit", "cannot tell", "not in the table")
UNNAMED = ("rightly left out", "wrongly left out", "cannot tell")
LONGEST_REASON = 20_000
LONGEST_NUMBER = 40
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: what is sent, what is shown, its colour, its key, and what explains it."""

    code: str
    label: str
    css: str
    key: str
    value: Any = None
    needs_reason: bool = True
    note: str = ""

    @property
    def state(self) -> str:
        """The state of a decision with this answer."""
        return STATES.get(self.code, "value")


@dataclass(frozen=True, slots=True)
class Section:
    """A group of questions under a heading; `mark` is the answer that one button gives to all."""

    key: str
    title: str
    hint: str = ""
    mark: str = ""
    mark_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing an item asks. `field` names it in forms; `section` groups questions on the page.

    `takes` is "choice" or "number"; a number has no choices but cannot-tell, and its unit is
    `about["unit"]`. `about` is what the page shows beside it (a row of a table, a unit). `table` is
    the revision of the table the question was made from; it is kept with each answer. `criterion`
    is the row the verdict is on, if it is one.
    """

    key: str
    field: str
    text: str
    choices: tuple[Choice, ...] = ()
    takes: str = "choice"
    scale: str = "choice"
    weight: float | None = None
    section: str = ""
    hint: str = ""
    about: Mapping[str, Any] | None = None
    table: str = ""
    criterion: Criterion | None = None
    faults: tuple[str, ...] = ()

    def choice(self, code: str) -> Choice | None:
        """The answer with a code."""
        return next((choice for choice in self.choices if choice.code == code), None)

    def problem(self, given: Mapping[str, Any]) -> str:
        """What is missing or wrong in an answer; empty when it may be submitted."""
        state = given.get("state", "")
        if not state:
            return "Give a number." if self.takes == "number" else "Choose a verdict."
        if self.takes == "number" and state == "value" and not is_number(given.get("value")):
            return "Give a number."
        if self.criterion is not None:
            try:
                core.check_value(self.criterion, state, given.get("value"))
            except AcademyError as error:
                return str(error)
        if state == "defective" and self.faults and given.get("fault") not in self.faults:
            return "Say what is wrong with the criterion: " + ", ".join(self.faults) + "."
        reason = str(given.get("reason", ""))
        if len(reason) > LONGEST_REASON:
            return (
                f"The reason has {len(reason):,} characters; at most {LONGEST_REASON:,} are kept."
            )
        if not reason.strip() and self._needs_reason(state, given.get("value")):
            return "Give a reason" + (" for anything but “met”." if self.scale == "met" else ".")
        return ""

    @property
    def head(self) -> str:
        """The text up to its first colon, when what follows explains it."""
        name, colon, rest = self.text.partition(": ")
        return name if colon and rest and self.scale == "rating" else self.text

    @property
    def tail(self) -> str:
        """What explains the head."""
        return self.text[len(self.head) :].removeprefix(": ")

    def _needs_reason(self, state: str, value: Any) -> bool:
        if self.takes == "number":
            return state != "value"
        chosen = next(
            (one for one in self.choices if one.state == state and one.value == value), None
        )
        return chosen is None or chosen.needs_reason


def is_number(value: Any) -> bool:
    """Whether a value is a finite number and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def number_of(text: str) -> float | None:
    """A typed number, with a point or a comma before its decimals; None for anything else."""
    plain = text.strip().replace("\u2212", "-").replace("\u202f", "").replace(" ", "")
    if "," in plain and "." not in plain and plain.count(",") == 1:
        plain = plain.replace(",", ".")
    if not NUMBER.fullmatch(plain):
        return None
    value = float(plain)
    return value if math.isfinite(value) else None


def of_criterion(criterion: Criterion) -> Question:
    """The question that a criterion asks."""
    return Question(
        key=criterion.key,
        field=str(criterion.pk),
        text=criterion.text,
        choices=tuple(choices_of(criterion)),
        scale=criterion.scale,
        weight=criterion.weight,
        criterion=criterion,
        faults=FAULTS if criterion.scale in ("met", "outcome") else (),
    )


def choices_of(criterion: Criterion) -> list[Choice]:
    """The answers that a criterion's scale allows."""
    if criterion.scale == "rating":
        return ratings_of(criterion)
    if criterion.scale == "fit":
        return fits_of(criterion)
    if criterion.scale == "outcome":
        made = [
            Choice(name, name.capitalize(), "yes" if name == "success" else "", str(place), name)
            for place, name in enumerate(OUTCOMES, 1)
        ]
        if criterion.allows_na:
            made.append(Choice(NOT_APPLICABLE, "Does not apply", "na", "x"))
    else:
        made = [
            Choice("yes", "Met", "yes", "1", True, needs_reason=False),
            Choice("no", "Not met", "no", "2", False),
        ]
    place = sum(1 for one in made if one.key.isdigit())
    return [
        *made,
        Choice(CANNOT_TELL, "Cannot tell", "unk", str(place + 1)),
        Choice(DEFECTIVE, "Criterion defective", "odd", str(place + 2)),
    ]


def ratings_of(criterion: Criterion) -> list[Choice]:
    """Whole numbers with their anchors, and N/A where it is allowed."""
    low, high = criterion.low or 0, 3 if criterion.high is None else criterion.high
    made = [
        Choice(
            str(number),
            str(number),
            "",
            str(number),
            number,
            note=anchor_of(criterion, number, low),
        )
        for number in range(low, high + 1)
    ]
    if criterion.allows_na:
        made.append(Choice(NOT_APPLICABLE, "N/A", "na", "x"))
    return made


FIT_COLOURS = {
    "fits": "yes",
    "rightly left out": "yes",
    "does not fit": "no",
    "wrongly left out": "no",
    "cannot tell": "unk",
}


def fits_of(criterion: Criterion, asked: Sequence[str] = ()) -> list[Choice]:
    """The answers about a row of a table, of those that are `asked`, else of all it knows."""
    return fit_choices([name for name in asked or criterion.anchors if name in criterion.anchors])


def fit_choices(names: Sequence[str]) -> list[Choice]:
    """Answers about a row of a table, each named by its anchor; cannot-tell is a state."""
    return [
        Choice(
            CANNOT_TELL if name == "cannot tell" else name.replace(" ", "-"),
            name.capitalize(),
            FIT_COLOURS.get(name, "odd"),
            str(place),
            None if name == "cannot tell" else name,
            needs_reason=FIT_COLOURS.get(name) != "yes",
        )
        for place, name in enumerate(names, 1)
    ]


def anchor_of(criterion: Criterion, number: int, low: int) -> str:
    """What a rating's number stands for."""
    place = number - low
    anchors = criterion.anchors
    return str(anchors[place]) if place < len(anchors) else ""
