"""The routing fields of a trajectory beside the stored table. Warnings only: a person decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from academy.bundle import JSON, CriterionSpec
from academy.errors import Problem, Severity
from academy.formats.neckbeard.entries import shown
from academy.formats.neckbeard.facts import TRAJECTORY
from academy.formats.neckbeard.routing_table import BY_SKILL, PHASE_SKILLS, REVISION, ROWS
from academy.formats.neckbeard.rules import Fixture, Journey

NAMED = ("fits", "does not fit", "cannot tell", "not in the table")
UNNAMED = ("rightly left out", "wrongly left out", "cannot tell")


def routing_notices(fixture: Fixture) -> Iterator[Problem]:
    """What a machine may say of the routing fields; none of it refuses a fixture."""
    if fixture.kind != TRAJECTORY:
        return
    for field, rule, message, severity in remarks_on(fixture.journey):
        yield Problem(
            str(fixture.path),
            rule,
            message,
            fixture.document.line(field),
            f"/{field}",
            severity,
        )


def remarks_on(journey: Journey) -> Iterator[tuple[str, str, str, Severity]]:
    """Field, rule, sentence and severity of each remark."""
    skipped = [one.skill for one in journey.routing_skipped]
    yield from remarks_on_names("routing_selected", journey.routing_selected)
    yield from remarks_on_names("routing_skipped", skipped)
    for one in journey.routing_skipped:
        if not one.reason:
            said = f"{shown(one.skill)} is skipped without a reason"
            yield "routing_skipped", "routing-without-reason", said, Severity.WARNING
    for skill in sorted(set(journey.routing_selected) & set(skipped)):
        said = f"{shown(skill)} is both selected and skipped"
        yield "routing_skipped", "routing-in-both-lists", said, Severity.WARNING
    if not journey.routing_selected and not skipped:
        return
    for said in phase_disagreements(journey):
        yield "routing_selected", "routing-and-phases", said, Severity.INFO
    unnamed = rows_unnamed(journey)
    if unnamed:
        said = f"{len(unnamed)} rows of the table are named nowhere: {', '.join(unnamed)}"
        yield "routing_selected", "routing-unnamed-rows", said, Severity.INFO


def remarks_on_names(field: str, skills: Sequence[str]) -> Iterator[tuple[str, str, str, Severity]]:
    """Names that are no row of the table, and names given more than once."""
    for skill, times in Counter(skills).items():
        if skill not in BY_SKILL:
            said = f"{shown(skill)} is no row of the routing table"
            yield field, "routing-unknown-skill", said, Severity.WARNING
        if times > 1:
            said = f"{shown(skill)} is named {times} times"
            yield field, "routing-repeated-skill", said, Severity.WARNING


def rows_unnamed(journey: Journey) -> list[str]:
    """Rows in neither list, in the table's order."""
    named = {*journey.routing_selected, *(one.skill for one in journey.routing_skipped)}
    return [row.skill for row in ROWS if row.skill not in named]


def phase_disagreements(journey: Journey) -> Iterator[str]:
    """Phases and their specialists that go different ways, which wants an explanation."""
    walked = {phase.number for phase in journey.phases}
    left = {phase.number for phase in journey.skipped_phases}
    skipped = {one.skill for one in journey.routing_skipped}
    for number, skill in PHASE_SKILLS.items():
        if number in left and skill in journey.routing_selected:
            yield f"phase {number} is skipped while {skill} is selected"
        if number in walked and skill in skipped:
            yield f"phase {number} is traversed while {skill} is skipped"


def review_rows(journey: Journey, strange: Sequence[str]) -> list[JSON]:
    """What a reviewer of the routing sees: every named skill with its row, then the other rows.

    `strange` are the names that are no row and on which the task has criteria.
    """
    named = [(skill, "selected", "") for skill in dict.fromkeys(journey.routing_selected)]
    named += [(one.skill, "skipped", one.reason) for one in journey.routing_skipped]
    unnamed = [(skill, "unnamed", "") for skill in rows_unnamed(journey)]
    return [
        review_row(criterion_key(skill, strange), skill, listed, reason)
        for skill, listed, reason in (*named, *unnamed)
    ]


def names_without_row(journey: Journey) -> list[str]:
    """The named skills that are no row of the table, each once."""
    named = [*journey.routing_selected, *(one.skill for one in journey.routing_skipped)]
    return [skill for skill in dict.fromkeys(named) if skill not in BY_SKILL]


def criterion_key(skill: str, strange: Sequence[str]) -> str:
    """The key of the criterion on a skill, "" where the task has none."""
    if skill in BY_SKILL:
        return f"routing:{skill}"
    return f"routing:unlisted-{strange.index(skill) + 1}" if skill in strange else ""


def review_row(criterion: str, skill: str, listed: str, reason: str) -> dict[str, JSON]:
    """One skill as it is listed, with the criterion on it and the table's row where there is one.

    Both lists may name the same skill; then there are two rows of one criterion.
    """
    row = BY_SKILL.get(skill)
    return {
        "criterion": criterion,
        "skill": skill,
        "listed": listed,
        "reason": reason,
        "row": row.as_json() if row else None,
    }


def routing_criteria(journey: Journey) -> tuple[CriterionSpec, ...]:
    """A question for every row, whichever list names it, and one for each name that is no row.

    Which list names a row is part of the expectation, so only `rater_view` tells it: keys and
    texts are the same for every trajectory.
    """
    strange = names_without_row(journey)
    keys = [(f"routing:{row.skill}", f"Routing of {row.skill}", row.skill) for row in ROWS]
    keys += [
        (f"routing:unlisted-{place}", f"Routing of unlisted skill {place}", "")
        for place, _ in enumerate(strange, start=1)
    ]
    return tuple(
        CriterionSpec(
            key=key,
            text=text,
            scale="fit",
            decided_by="person",
            anchors=tuple(dict.fromkeys((*NAMED, *UNNAMED))),
            needs=("routing",),
            extra={"review": "routing", "row": row, "table_revision": REVISION},
        )
        for key, text, row in keys
    )
