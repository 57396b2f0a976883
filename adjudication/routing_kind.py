"""Routing review: every row of the table, as a task expects it or as a run recorded it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from academy import deciding as core
from academy import registry
from academy.bundle import JSON
from academy.models import Criterion
from adjudication import opening, routing_items
from adjudication.kinds import Kind, Verdicts
from adjudication.models import ReviewItem, Seat
from adjudication.questions import (
    CANNOT_TELL,
    NAMED,
    UNNAMED,
    Choice,
    Question,
    Section,
    fit_choices,
    fits_of,
)
from adjudication.record_kinds import CONFIDENCES, ROUTING, task_of

PART = "routing"
SCALE = "fit"
OVERALL = Question(
    key="routing:overall",
    field="overall",
    text="Overall",
    choices=(
        Choice("holds", "Routing holds", "yes", "1", "holds"),
        Choice("wrong", "Routing is wrong", "no", "2", "wrong"),
        Choice(CANNOT_TELL, "Cannot tell", "unk", "3"),
    ),
    section="overall",
    hint="Findings bear on scope discipline and honest uncertainty. There is no routing score.",
)
SECTIONS = (
    Section("selected", "Selected", "Is it a row? Does its signal hold?"),
    Section(
        "skipped",
        "Skipped with a reason",
        "Is the reason concrete, and would the signal have held?",
    ),
    Section(
        "unnamed",
        "Named nowhere",
        "Was the row rightly left out?",
        mark="rightly-left-out",
        mark_label="rightly silent",
    ),
    Section("overall", "Overall, with reason"),
)


def routing_of(item: ReviewItem) -> Mapping[str, Any]:
    """The routing under review: what the task expects, or what the run recorded of itself."""
    if item.record_id is None:
        return expected_routing(item)
    record, task, view = opening.opened(item)
    return registry.format_of(record.run.version.suite.format).run_routing(view, task)


def expected_routing(item: ReviewItem) -> Mapping[str, Any]:
    """The routing that the task expects; empty without its key."""
    task = task_of(item)
    spec = opening.spec_of(task)
    seen = registry.format_of(task.version.suite.format).rater_view(spec)
    found = seen.get(PART)
    return found if isinstance(found, Mapping) else {}


def questions_of_routing(item: ReviewItem) -> list[Question]:
    """A question for each row, in the order of the lists, and the overall verdict."""
    criteria = {
        criterion.key: criterion
        for criterion in task_of(item).criteria.filter(scale=SCALE).order_by("ordinal")
    }
    found = routing_of(item)
    expected = {} if item.record_id is None else lists_by_skill(expected_routing(item))
    table = str(found.get("table_revision") or table_of(criteria.values()))
    rows = merged(found.get("rows") or rows_without_lists(criteria))
    asked = [
        row_question(row, criteria.get(row["criterion"]), table, expected.get(row["skill"]))
        for row in rows
    ]
    return [*asked, overall_question(table)]


def overall_question(table: str) -> Question:
    """The verdict on the whole."""
    return Question(
        key=OVERALL.key,
        field=OVERALL.field,
        text=OVERALL.text,
        choices=OVERALL.choices,
        section=OVERALL.section,
        hint=OVERALL.hint,
        table=table,
    )


def row_question(
    row: Mapping[str, Any], criterion: Criterion | None, table: str, expected: str | None
) -> Question:
    """What is asked about one skill: named rows fit or not, others were left out or not."""
    names = UNNAMED if row["listed"] == "unnamed" else NAMED
    choices = fit_choices(names) if criterion is None else fits_of(criterion, names)
    return Question(
        key=f"routing:{row['skill']}" if criterion is None else criterion.key,
        field=f"s{row['place']}" if criterion is None else str(criterion.pk),
        text=row["skill"],
        choices=tuple(choices),
        scale=SCALE,
        section=row["listed"],
        about={**row, "expected": expected},
        table=table,
        criterion=criterion,
    )


def merged(rows: Any) -> list[dict[str, Any]]:
    """One row per skill; a second list that names it too is told beside it."""
    by_skill: dict[str, dict[str, Any]] = {}
    for place, row in enumerate(rows, 1):
        known = by_skill.setdefault(row["skill"], {**row, "place": place, "also": ""})
        if known["place"] != place and row["listed"] != known["listed"]:
            known["also"] = row["listed"]
            known["reason"] = known["reason"] or row["reason"]
    return list(by_skill.values())


def rows_without_lists(criteria: Mapping[str, Criterion]) -> Iterator[dict[str, JSON]]:
    """Where nothing is recorded, every row is named nowhere."""
    for criterion in criteria.values():
        if skill := criterion.extra.get("row"):
            yield {
                "criterion": criterion.key,
                "skill": skill,
                "listed": "unnamed",
                "reason": "",
                "row": None,
            }


def lists_by_skill(found: Mapping[str, Any]) -> dict[str, str]:
    """Which list names a skill."""
    return {row["skill"]: row["listed"] for row in merged(found.get("rows") or ())}


def table_of(criteria: Any) -> str:
    """The revision of the table that criteria were made from."""
    return next((str(one.extra.get("table_revision", "")) for one in criteria), "")


def beside_routing(item: ReviewItem) -> dict[str, Any]:
    """What the page shows beside the rows; a machine's warnings decide nothing."""
    found = routing_of(item)
    expected = {} if item.record_id is None else expected_routing(item)
    phases = list(found.get("phases") or ())
    return {
        "table": str(found.get("table_revision", "")),
        "warnings": list(found.get("warnings") or ()),
        "phases": phases,
        "phases_skipped": sum(1 for phase in phases if phase["state"] == "skipped"),
        "gates": list(found.get("gates") or ()),
        "expected_phases": list(expected.get("phases") or ()),
        "is_missing": item.record_id is not None and not found,
    }


