"""The kinds of decisions that wait for people: what each asks, and what its answers become.

A kind is registered when the app starts, so that claiming, deciding and the screens never ask which
kind they serve. An item's verdicts are kept on its seats as `{question key: {"state", "value",
"reason", "confidence", "fault"}}` until they are final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from academy.errors import AcademyError
from academy.models import SuiteVersion
from academy.querysets import has_role
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.questions import Question, Section

Verdicts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """What an item is to be made of: rows or their ids, why it was chosen, and with which chance.

    An item with a lower `priority` comes first.
    """

    record: Any = None
    task: Any = None
    criterion: Any = None
    finding: Any = None
    appeal: Any = None
    because: str = ""
    probability: float = 1.0
    priority: int = 0


def nothing_follows(_item: ReviewItem) -> None:
    """A kind whose decisions do all there is to do."""


def always_needs_no_third(_item: ReviewItem) -> bool:
    """A kind whose agreeing seats need nobody else."""
    return False


def excludes_nobody(_user: Any, _queue: Queue) -> str:
    """A kind that knows no conflict of interest of its own."""
    return ""


def only_when_filled(_version: SuiteVersion) -> bool:
    """A kind whose queue is made when something waits for it."""
    return False


def nobody_else(_queue: Queue) -> Iterable[NewItem]:
    """A kind whose queue is filled with records alone, or by services of its own."""
    return ()


def nothing_beside(_item: ReviewItem) -> Mapping[str, Any]:
    """A kind whose questions say all."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of decision.

    `questions(item)` are asked of every seat together. `store(item, seat, verdicts)` hands final
    verdicts to the core, where they become decisions: of a person, or the resolution when the seat
    is a third person's. `settle(item)` is what follows once the item is resolved, in the same
    transaction. `needs_third(item)` asks for a third person even where the seats agree.
    `excludes(user, queue)` says why somebody may decide none of them, as a sentence or empty.
    With `seals_answers` what is answered is an answer key: others' answers are for curators.
    """

    key: str
    title: str
    form: str
    questions: Callable[[ReviewItem], list[Question]]
    store: Callable[[ReviewItem, Seat, Verdicts], None]
    settle: Callable[[ReviewItem], None] = nothing_follows
    needs_third: Callable[[ReviewItem], bool] = always_needs_no_third
    excludes: Callable[[Any, Queue], str] = excludes_nobody
    seals_answers: bool = False
    # What stands left of the questions when the subject is no record; None: the record's own bench.
    evidence: Callable[[ReviewItem, Seat, Any], Mapping[str, Any]] | None = None
    evidence_template: str = ""
    # Headings over groups of questions, and what the page shows beside them (notes, phases).
    sections: Sequence[Section] = ()
    beside: Callable[[ReviewItem], Mapping[str, Any]] = nothing_beside
    # How the page shares its width: "" narrow questions, "even" or "most" wider ones.
    layout: str = ""
    roles: Sequence[str] = ("reviewer", "adjudicator")
    scales: Sequence[str] = ()
    wants_queue: Callable[[SuiteVersion], bool] = only_when_filled
    subjects: Callable[[Queue], Iterable[NewItem]] = nobody_else


KINDS: dict[str, Kind] = {}
FOLLOWERS: list[Callable[[ReviewItem, Seat, Verdicts], None]] = []


def register(kind: Kind) -> None:
    """Make a kind known. Raises ValueError when another has its key."""
    if KINDS.setdefault(kind.key, kind) is not kind:
        raise ValueError(f"two kinds of review are called {kind.key!r}")


def follow_verdicts(act: Callable[[ReviewItem, Seat, Verdicts], None]) -> None:
    """Do something with the verdicts of every seat once they are decisions, of whatever kind."""
    if act not in FOLLOWERS:
        FOLLOWERS.append(act)


def reads_answers(queue: Queue, user: Any) -> bool:
    """Whether somebody may read what others answered in a queue, as far as its kind goes."""
    kind = KINDS.get(queue.kind)
    return kind is None or not kind.seals_answers or has_role(user, "curator")


def kind_of(item: ReviewItem) -> Kind:
    """The kind of an item's queue. Raises AcademyError for one that is not installed."""
    known = KINDS.get(item.queue.kind)
    if known is None:
        raise AcademyError(f"Queue {item.queue} is of the unknown kind {item.queue.kind!r}.")
    return known
