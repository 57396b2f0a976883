"""What the screens of review show: queues with one's own part, the bench of one seat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone

from academy import auditing, foreign, rasterising, registry, specs, transcripts
from academy.bundle import RecordView, TaskSpec
from academy.models import Decision, Exposure, InstanceRecord
from academy.packs import raw_record
from academy.querysets import has_role
from adjudication import claiming, deciding, forms
from adjudication.masking import Mask
from adjudication.models import Draft, Queue, ReviewItem, Seat

IN = (Seat.State.PENDING, Seat.State.SUBMITTED)
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
                filter=Q(
                    items__seats__holder=user, items__seats__state__in=("pending", "submitted")
                ),
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
        Seat.objects.filter(holder=user, state__in=IN)
        .select_related("item__record__task", "item__queue")
        .order_by("-submitted_at", "-pk")[:10]
    )
    return {
        "queues": queue_rows(user),
        "seat": seat,
        "draft": draft_of(seat, user) if seat else None,
        "recent": recent,
        "undoable": undoable_seat(user),
        "may_review": has_role(user, "reviewer", "adjudicator"),
        "now": timezone.now(),
    }


def draft_of(seat: Seat, user: Any) -> Draft | None:
    """What this person typed at the item so far; None while that is nothing."""
    found: Draft | None = Draft.objects.filter(item=seat.item, user=user, revision__gt=0).first()
    return found


def mask_of(record: InstanceRecord) -> Mask:
    """The names that would tell who made a record."""
    entrant = record.run.entrant
    names = [entrant.name, entrant.model, entrant.developer, entrant.harness, entrant.slug]
    names += entrant.aliases.values_list("name", flat=True)
    # A model often introduces itself without the provider that stands before it.
    names.append(entrant.model.rpartition("/")[2])
    return Mask.of(names)


def texts_of(task: Any, answer: str, view: RecordView) -> Iterator[str]:
    """All that is shown of a record with its names masked."""
    yield from (task.title, task.prompt, answer)
    for event in view.events:
        yield from (event.title, event.tool, event.text)
        if event.data is not None:
            yield foreign.as_text(event.data)


def sealed_parts(seat: Seat, task: TaskSpec, user: Any) -> Mapping[str, Any]:
    """The sealed parts that the criteria name for whoever decides them; showing them is noted."""
    record = deciding.record_of(seat.item)
    needed = {need for criterion in task.criteria for need in criterion.needs}
    fmt = registry.format_of(record.run.version.suite.format)
    shown = {
        name: value
        for name, value in fmt.rater_view(task).items()
        if value and (name in needed or not needed)
    }
    if (
        shown
        and not Exposure.objects.filter(user=user, task=record.task, why=f"seat:{seat.pk}").exists()
    ):
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
    return record, task, registry.open_record(record.run.form, raw_record(record), task)


def steps_context(seat: Seat, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of the transcript under review, masked."""
    record, _task, view = opened(seat)
    return {
        **transcripts.page(record, view, query),
        "steps_url": reverse("adjudication:seat", args=[seat.pk]),
        "mask": mask_of(record),
    }


def form_context(
    seat: Seat,
    user: Any,
    *,
    content: Mapping[str, Any] | None = None,
    problems: Mapping[str, str] | None = None,
    revision: int | None = None,
) -> dict[str, Any]:
    """The questions with what was answered: what was just sent, else the draft.

    `revision` is that of the draft from which the window started, when it came from a form.
    """
    draft = draft_of(seat, user)
    stored = content if content is not None else (draft.content if draft else {})
    criteria = deciding.criteria_of(seat.item)
    newest = draft.revision if draft else 0
    return {
        "seat": seat,
        "item": seat.item,
        "queue": seat.item.queue,
        "mask": mask_of(deciding.record_of(seat.item)),
        "fields": forms.fields(criteria, stored, problems or {}),
        "answered": sum(1 for c in criteria if stored.get(c.key, {}).get("state")),
        "problems": problems or {},
        "draft": draft,
        "revision": newest if revision is None else revision,
        "is_stale": revision is not None and revision < newest,
        "is_mine": seat.holder_id == user.pk and seat.state == Seat.State.HELD,
        "guideline": seat.item.queue.guidelines.order_by("-revision").first(),
        "confidences": forms.CONFIDENCES,
        "skip_reasons": SKIP_REASONS,
        "now": timezone.now(),
    }


def bench_context(seat: Seat, user: Any, query: Mapping[str, str], **sent: Any) -> dict[str, Any]:
    """Everything on the bench of a held seat: evidence at the left, criteria at the right."""
    record, task, view = opened(seat)
    answer = foreign.as_text(view.answer)
    queue = seat.item.queue
    form = form_context(seat, user, **sent)
    mask = form["mask"]
    return {
        **transcripts.page(record, view, query),
        **form,
        "steps_url": reverse("adjudication:seat", args=[seat.pk]),
        "record": record,
        "task": record.task,
        "masked": sum(mask.count(text) for text in texts_of(record.task, answer, view)),
        "answer": answer,
        "sealed": sealed_parts(seat, task, user),
        "files": rasterising.shown(record.task.assets.all()),
        "done": queue.items.exclude(state__in=("open", "closed")).count(),
        "total": queue.items.exclude(state="closed").count(),
        "undoable": undoable_seat(user),
    }


def lost_context(seat: Seat, user: Any, **sent: Any) -> dict[str, Any]:
    """A seat whose lease went: one's own words, and what became of the item."""
    is_open = seat.item.state == ReviewItem.State.OPEN
    skipped = seat.item.skips.filter(user=user).exists()
    return {
        **form_context(seat, user, **sent),
        "is_decided": not is_open,
        "is_skipped": skipped,
        "is_free": is_open and not skipped and seat.state == Seat.State.FREE,
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
            if row.criterion_id is not None:
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
        "shows_record": seat.state == Seat.State.SUBMITTED
        and InstanceRecord.objects.visible_to(user).filter(pk=item.record_id).exists(),
        "others_missing": item.state == ReviewItem.State.OPEN,
        "now": timezone.now(),
    }


def own_words(criterion: Any, given: Mapping[str, Any]) -> str:
    """An answer in the words in which it was offered."""
    code = forms.code_of(criterion, given)
    return next((c.label for c in forms.choices_of(criterion) if c.code == code), "–")


def differs(given: Mapping[str, Any], judged: Decision) -> bool:
    """Whether a judge says something else."""
    return (given.get("state"), given.get("value")) != (judged.state, judged.value)
