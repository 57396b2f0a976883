"""The bench of one seat: evidence at the left, questions at the right, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils import timezone

from academy.models import Decision, InstanceRecord, Score
from adjudication import deciding, evidence, forms, golding, kinds, opening
from adjudication.models import Draft, Queue, ReviewItem, Seat
from adjudication.policies import read_policy
from adjudication.questions import COMMENT, Question

SKIP_REASONS = (
    "Not my field",
    "Evidence does not load",
    "I know this run",
    "Conflict of interest",
)
ACTS = ("submit", "draft", "release", "skip", "defer", "escalate", "undo")
SEAT_ACTS = ("not_blind", "suggestion", "withdraw", "send_back", "raw")
# The states of items that still wait for a seat of a role.
WAITING_FOR = {
    Seat.Role.REVIEWER: (ReviewItem.State.OPEN, ReviewItem.State.GOLD),
    Seat.Role.THIRD: (ReviewItem.State.DECIDED,),
}
SUBJECTS = (
    "item__queue__version__suite",
    "item__record__task",
    "item__record__run__entrant",
    "item__task",
    "item__criterion__task",
    "item__finding",
    "item__appeal",
)


def draft_of(seat: Seat, user: Any) -> Draft | None:
    """What this person typed at the item so far; None while that is nothing."""
    found: Draft | None = Draft.objects.filter(item=seat.item, user=user, revision__gt=0).first()
    return found


def acts_of(seat: Seat) -> dict[str, str]:
    """The addresses of all that can be done with a seat."""
    return {
        act: reverse(f"adjudication:{act.replace('_', '-')}", args=[seat.pk])
        for act in (*ACTS, *SEAT_ACTS, "seat")
    }


def steps_context(seat: Seat, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of the transcript under review, masked."""
    url = reverse("adjudication:seat", args=[seat.pk])
    return evidence.steps_of(seat.item, query, url=url, mask=evidence.mask_of(seat.item))


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
    kind = kinds.kind_of(seat.item)
    questions = deciding.questions_of(seat.item)
    newest = draft.revision if draft else 0
    made = forms.fields(questions, stored, problems or {})
    notes = evidence.notes_beside(seat.item, questions)
    for field in made:
        field["note"] = notes.get(field["question"].key, "")
    policy = read_policy(seat.item.queue.policy)
    is_own = seat.holder_id == user.pk
    if is_own:
        add_suggestions(seat, made)
    return {
        "seat": seat,
        "item": seat.item,
        "item_name": opening.name_of(seat.item),
        "queue": seat.item.queue,
        "kind": kind,
        "beside": kind.beside(seat.item),
        "acts": acts_of(seat),
        "mask": evidence.mask_of(seat.item),
        "fields": made,
        "sections": forms.sections(made, kind.sections),
        "keys": forms.keys_of(questions),
        "answered": sum(1 for q in questions if stored.get(q.key, {}).get("state")),
        "comment": stored.get(COMMENT, {}).get("reason", seat.comment if is_own else ""),
        "problems": problems or {},
        "draft": draft,
        "revision": newest if revision is None else revision,
        "newest": newest,
        "is_stale": revision is not None and revision < newest,
        "is_mine": is_own and seat.state == Seat.State.HELD,
        "may_be_judged": seat.item.record_id is not None,
        **suggested(seat, policy.suggestion == "open"),
        "is_blind": policy.is_blind,
        "guideline": seat.item.queue.guidelines.order_by("-revision").first(),
        "confidences": forms.CONFIDENCES,
        "skip_reasons": SKIP_REASONS,
        "now": timezone.now(),
    }


def suggested(seat: Seat, is_open: bool) -> dict[str, bool]:
    """Whether a judge's word can be looked at first, and whether it is known that there is none."""
    if seat.item.record_id is None or not is_open:
        return {"may_open": False, "is_unjudged": False}
    is_judged = bool(deciding.suggestions_on(seat.item))
    return {"may_open": is_judged and not seat.suggestion_seen, "is_unjudged": not is_judged}


def add_suggestions(seat: Seat, made: list[dict[str, Any]]) -> None:
    """Put what judges and checks said beside each question, where the reviewer opened it."""
    if not seat.suggestion_seen:
        return
    judged = judged_of(seat.item)
    for field in made:
        field["judges"] = judged.get(pk_of(field["question"]), [])


def bench_context(seat: Seat, user: Any, query: Mapping[str, str], **sent: Any) -> dict[str, Any]:
    """Everything on the bench of a held seat: evidence at the left, criteria at the right."""
    queue = seat.item.queue
    form = form_context(seat, user, **sent)
    return {
        **evidence_context(seat, user, query, form),
        **form,
        "steps_url": reverse("adjudication:seat", args=[seat.pk]),
        **place_in(queue),
        **undo_context(user),
    }


def place_in(queue: Queue) -> dict[str, int]:
    """How far a queue is."""
    counted = dict(queue.tallies.values_list("state", "number"))
    done = counted.get("decided", 0) + counted.get("resolved", 0)
    return {"done": done, "total": done + counted.get("open", 0)}


def evidence_context(
    seat: Seat, user: Any, query: Mapping[str, str], form: Mapping[str, Any]
) -> dict[str, Any]:
    """What stands at the left: the kind's own evidence, the record, or the task."""
    item, mask = seat.item, form["mask"]
    questions = [field["question"] for field in form["fields"]]
    kind = kinds.kind_of(item)
    own = dict(kind.evidence(item, seat, user)) if kind.evidence is not None else {}
    task = opening.subject_task(item)
    if opening.subject_record(item) is not None:
        shown = evidence.record_evidence(seat, user, query, questions, mask)
    elif task is not None:
        shown = evidence.task_evidence(seat, user, questions, task, mask)
    else:
        shown = {"masked": 0, "has_record": False}
    return {**shown, **own}


