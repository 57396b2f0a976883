"""Appeals are opened, withdrawn and closed; their outcome and its reason are public."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from academy import auditing
from academy.errors import AcademyError
from academy.models import Criterion, InstanceRecord, Run, ScoringPass, SuiteVersion
from academy.querysets import has_role
from adjudication import assigning, entrants
from adjudication.kinds import NewItem
from adjudication.models import Appeal, Queue, ReviewItem, Seat
from adjudication.policies import read_policy

APPEALS = "appeals"
ENTRANT, READER = "entrant", "reader"
LONGEST_TEXT = 10_000
DECIDED_BY_NOW = (Seat.State.PENDING, Seat.State.SUBMITTED)


def contestable(user: Any, pk: int) -> InstanceRecord | None:
    """A record that somebody may read or whose run they entered, of a closed run; None for others.

    Of a sealed version an entrant contests the records of their own runs by the task's name,
    without seeing what came of them.
    """
    records = InstanceRecord.objects.filter(pk=pk, run__state=Run.State.CLOSED).select_related(
        "task", "run__entrant", "run__version__suite"
    )
    found: InstanceRecord | None = records.filter(
        pk__in=InstanceRecord.objects.visible_to(user).filter(pk=pk).values("pk")
    ).first()
    if found is not None:
        return found
    own = records.filter(run__in=entrants.own_runs(user), task__holdout=False)
    own = own.exclude(run__version__state=SuiteVersion.State.DRAFT)
    mine: InstanceRecord | None = own.exclude(run__kind=Run.Kind.ORACLE).first()
    return mine


def visible_appeals(user: Any) -> QuerySet[Appeal]:
    """The appeals that somebody may read: on runs they may see, and their own.

    What a held-out task was answered is for curators.
    """
    shown = Q(record__run__in=Run.objects.visible_to(user))
    if not has_role(user, "curator"):
        shown &= Q(record__task__holdout=False)
    if getattr(user, "is_authenticated", False):
        shown |= Q(opened_by=user)
    found: QuerySet[Appeal] = Appeal.objects.filter(shown).select_related(
        "record__task", "record__run__entrant", "record__run__version__suite", "criterion",
        "scoring_pass", "version__suite",
    )  # fmt: skip
    return found


def standing_of(user: Any, record: InstanceRecord) -> str:
    """As what somebody may contest a record: "entrant", "reader", or not at all."""
    if not getattr(user, "is_authenticated", False):
        return ""
    if entrants.speaks_for(user, record.run):
        return ENTRANT
    return READER if is_open_to_readers(record.run.version) else ""


def is_open_to_readers(version: SuiteVersion) -> bool:
    """Whether a queue of the version lets every reader with an account appeal."""
    policies = version.queues.order_by("pk").values_list("policy", flat=True)
    return any(read_policy(policy).appeals_by == "readers" for policy in policies)


def waits_for_people(record: InstanceRecord) -> bool:
    """Whether nothing is decided yet that could be contested."""
    return bool(
        record.scores.filter(
            current=True, mode="strict", status="needs_human", scoring_pass__state="published"
        ).exists()
    )


def refusal(user: Any, record: InstanceRecord) -> str:
    """Why somebody may not contest a record now, as a sentence; empty when they may."""
    if not getattr(user, "is_authenticated", False):
        return "Sign in to contest a verdict."
    if not standing_of(user, record):
        return (
            "Verdicts on this version are contested by those who entered the run. "
            "You do not speak for its entrant."
        )
    if waits_for_people(record):
        return "This record still waits for people; it can be contested once it is decided."
    return ""


def open_appeal(
    record: InstanceRecord, *, criterion: Criterion | None = None, text: str, by: Any
) -> Appeal:
    """Contest a record, or one criterion on it; an item for adjudicators follows.

    Raises AcademyError for somebody who may not, without a text, for a criterion of another task,
    and when the same person has an open appeal against the same already.
    """
    if why := refusal(by, record):
        raise AcademyError(why)
    if not text.strip():
        raise AcademyError("Say what is wrong, and what shows it.")
    if len(text) > LONGEST_TEXT:
        raise AcademyError(
            f"The text has {len(text):,} characters; at most {LONGEST_TEXT:,} are kept."
        )
    if criterion is not None and criterion.task_id != record.task_id:
        raise AcademyError(f"Criterion {criterion.key} belongs to another task than the record.")
    try:
        with transaction.atomic():
            return _store(record, criterion, text.strip(), by)
    except IntegrityError:
        raise AcademyError("You have an open appeal against this already.") from None


def _store(record: InstanceRecord, criterion: Criterion | None, text: str, by: Any) -> Appeal:
    made = Appeal.objects.create(
        record=record,
        criterion=criterion,
        opened_by=by,
        opened_as=standing_of(by, record),
        text=text,
    )
    auditing.note("appeal.open", f"appeal:{made.pk}", by=by, record=record.pk)
    queue = queue_of(record.run.version)
    because = f"appeal {made.pk} by {'the entrant' if made.opened_as == ENTRANT else 'a reader'}"
    assigning.add_items(queue, [NewItem(appeal=made, because=because)])
    return made


def queue_of(version: SuiteVersion) -> Queue:
    """The queue for appeals of a version: one adjudicator each."""
    found: Queue | None = version.queues.filter(kind=APPEALS).first()
    return found or assigning.make_queue(version, APPEALS, preset="one")


def withdraw(appeal: Appeal, *, by: Any) -> None:
    """Take one's own open appeal back. Raises AcademyError once somebody has decided it."""
    with transaction.atomic():
        locked = Appeal.objects.select_for_update().get(pk=appeal.pk)
        if locked.opened_by_id != by.pk:
            raise AcademyError("Only the person who opened an appeal takes it back.")
        if locked.state != Appeal.State.OPEN or locked.consequence:
            raise AcademyError("This appeal is decided; it cannot be taken back any more.")
        items = ReviewItem.objects.select_for_update(no_key=True).filter(appeal=locked)
        listed = list(items.order_by("pk"))
        seats = Seat.objects.filter(item__in=listed)
        if seats.filter(state__in=DECIDED_BY_NOW).exists():
            raise AcademyError("An adjudicator has just decided it; the outcome is about to come.")
        seats.filter(state=Seat.State.HELD).update(
            state=Seat.State.FREE, holder=None, lease_until=None, held_at=None
        )
        items.update(state=ReviewItem.State.CLOSED)
        close(locked, Appeal.State.WITHDRAWN, reason="", by=by)


def close(
    appeal: Appeal,
    state: str,
    *,
    reason: str,
    by: Any,
    consequence: str = "",
    scoring_pass: ScoringPass | None = None,
    version: SuiteVersion | None = None,
    at: datetime | None = None,
) -> None:
    """Give an appeal its outcome, which is public with its reason."""
    Appeal.objects.filter(pk=appeal.pk).update(
        state=state,
        outcome_reason=reason,
        consequence=consequence,
        scoring_pass=scoring_pass,
        version=version,
        closed_at=at or timezone.now(),
        closed_by=by,
    )
    appeal.refresh_from_db()
    named: dict[str, Any] = {}
    if scoring_pass is not None:
        named["pass"] = scoring_pass.number
    if version is not None:
        named["version"] = str(version)
    auditing.note(
        f"appeal.{state}",
        f"appeal:{appeal.pk}",
        by=by,
        reason=reason,
        consequence=consequence,
        **named,
    )
