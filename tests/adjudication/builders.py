"""Builders of what waits for people: queues, items, reviewers and filled-in forms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connections
from django.utils import timezone

from academy import work
from academy.models import InstanceRecord, Membership, Organization, Run, SuiteVersion, Work
from adjudication import assigning, claiming, deciding
from adjudication.models import Queue, ReviewItem, Seat
from tests import factories as make

User = get_user_model()
PEOPLE_DECIDE = {
    "evidence": {"reference": {"kind": "reference"}, "strict": {"kind": "people"}},
}
numbers = itertools.count(1)


def rubric_version(
    tasks: int = 3, *, criteria: int = 2, slug: str = "rubrics", notes: bool = True
) -> SuiteVersion:
    """A published version of rubric tasks q-0, q-1, … on which only people's words count.

    Notes for graders seal it, so that its records are closed to all but curators.
    """
    more = {} if notes else {"_world_notes": None}
    listed = [make.rubric_task(f"q-{place}", criteria, **more) for place in range(tasks)]
    report = make.import_files(
        {make.rubrics.BUCKET: listed},
        rename=(slug, "1"),
        publish=True,
        attributes=PEOPLE_DECIDE,
    )
    return make.version_of(report)


def rubric_run(
    version: SuiteVersion,
    *lines: dict[str, Any],
    entrant: Mapping[str, Any] | None = None,
    account: Any = None,
) -> Run:
    """A run on a rubric version; without lines every task is answered and nobody has judged."""
    ids = version.tasks.order_by("ordinal").values_list("external_id", flat=True)
    made = make.line_run(
        *(lines or [make.judged(task_id) for task_id in ids]),
        suite=f"{version.suite.slug}@{version.name}",
        run_id=f"r-{next(numbers)}",
        entrant=dict(entrant or {"name": "Example"}),
    )
    return make.run_of(make.record_files(made, version, account=account))


def do_work() -> None:
    """Do what is owed except the boards, which take the longest; see `make_boards`."""
    while True:
        Work.objects.filter(kind="refresh_boards").delete()
        unit = work.claim("tests")
        if unit is None:
            return
        work.perform(unit)


def make_boards(version: SuiteVersion) -> None:
    """Make the boards of a version anew, by the work that is owed for it."""
    work.version_changed(version.pk)
    make.score_all()


def queue_of(version: SuiteVersion, **facts: Any) -> Queue:
    """The queue of a version after its runs were scored."""
    do_work()
    assigning.fill_queue(version)
    queue = version.queues.get(kind="criteria")
    for name, value in facts.items():
        setattr(queue, name, value)
    queue.save()
    return queue


def waiting_queue(
    items: int = 3, *, criteria: int = 2, seats: int = 1, notes: bool = True, **facts: Any
) -> Queue:
    """A queue with an item for each task of one run."""
    version = rubric_version(items, criteria=criteria, notes=notes)
    rubric_run(version)
    queue = queue_of(version, **facts)
    if seats > 1:
        add_seats(queue, seats)
    return queue


def add_seats(queue: Queue, seats: int) -> None:
    """Let several people decide each item."""
    Queue.objects.filter(pk=queue.pk).update(seats_per_item=seats)
    queue.refresh_from_db()
    Seat.objects.bulk_create(
        Seat(item=item, number=number)
        for item in queue.items.all()
        for number in range(2, seats + 1)
    )


def person(name: str = "", *roles: str, **facts: Any) -> Any:
    """Somebody with roles who never types a password, since to hash one takes long."""
    user = User(username=name or f"person-{next(numbers)}", **facts)
    user.set_unusable_password()
    user.save()
    home, _made = Organization.objects.get_or_create(slug="home", defaults={"name": "Home"})
    Membership.objects.bulk_create(Membership(user=user, organization=home, role=r) for r in roles)
    return user


def reviewer(name: str = "", **facts: Any) -> Any:
    """Somebody who reviews."""
    return person(name, "reviewer", **facts)


def claimed(queue: Queue, user: Any, **more: Any) -> Seat:
    """The seat that somebody gets."""
    seat = claiming.claim_next(queue, user=user, **more)
    assert isinstance(seat, Seat), seat
    return seat


def refused(queue: Queue, user: Any, **more: Any) -> claiming.NothingFree:
    """Why somebody gets no seat."""
    nothing = claiming.claim_next(queue, user=user, **more)
    assert isinstance(nothing, claiming.NothingFree), nothing
    return nothing


def given(state: str = "value", value: Any = True, reason: str = "", **more: Any) -> dict[str, Any]:
    """What somebody said of one criterion."""
    return {"state": state, "value": value, "reason": reason, "confidence": "", **more}


def verdicts(item: ReviewItem, *values: bool | str, reason: str = "seen") -> dict[str, Any]:
    """A complete review; a text is a state without a value. Met for what is not given."""
    asked = deciding.questions_of(item)
    listed = [*values, *[True] * (len(asked) - len(values))]
    return {
        question.key: given(value=None, state=said, reason=reason, **fault_of(said))
        if isinstance(said, str)
        else given(value=said, reason=reason)
        for question, said in zip(asked, listed, strict=True)
    }


def fault_of(said: bool | str) -> dict[str, str]:
    """What a defective criterion suffers from."""
    return {"fault": "ambiguous"} if said == "defective" else {}


CODES = {True: "yes", False: "no", "cannot_tell": "unk", "defective": "odd", "": ""}


def posted(
    item: ReviewItem, *values: bool | str, reason: str = "seen", revision: int = 0
) -> dict[str, str]:
    """The same as a browser would send it; "" leaves a criterion open."""
    asked = deciding.questions_of(item)
    listed = [*values, *[True] * (len(asked) - len(values))]
    form = {"revision": str(revision)}
    for question, said in zip(asked, listed, strict=True):
        if said != "":
            form[f"v-{question.field}"] = CODES[said]
        form[f"r-{question.field}"] = reason
        form |= {f"f-{question.field}": fault for fault in fault_of(said).values()}
    return form


def decide(seat: Seat, user: Any, *values: bool | str, reason: str = "seen") -> None:
    """Submit a seat and let its window pass, then do all work that follows."""
    done = deciding.submit(seat, user=user, verdicts=verdicts(seat.item, *values, reason=reason))
    assert done.final_at is not None
    assert deciding.finalise(seat.pk, at=done.final_at)
    do_work()


def age(seat: Seat, **span: int) -> None:
    """Let the lease of a seat have run out some time ago."""
    Seat.objects.filter(pk=seat.pk).update(lease_until=timezone.now() - timedelta(**span))


def records_of(queue: Queue) -> list[InstanceRecord]:
    """The records under review, in order."""
    return list(InstanceRecord.objects.filter(review_items__queue=queue).order_by("id"))


@contextmanager
def threads(number: int) -> Iterator[ThreadPoolExecutor]:
    """Threads whose database connections are closed with them."""
    with ThreadPoolExecutor(number) as pool:
        yield pool
    connections.close_all()


def in_thread(act: Any, *args: Any, **named: Any) -> Any:
    """Do something on a connection of this thread, and close it."""
    try:
        return act(*args, **named)
    finally:
        connections.close_all()
