"""Builders of what is decided besides records: findings, criteria, appeals and answer keys."""

from __future__ import annotations

from typing import Any

from academy import publishing
from academy.models import Finding, InstanceRecord, Organization, Run, SuiteVersion
from adjudication import appealing, deciding
from adjudication.models import Appeal, Queue, ReviewItem, Seat
from tests import factories as make
from tests.adjudication import builders as build


def adjudicator(name: str = "") -> Any:
    """Somebody who decides where others differ."""
    return build.person(name, "adjudicator")


def curator(name: str = "curator") -> Any:
    """Somebody who curates."""
    return build.person(name, "curator", is_staff=True)


def take(queue: Queue, user: Any, *, third: bool = False) -> Seat:
    """The seat that somebody gets, as a third person if said so."""
    return build.claimed(queue, user, role="third") if third else build.claimed(queue, user)


def say(seat: Seat, user: Any, code: str, reason: str = "looked at it") -> ReviewItem:
    """Answer the one question of an item, let the window pass, and do what follows."""
    question = deciding.questions_of(seat.item)[0]
    choice = question.choice(code)
    assert choice is not None, [one.code for one in question.choices]
    verdict = build.given(choice.state, choice.value, reason)
    return hand_in(seat, user, {question.key: verdict})


def hand_in(seat: Seat, user: Any, verdicts: dict[str, Any]) -> ReviewItem:
    """Submit a seat, let the window pass, and do what follows."""
    done = deciding.submit(seat, user=user, verdicts=verdicts)
    assert done.final_at is not None
    assert deciding.finalise(seat.pk, at=done.final_at)
    build.do_work()
    found: ReviewItem = ReviewItem.objects.select_related("queue").get(pk=seat.item_id)
    return found


def measure(seat: Seat, user: Any, *values: float | None, note: str = "") -> ReviewItem:
    """Give a number for each quantity of a key; None where somebody cannot tell."""
    verdicts = {
        question.key: build.given(
            "cannot_tell" if value is None else "value", value, note or "by the outer line"
        )
        for question, value in zip(deciding.questions_of(seat.item), values, strict=True)
    }
    return hand_in(seat, user, verdicts)


def entrant_of(run: Run, name: str = "entrant") -> Any:
    """Somebody who speaks for the entrant of a run."""
    team, _made = Organization.objects.get_or_create(slug="team", defaults={"name": "Team"})
    run.entrant.organization = team
    run.entrant.save()
    return make.person(name, "entrant", organization=team)


def sealed_queue(items: int) -> Queue:
    """The queue of a sealed version of rubric tasks, with an item for each task of one run."""
    listed = [make.rubric_task(f"q-{place}", _world_notes=None) for place in range(items)]
    report = make.import_files(
        {make.rubrics.BUCKET: listed}, rename=("closed", "1"), attributes=build.PEOPLE_DECIDE
    )
    draft = make.version_of(report)
    draft.sealed = True
    draft.save(update_fields=["sealed"])
    version = publishing.publish_version(draft, reason="made for a test")
    build.rubric_run(version)
    return build.queue_of(version)


def decided_record(*, sealed: bool = False, **facts: Any) -> tuple[Queue, InstanceRecord, Any]:
    """A record that one reviewer decided: its queue, itself, the reviewer."""
    queue = sealed_queue(1) if sealed else build.waiting_queue(1, notes=False, **facts)
    reviewer = build.reviewer()
    build.decide(take(queue, reviewer), reviewer, False, reason="the step is missing")
    return queue, build.records_of(queue)[0], reviewer


def appeal_by(user: Any, record: InstanceRecord, **more: Any) -> tuple[Appeal, Queue]:
    """An open appeal, and the queue in which it waits."""
    made = appealing.open_appeal(record, text="The step is in the log.", by=user, **more)
    return made, record.run.version.queues.get(kind="appeals")


def finding_on(run: Run, code: str = "answers-without-steps", severity: str = "medium") -> Finding:
    """An open finding about a run."""
    return Finding.objects.create(
        run=run, code=code, sentence="Nothing was measured.", severity=severity
    )


def queue_for(version: SuiteVersion, kind: str) -> Queue:
    """The queue of one kind."""
    found: Queue = version.queues.get(kind=kind)
    return found
