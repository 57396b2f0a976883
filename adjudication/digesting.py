"""The digest: a mail to reviewers about what waits for them, daily or weekly, or never."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core import signing
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from academy import auditing, tasks, work
from academy.errors import AcademyError
from academy.models import Work
from adjudication import claiming
from adjudication.models import Queue, ReviewPreference, Seat
from adjudication.remaining import ROLES, not_for

KIND = "digest"
SALT = "adjudication.digest"
MORNING = 6
MONDAY = 0
SOON = timedelta(days=3)
MOST_COUNTED = 1000
OFF = ReviewPreference.Digest.OFF
WEEKLY = ReviewPreference.Digest.WEEKLY


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queue with items that this person could take now."""

    queue: Queue
    items: int
    is_due_soon: bool


@dataclass(frozen=True, slots=True)
class Digest:
    """What waits for a person, and the seat they hold."""

    queues: tuple[Waiting, ...]
    held: Seat | None

    @property
    def items(self) -> int:
        """How many items could be taken in all queues together."""
        return sum(waiting.items for waiting in self.queues)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write about."""
        return not self.queues and self.held is None


def digest_of(user: Any, *, at: datetime | None = None) -> Digest:
    """What waits for a person now: queues with items they may take, soonest deadline first."""
    now = at or timezone.now()
    found = []
    for queue in Queue.objects.filter(is_paused=False).select_related("version__suite"):
        if items := count_claimable(queue, user=user, at=now):
            found.append(Waiting(queue, items, bool(queue.due_at and queue.due_at <= now + SOON)))
    last = datetime.max.replace(tzinfo=UTC)
    found.sort(key=lambda row: (row.queue.due_at or last, row.queue.title, row.queue.pk))
    return Digest(tuple(found), claiming.current_seat(user))


def count_claimable(queue: Queue, *, user: Any, at: datetime) -> int:
    """How many items of a queue somebody could take now, in any role; counted up to a thousand."""
    if claiming.refusal(user, queue):
        return 0
    free = Q(state=Seat.State.FREE) | Q(state=Seat.State.HELD, lease_until__lt=at)
    found = 0
    for role, state in ROLES.items():
        try:
            claiming.check_role(user, queue, role)
        except AcademyError:
            continue
        seats = Seat.objects.filter(free, item__queue=queue, item__state=state, role=role)
        items = seats.exclude(not_for(user)).values("item").distinct()
        found += items[:MOST_COUNTED].count()
    return found


def preference_of(user: Any) -> ReviewPreference:
    """What a person chose; the usual where they chose nothing, not stored yet."""
    found = ReviewPreference.objects.filter(user=user).first()
    return found or ReviewPreference(user=user)


@transaction.atomic
def choose(user: Any, digest: str) -> ReviewPreference:
    """Store how often the digest comes. The caller checked that it is one of the choices."""
    row, _made = ReviewPreference.objects.update_or_create(user=user, defaults={"digest": digest})
    auditing.note("preference.digest", f"user:{user.pk}", by=user, digest=digest)
    return row


def recipients(day: date) -> QuerySet[Any]:
    """Active people with an address who review, and whose digest falls on a day."""
    people = get_user_model()._default_manager.filter(
        is_active=True, memberships__role__in=("reviewer", "adjudicator")
    )
    wanted = people.exclude(email="").exclude(review_preference__digest=OFF)
    if day.weekday() != MONDAY:
        wanted = wanted.exclude(review_preference__digest=WEEKLY)
    return wanted.distinct().order_by("pk")


def owe_digests(*, at: datetime | None = None) -> int:
    """Owe the digests of a day, from the morning on; gives how many. Safe to call at any time."""
    now = (at or timezone.now()).astimezone(UTC)
    if now.hour < MORNING:
        return 0
    day = now.date()
    wanted = {f"{KIND}:{pk}:{day}": pk for pk in recipients(day).values_list("pk", flat=True)}
    known = set(Work.objects.filter(key__in=wanted).values_list("key", flat=True))
    owed = [(key, pk) for key, pk in wanted.items() if key not in known]
    with work.owing():
        for key, pk in owed:
            payload = {"user": pk, "day": day.isoformat()}
            work.enqueue(KIND, key=key, payload=payload, priority=8)
        if owed:
            tasks.nudge()
    return len(owed)


def send_digest(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "digest": the mail of one person and day, sent once; none when nothing waits."""
    day = date.fromisoformat(payload["day"])
    user = recipients(day).filter(pk=payload["user"]).first()
    digest = digest_of(user) if user is not None else None

    def write() -> None:
        if user is None or digest is None or digest.is_empty:
            return
        row, _made = ReviewPreference.objects.get_or_create(user=user)
        midnight = datetime.combine(day, time(), tzinfo=UTC)
        moved = (
            ReviewPreference.objects.filter(pk=row.pk)
            .exclude(digest=OFF)
            .filter(Q(digest_sent_at=None) | Q(digest_sent_at__lt=midnight))
            .update(digest_sent_at=timezone.now())
        )
        if moved:
            # Within the transaction: a mail that the server refuses is not noted as sent.
            message(user, digest, day).send()

    return write


def message(user: Any, digest: Digest, day: date) -> EmailMessage:
    """The mail, with a link that switches it off without signing in."""
    site = settings.ACADEMY_SITE_URL.rstrip("/")
    off = site + reverse("adjudication:unsubscribe", args=[unsubscribe_token(user)])
    context = {
        "user": user,
        "digest": digest,
        "day": day,
        "review": site + reverse("adjudication:queues"),
        "preferences": site + reverse("adjudication:preferences"),
        "unsubscribe": off,
    }
    number = f"{digest.items} item{'' if digest.items == 1 else 's'}"
    subject = f"Review: {number} can be taken" if digest.items else "Review: an item you hold"
    return EmailMessage(
        subject=subject,
        body=render_to_string("adjudication/digest.txt", context),
        to=[user.email],
        headers={
            "List-Unsubscribe": f"<{off}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )


def unsubscribe_token(user: Any) -> str:
    """A signed name of a person that switches their digest off, and nothing else."""
    return signing.dumps(user.pk, salt=SALT)


def person_of(token: str) -> Any:
    """Whom a token names, or None when it was not signed here."""
    try:
        pk = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return None
    return get_user_model()._default_manager.filter(pk=pk).first()
