"""What the screens of review show: queues with one's own part, the bench of one seat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone

from academy import auditing, foreign, registry, specs, transcripts
from academy.bundle import RecordView, TaskSpec
from academy.models import Decision, Exposure, InstanceRecord
from academy.packs import raw_record
from academy.querysets import has_role
from adjudication import claiming, deciding, forms
from adjudication.masking import Mask
from adjudication.models import Draft, Queue, ReviewItem, Seat


SKIP_REASONS = (
    "Not my field",
    "Evidence does not load",
    "I know this run",
    "Conflict of interest",
)


def queue_rows(user: Any) -> list[dict[str, Any]]:
    """Queues with what is open, held by others, and one's own part."""
    now = timezone.now()
    queues = (
        Queue.objects.visible_to(user)
        .select_related("version__suite")
        .annotate(
            open_items=Count("items", filter=Q(items__state="open"), distinct=True),
            all_items=Count("items", filter=~Q(items__state="closed"), distinct=True),
            held=Count(
                "items__seats",
                filter=Q(items__seats__state="held", items__seats__lease_until__gte=now),
                distinct=True,
            ),
            mine=Count(
                "items__seats",
                filter=Q(items__seats__holder=user, items__seats__state__in=("pending", "submitted")),
                distinct=True,
            ),
        )
        .order_by("title", "pk")
    )
    return [{"queue": queue, "done": queue.all_items - queue.open_items} for queue in queues]


def queues_context(user: Any) -> dict[str, Any]:
    """The page of queues, with the seat to resume."""
    seat = claiming.current_seat(user)
    recent = (
        Seat.objects.filter(holder=user, state__in=("pending", "submitted"))
        .select_related("item__record__task", "item__queue")
        .order_by("-submitted_at", "-pk")[:10]
    )
    return {
        "queues": queue_rows(user),
        "seat": seat,
        "draft": draft_of(seat, user) if seat else None,
        "recent": recent,
        "may_review": has_role(user, "reviewer", "adjudicator"),
        "now": timezone.now(),
    }


def draft_of(seat: Seat, user: Any) -> Draft | None:
    """What this person typed at the item so far."""
    found: Draft | None = Draft.objects.filter(item=seat.item, user=user).first()
    return found


def mask_of(record: InstanceRecord) -> Mask:
    """The names that would tell who made a record."""
    entrant = record.run.entrant
    names = [entrant.name, entrant.model, entrant.developer, entrant.harness, entrant.slug]
    names += entrant.aliases.values_list("name", flat=True)
    return Mask.of(names)


def sealed_parts(seat: Seat, task: TaskSpec, user: Any) -> Mapping[str, Any]:
    """The sealed parts that the criteria name for whoever decides them; showing them is noted."""
    record = seat.item.record
    needed = {need for criterion in task.criteria for need in criterion.needs}
    fmt = registry.format_of(record.run.version.suite.format)
    shown = {
        name: value
        for name, value in fmt.rater_view(task).items()
        if value and (name in needed or not needed)
    }
    if shown and not Exposure.objects.filter(user=user, task=record.task, why=f"seat:{seat.pk}").exists():
        auditing.expose(
            user, task=record.task, what=", ".join(sorted(shown)), why=f"seat:{seat.pk}"
        )
    return shown


def opened(seat: Seat) -> tuple[InstanceRecord, TaskSpec, RecordView]:
    """The record under review, its task with the key, and the record as it is shown."""
    record = InstanceRecord.objects.select_related(
        "task", "run__entrant", "run__version__suite"
    ).get(pk=seat.item.record_id)
    keys = specs.latest_keys_of([record.task_id])
    task = specs.task_spec(
        record.task, list(record.task.criteria.order_by("ordinal")), keys.get(record.task_id)
    )
    view: RecordView = registry.format_of(record.run.form).view(raw_record(record), task)
    return record, task, view


def bench_context(
    seat: Seat,
    user: Any,
    query: Mapping[str, str],
    *,
    content: Mapping[str, Any] | None = None,
    problems: Mapping[str, str] | None = None,
    undoable: Seat | None = None,
) -> dict[str, Any]:
    """Everything on the bench of one seat: evidence at the left, criteria at the right."""
    record, task, view = opened(seat)
    mask = mask_of(record)
    draft = draft_of(seat, user)
    stored = content if content is not None else (draft.content if draft else {})
    criteria = deciding.criteria_of(seat.item)
    answer = foreign.as_text(view.answer)
    texts = [task.prompt, answer, *(event.text for event in view.events)]
    queue = seat.item.queue
    done = queue.items.exclude(state__in=("open", "closed")).count()
    return {
        **transcripts.page(record, view, query),
        "steps_url": reverse("adjudication:seat", args=[seat.pk]),
        "seat": seat,
        "item": seat.item,
        "queue": queue,
        "record": record,
        "task": record.task,
        "mask": mask,
        "masked": sum(mask.count(text) for text in texts),
        "answer": answer,
        "sealed": sealed_parts(seat, task, user),
        "fields": forms.fields(criteria, stored, problems or {}),
        "answered": sum(1 for c in criteria if stored.get(c.key, {}).get("state")),
        "problems": problems or {},
        "draft": draft,
        "revision": draft.revision if draft else 0,
        "guideline": queue.guidelines.order_by("-revision").first(),
        "done": done,
        "total": queue.items.exclude(state="closed").count(),
        "is_mine": seat.holder_id == user.pk and seat.state == Seat.State.HELD,
        "undoable": undoable if undoable is not None else undoable_seat(user),
        "confidences": forms.CONFIDENCES,
        "skip_reasons": SKIP_REASONS,
        "now": timezone.now(),
    }


def undoable_seat(user: Any) -> Seat | None:
    """The newest submission of this person that can still be taken back."""
    found: Seat | None = (
        Seat.objects.filter(holder=user, state=Seat.State.PENDING, final_at__gt=timezone.now())
        .select_related("item__record__task", "item__queue")
        .order_by("-submitted_at", "-pk")
        .first()
    )
    return found


def outcome_context(seat: Seat, user: Any) -> dict[str, Any]:
    """A submitted seat: one's own verdicts beside those of judges, which are open from now on."""
    item: ReviewItem = seat.item
    criteria = deciding.criteria_of(item)
    judged: dict[int, list[Decision]] = {}
    if seat.state == Seat.State.SUBMITTED:
        for row in Decision.objects.filter(
            record=item.record, source__in=("judge", "imported", "machine"), current=True
        ).order_by("author", "pk"):
            judged.setdefault(row.criterion_id, []).append(row)
    rows = [
        {
            "criterion": criterion,
            "own": own_words(criterion, seat.verdicts.get(criterion.key, {})),
            "reason": seat.verdicts.get(criterion.key, {}).get("reason", ""),
            "judges": judged.get(criterion.pk, []),
            "differs": any(
                differs(seat.verdicts.get(criterion.key, {}), row)
                for row in judged.get(criterion.pk, [])
            ),
        }
        for criterion in criteria
    ]
    return {
        "seat": seat,
        "item": item,
        "queue": item.queue,
        "record": item.record,
        "rows": rows,
        "undoable": undoable_seat(user),
        "now": timezone.now(),
    }


def own_words(criterion: Any, given: Mapping[str, Any]) -> str:
    """An answer in the words in which it was offered."""
    code = forms.code_of(criterion, given)
    return next((c.label for c in forms.choices_of(criterion) if c.code == code), "–")


def differs(given: Mapping[str, Any], judged: Decision) -> bool:
    """Whether a judge says something else."""
    return (given.get("state"), given.get("value")) != (judged.state, judged.value)
