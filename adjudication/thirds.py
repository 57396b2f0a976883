"""What a third person sees: two sealed verdicts side by side, and where they differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from adjudication import bench, forms, resolving
from adjudication.models import ReviewItem, Seat, Skip
from adjudication.questions import Question

LETTERS = "ABCDEFGH"
FILTERS = ("all", "diff", "open")
QUOTE = re.compile(r"^> ([^:\n]{1,60}): (“.*”)$", re.MULTILINE)


def third_context(seat: Seat, user: Any, query: Mapping[str, str], **sent: Any) -> dict[str, Any]:
    """Both verdicts with what differs, what was decided so far, and the extra verdicts."""
    form = bench.form_context(seat, user, **sent)
    reviews = reviews_of(seat.item)
    disputed = set(resolving.disputed(seat.item))
    shown = query.get("d", "all")
    rows = [row_of(field, reviews, disputed) for field in form["fields"]]
    left = sum(1 for row in rows if row["is_open"])
    place_keyboard(rows)
    kind = form["kind"]
    own = kind.evidence(seat.item, seat, user) if kind.evidence is not None else {}
    return {
        **own,
        **form,
        **bench.place_in(seat.item.queue),
        "rows": [row for row in rows if is_shown(row, shown)],
        "hidden_rows": [row for row in rows if not is_shown(row, shown)],
        "shown": shown if shown in FILTERS else "all",
        "reviews": reviews,
        "cited": cited_in(rows),
        "counts": {"whole": len(rows), "diff": len(disputed), "open": left},
        "made": len(disputed) - left,
        "left": left,
        "extras": extras_of(seat.item, form["fields"]),
        "escalations": list(
            seat.item.skips.filter(act=Skip.Act.ESCALATE)
            .order_by("at", "pk")
            .values_list("reason", flat=True)
        ),
        "has_agreed": any(not row["is_disputed"] for row in rows),
        **bench.undo_context(user),
    }


def reviews_of(item: ReviewItem) -> list[dict[str, Any]]:
    """The verdicts that count, each under a letter; who gave them stays hidden."""
    seats = item.seats.filter(role=Seat.Role.REVIEWER, state=Seat.State.SUBMITTED)
    return [
        {"letter": letter, "seat": seat, "comment": seat.comment}
        for letter, seat in zip(LETTERS, seats.order_by("number"), strict=False)
    ]


def row_of(
    field: dict[str, Any], reviews: Sequence[Mapping[str, Any]], disputed: set[str]
) -> dict[str, Any]:
    """One question with what each review said of it."""
    question = field["question"]
    is_disputed = question.key in disputed
    said = [said_by(question, review) for review in reviews]
    is_answered = bool(field["chosen"] or field["typed"] not in ("", None))
    return {
        **field,
        "said": said,
        "is_disputed": is_disputed,
        "is_open": is_disputed and not is_answered,
        "is_reopened": not is_disputed and bool(is_answered or field["reason"]),
        "agreed": said[0]["words"] if said else "–",
    }


def said_by(question: Question, review: Mapping[str, Any]) -> dict[str, Any]:
    """What one review said of one question."""
    given = review["seat"].verdicts.get(question.key, {})
    return {
        "letter": review["letter"],
        "words": forms.words_for(question, given),
        "code": forms.code_of(question, given),
        "typed": given.get("typed") or given.get("value"),
        "reason": given.get("reason", ""),
        "fault": given.get("fault", ""),
        "confidence": given.get("confidence", ""),
    }


def cited_in(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the reviews quote of the evidence where they differ, as the bench quotes it."""
    return [
        {"letter": said["letter"], "number": row["number"], "place": found[1], "words": found[2]}
        for row in rows
        if row["is_disputed"]
        for said in row["said"]
        for found in QUOTE.finditer(said["reason"])
    ]


def place_keyboard(rows: Sequence[dict[str, Any]]) -> None:
    """The keyboard starts at the first open difference."""
    disputed = [row for row in rows if row["is_disputed"]]
    first = next((row for row in disputed if row["is_open"]), disputed[0] if disputed else None)
    for row in rows:
        row["is_on"] = row is first


def is_shown(row: Mapping[str, Any], shown: str) -> bool:
    """Whether a row is shown under a filter."""
    if shown == "diff":
        return bool(row["is_disputed"] or row["is_reopened"])
    return bool(row["is_open"] or row["problem"]) if shown == "open" else True


def extras_of(item: ReviewItem, fields: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Verdicts that came after their lease was lost: shown as such, never counted."""
    return [
        {
            "sent_at": extra.sent_at,
            "answers": [
                {
                    "question": field["question"],
                    "words": forms.words_for(field["question"], given),
                    "reason": given.get("reason", ""),
                }
                for field in fields
                if (given := extra.verdicts.get(field["question"].key))
            ],
        }
        for extra in item.extras.order_by("sent_at", "pk")
    ]
