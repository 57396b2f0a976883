"""Answer keys: quantities of a task that several people measure, each alone, and a third settles.

Raters see the drawing and no value; the third person sees every value under a number, never a name.
What is settled is a new revision of the key, which keeps what the raters measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from academy import auditing, keying, registry
from academy import deciding as core
from academy.bundle import JSON, KeyQuantity, RatedQuantity, TaskSpec
from academy.errors import AcademyError
from academy.formats.base import Format
from academy.models import Exposure, SuiteVersion, Task
from academy.querysets import has_role
from adjudication import assigning, concluding, opening
from adjudication.kinds import Kind, NewItem, Verdicts
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.questions import CANNOT_TELL, Choice, Question

KEYS = "keys"
FEWEST_RATERS = 2
CANNOT = (Choice(CANNOT_TELL, "Cannot tell", "unk", "x"),)


def task_of(item: ReviewItem) -> Task:
    """The task whose key an item asks. Raises AcademyError for an item about something else."""
    if item.task is None:
        raise AcademyError(f"Item {item.pk} is not about a task.")
    found: Task = item.task
    return found


def opened(item: ReviewItem) -> tuple[Format, TaskSpec]:
    """The format of an item's task, and the task with its key: nothing of it may be shown."""
    task = task_of(item)
    return registry.format_of(task.version.suite.format), opening.spec_of(task)


def questions_of_key(item: ReviewItem) -> list[Question]:
    """A number for each quantity of the key, in its unit."""
    fmt, spec = opened(item)
    return [
        Question(
            key=quantity.key,
            field=f"q{place}",
            text=quantity.label,
            choices=CANNOT,
            takes="number",
            about={"unit": quantity.unit},
            hint="Note the convention you measured by as the reason.",
        )
        for place, quantity in enumerate(fmt.key_quantities(spec), start=1)
    ]


def always_needs_third(_item: ReviewItem) -> bool:
    """A value becomes a key only when somebody who saw all of them says so."""
    return True


def store_on_key(item: ReviewItem, seat: Seat, verdicts: Verdicts) -> None:
    """A value for each quantity, as a part of the task; whoever measured knows it from now on."""
    task = task_of(item)
    for question in questions_of_key(item):
        if question.key in verdicts:
            subject = core.Subject(task=task, part=question.key)
            concluding.store_answer(seat, subject, verdicts[question.key])
    why = f"seat:{seat.pk}"
    if not Exposure.objects.filter(user=seat.holder, task=task, why=why).exists():
        auditing.expose(seat.holder, task=task, what="values of the answer key", why=why)


def rated(item: ReviewItem, *, settled: bool) -> list[RatedQuantity]:
    """What raters measured, by quantity; with the adjudicated values once they are settled."""
    fmt, spec = opened(item)
    seats = item.seats.filter(role=Seat.Role.REVIEWER, state=Seat.State.SUBMITTED)
    listed = list(seats.order_by("number"))
    return [
        RatedQuantity(
            quantity=quantity,
            values=tuple(value_in(seat, quantity) for seat in listed),
            value=value_of(item, quantity) if settled else None,
        )
        for quantity in fmt.key_quantities(spec)
    ]


def value_in(seat: Seat, quantity: KeyQuantity) -> float | None:
    """What one seat says of a quantity; None where it cannot tell."""
    given = seat.verdicts.get(quantity.key, {})
    return given.get("value") if given.get("state") == "value" else None


def value_of(item: ReviewItem, quantity: KeyQuantity) -> float | None:
    """The adjudicated value of a quantity."""
    came = concluding.conclusion(item, quantity.key)
    return came.value if came is not None and came.is_resolution else None


def content_of(item: ReviewItem, *, settled: bool) -> JSON:
    """The key that an item makes. Raises AcademyError when the format makes none of ratings."""
    fmt, spec = opened(item)
    if fmt.key_of_ratings is None:
        raise AcademyError(f"The format {fmt.key} makes no answer keys of what people measured.")
    return fmt.key_of_ratings(spec, rated(item, settled=settled))


def settle_key(item: ReviewItem) -> None:
    """Store the adjudicated values as a new revision; a published version gets a staged pass.

    Nothing is stored where a quantity could not be settled, or fewer than two people measured: the
    key stays as it is.
    """
    rows = rated(item, settled=True)
    task = task_of(item)
    raters = max((len(row.values) for row in rows), default=0)
    if raters < FEWEST_RATERS or any(row.value is None for row in rows):
        auditing.note("key.unsettled", f"task:{task.pk}", raters=raters)
        return
    came = concluding.conclusion(item, rows[0].quantity.key)
    keying.revise(
        task.version,
        {task.external_id: content_of(item, settled=True)},
        reason=f"adjudicated from the values of {raters} raters, each alone",
        by=came.person if came is not None else None,
    )


