"""What must go to people becomes items with seats; what no longer needs them is closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from django.db import connection, transaction

from academy import auditing, tasks, work
from academy.errors import AcademyError
from academy.models import SuiteVersion
from adjudication import choosing, kinds, seating
from adjudication.kinds import Kind
from adjudication.kinds import NewItem as NewItem
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.policies import preset_of

SUBJECTS = ("record", "task", "criterion", "finding", "appeal")
KEPT = ("state", "chosen_because", "probability", "priority")
RUN_SHIFT = 39
Key = tuple[int | None, ...]


def refresh_queue(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "refresh_queue": the queues of a version whose numbers moved."""
    version = SuiteVersion.objects.filter(pk=payload["version"]).first()

    def write() -> None:
        if version is not None:
            fill_queue(version)

    return write


def owe_filling(version_id: int) -> None:
    """Owe that the queues of a version are brought up to date."""
    work.enqueue(
        "refresh_queue",
        key=f"refresh_queue:{version_id}",
        payload={"version": version_id},
        priority=5,
    )
    tasks.nudge()


def make_queue(
    version: SuiteVersion,
    kind: str,
    *,
    preset: str,
    title: str | None = None,
    by: Any = None,
    **facts: Any,
) -> Queue:
    """A queue of a version for one kind of decision, by the rules of a preset.

    Raises AcademyError for an unknown kind or preset, or when the version has such a queue.
    """
    chosen = preset_of(preset)
    policy = {"policy": chosen.policy.as_json(), "seats_per_item": chosen.seats}
    return _make(version, kind, title, by, {**policy, **facts})


def _make(
    version: SuiteVersion, kind: str, title: str | None, by: Any, facts: Mapping[str, Any]
) -> Queue:
    known = kinds.KINDS.get(kind)
    if known is None:
        raise AcademyError(
            f"There is no kind of review {kind!r}; known are {', '.join(sorted(kinds.KINDS))}."
        )
    named = title or f"{version.suite.title}, {known.title.lower()}"
    with transaction.atomic():
        queue, made = Queue.objects.get_or_create(
            version=version, kind=kind, defaults={"title": named[:200], **facts}
        )
        if not made:
            raise AcademyError(f"{version} has a queue of this kind already: {queue.title}.")
        auditing.note("review.queue", f"queue:{queue.pk}", by=by, kind=kind, version=version.pk)
    return queue


@transaction.atomic
def fill_queue(version: SuiteVersion) -> int:
    """Bring the queues of a version up to what waits for people; gives how many items are new.

    Items that nobody touched and that need nobody any more are closed.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [7201, version.pk])
    return sum(fill_kind(version, kind) for kind in kinds.KINDS.values())


def fill_kind(version: SuiteVersion, kind: Kind) -> int:
    """Fill the queue of one kind, which is made when something waits for it first."""
    queue = version.queues.filter(kind=kind.key).first()
    chosen = choosing.Choice({}, frozenset())
    if kind.scales:
        stored = queue.policy if queue is not None else None
        chosen = choosing.choose(version, choosing.policy_of(version, stored), kind.scales)
    if queue is None:
        if not chosen.items and not kind.wants_queue(version):
            return 0
        seats = choosing.default_preset(version).seats
        queue = _make(version, kind.key, None, None, {"seats_per_item": seats})
    if kind.scales:
        keep_up(queue, chosen)
    return add_items(queue, [*chosen.items.values(), *kind.subjects(queue)])


def add_items(queue: Queue, subjects: Iterable[NewItem]) -> int:
    """Items with free seats for what has none in the queue yet; gives how many are new."""
    wanted = {_key(one): one for one in subjects}
    if not wanted:
        return 0
    with transaction.atomic():
        known = _known(queue, wanted)
        items = ReviewItem.objects.bulk_create(
            [
                ReviewItem(
                    queue=queue,
                    **{f"{name}_id": pk for name, pk in zip(SUBJECTS, key, strict=True)},
                    chosen_because=one.because[:200],
                    probability=one.probability,
                    priority=one.priority,
                )
                for key, one in wanted.items()
                if key not in known
            ],
            batch_size=2000,
        )
        Seat.objects.bulk_create(
            [
                Seat(item=item, number=number)
                for item in items
                for number in range(1, queue.seats_per_item + 1)
            ],
            batch_size=2000,
        )
        seating.look_again(queue.pk, items)
    return len(items)


def _key(one: NewItem) -> Key:
    found = (getattr(one, name) for name in SUBJECTS)
    return tuple(row if row is None or isinstance(row, int) else row.pk for row in found)


def _known(queue: Queue, wanted: Mapping[Key, NewItem]) -> set[Key]:
    rows = queue.items.exclude(state=ReviewItem.State.GOLD)
    if len(wanted) == 1:
        key = next(iter(wanted))
        rows = rows.filter(**{f"{n}_id": pk for n, pk in zip(SUBJECTS, key, strict=True)})
    names = [f"{name}_id" for name in SUBJECTS]
    return set(rows.values_list(*names))


def keep_up(queue: Queue, chosen: choosing.Choice) -> None:
    """Close what nobody touched and needs nobody any more, open again what does, keep reasons.

    An item that somebody put in by hand stays, and so does what a person has begun.
    """
    touched = Seat.objects.exclude(state=Seat.State.FREE).filter(item__queue=queue)
    idle = queue.items.filter(
        state__in=(ReviewItem.State.OPEN, ReviewItem.State.CLOSED), record__isnull=False
    ).exclude(pk__in=touched.values("item"))
    changes = {}
    for pk, record_id, *facts in idle.values_list("pk", "record", *KEPT):
        wanted = _wanted(record_id, Facts(*facts), chosen)
        if wanted != Facts(*facts):
            changes[pk] = wanted
    # What is being decided at this moment is left to the next time.
    locked = ReviewItem.objects.select_for_update(skip_locked=True).filter(pk__in=changes)
    moved = list(locked.order_by("pk"))
    for item in moved:
        for name, value in zip(KEPT, changes[item.pk], strict=True):
            setattr(item, name, value)
    ReviewItem.objects.bulk_update(moved, KEPT, batch_size=1000)
    seating.look_again(queue.pk, moved)


class Facts(NamedTuple):
    """Whether an item is open, why, with which probability, and how early it comes."""

    state: str
    because: str
    probability: float
    priority: int


def _wanted(record_id: int, facts: Facts, chosen: choosing.Choice) -> Facts:
    """What an untouched item should say, given what is chosen now."""
    if not choosing.REASONS.issuperset(facts.because.split("; ")):
        return facts
    one = chosen.items.get(record_id)
    if one is not None:
        return Facts(ReviewItem.State.OPEN, one.because, one.probability, one.priority)
    if record_id >> RUN_SHIFT in chosen.unsettled:
        return facts
    return facts._replace(state=ReviewItem.State.CLOSED)
