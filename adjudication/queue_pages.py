"""The page of queues: what waits, one's own part, what others hold, and lists of one's items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from academy.querysets import has_role
from adjudication import (
    bench,
    claiming,
    conflicts,
    equal_answers,
    kinds,
    opening,
    own_reporting,
    remaining,
    report_pages,
    reporting,
)
from adjudication.models import Draft, Queue, Seat, Skip
from adjudication.remaining import QueueCounts

TABS = ("all", "pending", "draft", "submitted", "skipped", "escalated")
SIZE = 50
HELD_SHOWN = 8
LAST_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """One row of the table of queues; `closed` says why it has nothing for this person."""

    queue: Queue
    form: str
    waiting: int
    total: int
    done: int
    counts: QueueCounts
    drafts: int = 0
    closed: str = ""
    agreement: str = ""
    role: str = "reviewer"
    holds: bool = False


def queues_context(user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """Everything on the page of queues."""
    seat = claiming.current_seat(user)
    reviews = has_role(user, "reviewer", "adjudicator")
    rows = queue_rows(user, seat)
    tab = query.get("s", "all")
    tab = tab if tab in TABS else "all"
    totals = totals_of(rows, user)
    figures = own_reporting.own_figures(user) if reviews else None
    return {
        "rows": [row for row in rows if tab != "pending" or (row.waiting and not row.closed)],
        "next_up": next((row for row in rows if row.waiting and not row.closed), None),
        "tab": tab,
        "tabs": [(name, totals.get(name)) for name in TABS],
        "page": items_page(user, tab, query) if tab not in ("all", "pending") else None,
        "seat": seat,
        "seat_name": opening.name_of(seat.item) if seat else "",
        "draft": bench.draft_of(seat, user) if seat else None,
        **bench.undo_context(user),
        "may_review": reviews,
        "figures": figures,
        "own": report_pages.own_row(figures) if figures else None,
        "held": held_by_others(user) if reviews else [],
        "last": last_items(user),
        "reads_all": has_role(user, "curator", "auditor", "adjudicator"),
        "now": timezone.now(),
    }


def totals_of(rows: list[QueueRow], user: Any) -> dict[str, int]:
    """What the tabs count: what waits, and one's own part in all queues."""
    own = [row for row in rows if row.role == Seat.Role.REVIEWER]
    return {
        "pending": sum(row.waiting for row in rows if not row.closed),
        "draft": sum(row.drafts for row in own),
        "submitted": sum(row.counts.mine for row in own),
        "skipped": sum(row.counts.skipped + row.counts.deferred for row in own),
        "escalated": escalated(user).count(),
    }


def own_drafts(user: Any) -> QuerySet[Draft]:
    """Drafts with words in them at items that are not handed in."""
    handed_in = Seat.objects.filter(
        item=OuterRef("item"), holder=user, state__in=("pending", "submitted", "withdrawn")
    )
    found: QuerySet[Draft] = Draft.objects.filter(
        ~Exists(handed_in), user=user, revision__gt=0, item__state__in=("open", "gold", "decided")
    )
    return found


def own_submitted(user: Any) -> QuerySet[Seat]:
    """What one handed in and did not take back."""
    found: QuerySet[Seat] = Seat.objects.filter(holder=user, state__in=("pending", "submitted"))
    return found


def escalated(user: Any) -> QuerySet[Skip]:
    """Items that were handed up: all of them for those who answer, else one's own."""
    found: QuerySet[Skip] = Skip.objects.filter(act=Skip.Act.ESCALATE)
    return found if has_role(user, "adjudicator", "curator", "auditor") else found.filter(user=user)