def lost_context(seat: Seat, user: Any, **sent: Any) -> dict[str, Any]:
    """A seat whose lease went: one's own words, and what became of the item."""
    is_open = seat.item.state in WAITING_FOR[Seat.Role(seat.role)]
    skipped = seat.item.skips.filter(user=user).exists()
    return {
        **form_context(seat, user, **sent),
        "is_decided": not is_open,
        "is_third": seat.role == Seat.Role.THIRD,
        "is_skipped": skipped,
        "is_free": is_open and not skipped and seat.state == Seat.State.FREE,
    }


def undoable_seat(user: Any) -> Any:
    """The newest submission of this person that can still be taken back, with `task_name`."""
    return (
        Seat.objects.filter(holder=user, state=Seat.State.PENDING, final_at__gt=timezone.now())
        .annotate(task_name=opening.task_name())
        .order_by("-submitted_at", "-pk")
        .first()
    )


def undo_context(user: Any) -> dict[str, Any]:
    """The notice of the submission that can still be taken back."""
    found = undoable_seat(user)
    name = (found.task_name or opening.unnamed(found.item_id)) if found else ""
    return {"undoable": found, "undoable_name": name}


def outcome_context(seat: Seat, user: Any) -> dict[str, Any]:
    """A submitted seat: one's own verdicts beside those of judges, which are open from now on."""
    item: ReviewItem = seat.item
    questions = deciding.questions_of(item)
    is_final = seat.state == Seat.State.SUBMITTED
    is_open = golding.shown_state(item) == ReviewItem.State.OPEN
    judged = judged_of(item) if is_final else {}
    rows = [outcome_row(question, seat, judged.pop(pk_of(question), [])) for question in questions]
    reads = kinds.reads_answers(item.queue, user)
    record = opening.subject_record(item)
    return {
        "seat": seat,
        "item": item,
        "item_name": opening.name_of(item),
        "queue": item.queue,
        "acts": acts_of(seat),
        "mask": None,
        "record": record,
        "rows": rows,
        "checks": [row for listed in judged.values() for row in listed],
        "outcomes": outcomes_of(record) if is_final and record is not None else [],
        "facts": record if is_final else None,
        "has_judges": record is not None,
        "shows_record": is_final
        and record is not None
        and InstanceRecord.objects.visible_to(user).filter(pk=record.pk).exists(),
        "others": others_of(seat) if is_open_to(seat) and reads else [],
        "others_missing": is_open,
        "may_withdraw": is_final and is_open,
        "now": timezone.now(),
    }


def outcome_row(question: Question, seat: Seat, judges: list[Decision]) -> dict[str, Any]:
    """One question with one's own answer and those of judges."""
    given = seat.verdicts.get(question.key, {})
    return {
        "question": question,
        "own": forms.words_for(question, given) if given else "",
        "fault": given.get("fault", ""),
        "reason": given.get("reason", ""),
        "judges": judges,
        "differs": any(differs(given, row) for row in judges),
    }


def is_open_to(seat: Seat) -> bool:
    """Whether a holder may read what others said: one's own is in, and the item is decided."""
    return seat.state == Seat.State.SUBMITTED and seat.item.state == ReviewItem.State.RESOLVED


def others_of(seat: Seat) -> list[dict[str, Any]]:
    """What other seats of an item said; names only for the person who decided between them."""
    shows_names = seat.role == Seat.Role.THIRD
    questions = deciding.questions_of(seat.item)
    letters = "ABCDEFGH"
    others = [
        other
        for other in seat.item.seats.select_related("holder").order_by("number")
        if other.pk != seat.pk and other.state == Seat.State.SUBMITTED
    ]
    return [
        {
            "label": label_of(other, letters[place], shows_names),
            "comment": other.comment,
            "answers": [
                {
                    "question": question,
                    "words": forms.words_for(question, other.verdicts[question.key]),
                    "reason": other.verdicts[question.key].get("reason", ""),
                }
                for question in questions
                if question.key in other.verdicts
            ],
        }
        for place, other in enumerate(others)
    ]


def label_of(seat: Seat, letter: str, shows_names: bool) -> str:
    """What a seat is called on pages."""
    if shows_names and seat.holder is not None:
        return str(seat.holder.get_username())
    return "Third person" if seat.role == Seat.Role.THIRD else f"Reviewer {letter}"


def judged_of(item: ReviewItem) -> dict[int | None, list[Decision]]:
    """What judges, imports and checks said of the record under review, by criterion."""
    found: dict[int | None, list[Decision]] = {}
    for row in deciding.suggestions_on(item):
        if row.criterion_id is not None:
            found.setdefault(row.criterion_id, []).append(row)
    return found


def outcomes_of(record: InstanceRecord) -> list[Score]:
    """The outcomes that scorers gave a record, by metric; what was automatic is among them."""
    scores = Score.objects.filter(
        record=record,
        mode="strict",
        scoring_pass__state="published",
        current=True,
        status="scored",
        measures__has_key="outcome",
    )
    return list(scores.select_related("metric").order_by("metric__ordinal", "pk"))


def pk_of(question: Question) -> int | None:
    """The criterion that a question is on."""
    return None if question.criterion is None else question.criterion.pk


def differs(given: Mapping[str, Any], judged: Decision) -> bool:
    """Whether a judge says something else."""
    value = judged.value if judged.state == "value" else given.get("value")
    return (given.get("state"), given.get("value")) != (judged.state, value)