def store_routing(item: ReviewItem, seat: Seat, verdicts: Verdicts) -> None:
    """Final verdicts on rows and on the whole; the table's revision stands in the whole one."""
    source = "resolution" if seat.role == Seat.Role.THIRD else "person"
    questions = questions_of_routing(item)
    given = {q.key: verdicts[q.key] for q in questions if q.key in verdicts}
    if item.record is not None:
        store_rows_of_record(item, seat, questions, given, source)
    for question in questions:
        answer = given.get(question.key)
        is_stored = item.record is not None and question.criterion is not None
        if answer is None or is_stored:
            continue
        subject = core.Subject(
            record=item.record,
            task=item.task if item.record is None else None,
            criterion=question.criterion,
            part=part_of(question),
        )
        core.decide_subject(
            subject,
            source=source,
            person=seat.holder,
            state=answer["state"],
            value=stored_value(question, answer),
            reason=answer.get("reason", ""),
            confidence=CONFIDENCES.get(answer.get("confidence", "")),
            seat=seat.pk,
            at=seat.submitted_at,
        )


def stored_value(question: Question, answer: Mapping[str, Any]) -> JSON:
    """An answer as it is stored; a criterion names the table's revision itself."""
    if question.criterion is not None:
        value: JSON = answer.get("value")
        return value
    return {"verdict": answer.get("value"), "table_revision": question.table}


def part_of(question: Question) -> str:
    """The part of its subject that an answer is on, where it is on no criterion."""
    if question.criterion is not None:
        return ""
    return PART if question.key == OVERALL.key else question.key[:200]


def store_rows_of_record(
    item: ReviewItem, seat: Seat, questions: list[Question], given: Verdicts, source: str
) -> None:
    """The rows of a run's own routing are verdicts on criteria of its record."""
    assert item.record is not None
    core.record_decisions(
        item.record,
        [
            core.Verdict(
                criterion=question.criterion,
                state=answer["state"],
                value=answer.get("value"),
                reason=answer.get("reason", ""),
                confidence=CONFIDENCES.get(answer.get("confidence", "")),
                suggestion_seen=seat.suggestion_seen,
            )
            for question in questions
            if question.criterion is not None and (answer := given.get(question.key))
        ],
        source=source,
        person=seat.holder,
        seat=seat.pk,
        probability=item.probability,
        at=seat.submitted_at,
    )


ROUTING_KIND = Kind(
    key=ROUTING,
    title="Routing",
    form="routing",
    questions=questions_of_routing,
    store=store_routing,
    sections=SECTIONS,
    beside=beside_routing,
    layout="most",
    wants_queue=routing_items.asks_for_routing,
    subjects=routing_items.routing_subjects,
)