def queue_rows(user: Any, seat: Seat | None) -> list[QueueRow]:
    """The queues a person sees, those of a third person after them."""
    queues = list(
        Queue.objects.visible_to(user)
        .select_related("version__suite")
        .order_by("is_paused", "due_at", "title", "pk")
    )
    counts = remaining.queue_counts(queues, user)
    agreed = equal_answers.shares_of(counts)
    drafts = dict(own_drafts(user).values_list("item__queue").annotate(n=Count("pk")))
    held = (seat.item.queue_id, seat.role) if seat is not None else None
    competing = conflicts.Competing.of(user, {queue.version_id for queue in queues})
    rows = []
    decides = has_role(user, "adjudicator")
    for queue in queues:
        kind = kinds.KINDS.get(queue.kind)
        count = counts[queue.pk]
        closed = claiming.refusal(user, queue, competing)
        known: dict[str, Any] = {"queue": queue, "counts": count, "closed": closed}
        rows.append(
            QueueRow(
                **known,
                form=kind.form if kind else queue.kind,
                waiting=count.open,
                total=count.total,
                done=count.done + count.waiting,
                drafts=drafts.get(queue.pk, 0),
                agreement=report_pages.percent(agreed[queue.pk]),
                holds=held == (queue.pk, Seat.Role.REVIEWER),
            )
        )
        if decides and (count.waiting or count.thirds):
            rows.append(
                QueueRow(
                    **known,
                    form="decide",
                    waiting=count.waiting,
                    total=count.waiting + count.thirds,
                    done=count.thirds,
                    role="third",
                    holds=held == (queue.pk, Seat.Role.THIRD),
                )
            )
    return sorted(rows, key=lambda row: (bool(row.closed), row.role == "third"))


def held_by_others(user: Any) -> list[dict[str, Any]]:
    """Items under a lease of others; curators read who holds them, all others a number."""
    with_accounts = has_role(user, "curator")
    visible = Queue.objects.visible_to(user)
    seats = (
        remaining.held_seats(timezone.now())
        .filter(item__queue__in=visible)
        .exclude(holder=user)
        .select_related("item__queue", "holder")
        .order_by("lease_until", "pk")[:HELD_SHOWN]
    )
    return [
        {
            "label": reporting.name_of(
                seat.holder_id, seat.holder.username, with_accounts=with_accounts
            ),
            "queue": seat.item.queue,
            "minutes": max(1, round((seat.lease_until - timezone.now()).total_seconds() / 60)),
        }
        for seat in seats
        if seat.lease_until is not None and seat.holder is not None
    ]


def last_items(user: Any) -> list[dict[str, Any]]:
    """One's last reviews, each with what was said how often."""
    seats = (
        own_submitted(user)
        .annotate(task_name=opening.task_name())
        .order_by("-submitted_at", "-pk")[:LAST_SHOWN]
    )
    return [
        {
            "seat": seat,
            "name": seat.task_name or opening.unnamed(seat.item_id),
            "said": said_in(seat),
        }
        for seat in seats
    ]


def said_in(seat: Seat) -> str:
    """What one said, in short: each answer with how often it was given."""
    words: dict[str, int] = {}
    for given in seat.verdicts.values():
        state, value = given.get("state", ""), given.get("value")
        name = state.replace("_", " ") if state != "value" else SHORT.get(value, str(value))
        words[name] = words.get(name, 0) + 1
    return ", ".join(f"{number} {name}" for name, number in words.items())


SHORT: dict[Any, str] = {True: "met", False: "not met"}


def items_page(user: Any, tab: str, query: Mapping[str, str]) -> Page[Any]:
    """One page of one's own items in a state."""
    rows: QuerySet[Any]
    if tab == "draft":
        rows = own_drafts(user).order_by("-saved_at", "-pk")
    elif tab == "submitted":
        rows = own_submitted(user).order_by("-submitted_at", "-pk")
    elif tab == "skipped":
        rows = Skip.objects.filter(Q(act="skip") | Q(act="defer"), user=user).order_by("-at", "-pk")
    else:
        rows = escalated(user).order_by("-at", "-pk")
    page = Paginator(rows.select_related(*bench.SUBJECTS), SIZE).get_page(query.get("page", "1"))
    shown: list[Any] = [item_row(row, tab, user) for row in page.object_list]
    page.object_list = shown
    return page


def item_row(row: Any, tab: str, user: Any) -> dict[str, Any]:
    """One of one's own items as the list shows it."""
    return {
        "item": row.item,
        "name": opening.name_of(row.item),
        "at": getattr(row, {"draft": "saved_at", "submitted": "submitted_at"}.get(tab, "at")),
        "reason": getattr(row, "reason", ""),
        "act": getattr(row, "act", ""),
        "state": getattr(row, "state", ""),
        "said": said_in(row) if tab == "submitted" else "",
        "seat": row.pk if tab == "submitted" else None,
        "is_own": getattr(row, "user_id", user.pk) == user.pk,
    }