def evidence_of_key(item: ReviewItem, seat: Seat, user: Any) -> Mapping[str, Any]:
    """For raters the measuring rule; for the third person all values, their spread, agreement."""
    if seat.role != Seat.Role.THIRD:
        return {"measures_alone": True}
    fmt, _spec = opened(item)
    why = f"seat:{seat.pk}"
    task = task_of(item)
    if not Exposure.objects.filter(user=user, task=task, why=why).exists():
        auditing.expose(user, task=task, what="values of raters", why=why)
    agreement = fmt.key_agreement([content_of(item, settled=False)])
    return {
        "measures_alone": False,
        "ratings": [row_of(row) for row in rated(item, settled=False)],
        # Pairs: one of the figures is called "items", which a template would take for a method.
        "agreement": [(name, value) for name, value in agreement.items() if name != "names"],
        "notes": notes_of(item),
    }


def row_of(row: RatedQuantity) -> dict[str, Any]:
    """One quantity as the third person sees it: values, middle, spread in percent of the middle."""
    known = sorted(value for value in row.values if value is not None)
    middle = (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2 if known else None
    width = known[-1] - known[0] if known else None
    return {
        "quantity": row.quantity,
        "measured": row.values,
        "median": middle,
        "spread": width,
        "spread_percent": abs(width / middle) * 100 if width is not None and middle else None,
    }


def notes_of(item: ReviewItem) -> list[dict[str, Any]]:
    """The conventions that raters noted, under their numbers."""
    seats = item.seats.filter(role=Seat.Role.REVIEWER, state=Seat.State.SUBMITTED)
    return [
        {"rater": number, "quantity": key, "text": given["reason"]}
        for number, seat in enumerate(seats.order_by("number"), start=1)
        for key, given in seat.verdicts.items()
        if str(given.get("reason", "")).strip()
    ]


def may_not_rate(user: Any, _queue: Queue) -> str:
    """Raters hold no entrant rights: what they measure is the answer."""
    # A superuser has every role, and enters nothing by that.
    if has_role(user, "entrant") and not user.is_superuser:
        return "You enter runs, so others measure answer keys."
    return ""


@transaction.atomic
def make_key_queue(version: SuiteVersion, *, raters: int = FEWEST_RATERS, by: Any) -> Queue:
    """The queue in which the keys of a version are measured, with an item for each task.

    Raises AcademyError for another number of raters, and where no task has a quantity to measure.
    """
    if not has_role(by, "curator"):
        raise AcademyError("Only a curator has answer keys measured.")
    if not FEWEST_RATERS <= raters <= 3:
        raise AcademyError(f"Answer keys are measured by two or three raters, not by {raters}.")
    if not measurable(version):
        raise AcademyError(f"No task of {version} has a quantity that people could measure.")
    queue = version.queues.filter(kind=KEYS).first()
    if queue is None:
        queue = assigning.make_queue(
            version, KEYS, preset="two-and-third", by=by, seats_per_item=raters
        )
    assigning.add_items(queue, subjects_of_keys(queue))
    return queue


def measurable(version: SuiteVersion) -> list[Task]:
    """The tasks of a version whose keys hold a number that people could measure, in order."""
    fmt = registry.format_of(version.suite.format)
    if fmt.key_of_ratings is None:
        return []
    tasks = version.tasks.order_by("ordinal")
    return [task for task in tasks if fmt.key_quantities(opening.spec_of(task))]


def subjects_of_keys(queue: Queue) -> list[NewItem]:
    """An item for each task whose key can be measured."""
    return [
        NewItem(task=task, because="its answer key is measured")
        for task in measurable(queue.version)
    ]


KEY_KIND = Kind(
    key=KEYS,
    title="Answer keys",
    form="measurements",
    questions=questions_of_key,
    store=store_on_key,
    settle=settle_key,
    needs_third=always_needs_third,
    excludes=may_not_rate,
    seals_answers=True,
    subjects=subjects_of_keys,
    evidence=evidence_of_key,
    evidence_template="adjudication/_key_evidence.html",
)
