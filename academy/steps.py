"""The steps of a transcript: their order, what is known of their times, totals, and choosing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from academy import foreign
from academy.bundle import Event

KINDS = ("message", "thought", "tool_call", "tool_result", "action", "observation", "error")


@dataclass(frozen=True, slots=True)
class Step:
    """An event at its place in the order of sequence numbers.

    `lasted_ms` is None when it is not known; `doubt` says why where it should be. A step without
    either belongs to another one, or nothing was said of any time. `is_early` marks a step that
    began before the one above it.
    """

    place: int
    event: Event
    lasted_ms: int | None = None
    doubt: str = ""
    is_early: bool = False

    @property
    def is_error(self) -> bool:
        """Whether something went wrong here, by the step's own word."""
        return self.event.kind == "error" or self.event.failed


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures of a whole transcript. Durations that are not known are counted, and in no sum.

    `tools` are calls by tool, most used first; `lasted_ms` is None where no duration is known.
    `direction` and `invisible` count characters that would not show.
    """

    steps: int
    errors: int
    kinds: tuple[tuple[str, int], ...]
    roles: tuple[tuple[str, int], ...]
    tools: tuple[tuple[str, int], ...]
    calls: int
    tokens_in: int | None
    tokens_out: int | None
    lasted_ms: int | None
    timed: int
    untimed: int
    direction: int
    invisible: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Which steps are wanted; empty parts choose nothing away."""

    kind: str = ""
    tool: str = ""
    role: str = ""
    only_errors: bool = False

    def __bool__(self) -> bool:
        return bool(self.kind or self.tool or self.role or self.only_errors)

    def takes(self, step: Step) -> bool:
        """Whether a step is wanted."""
        event = step.event
        return (
            (not self.kind or event.kind == self.kind)
            and (not self.tool or event.tool == self.tool)
            and (not self.role or event.role == self.role)
            and (not self.only_errors or step.is_error)
        )


def ordered(events: Iterable[Event]) -> tuple[Step, ...]:
    """The steps by sequence number, whatever the clocks say; equal numbers as they came."""
    listed = sorted(events, key=lambda event: event.seq)
    is_timed = any(event.offset_ms is not None or event.duration_ms is not None for event in listed)
    has_own = any(event.duration_ms is not None for event in listed)
    steps = []
    before: int | None = None
    for place, event in enumerate(listed):
        after = listed[place + 1] if place + 1 < len(listed) else None
        lasted, doubt = event.duration_ms, event.doubt
        if lasted is None and not doubt and is_timed and not has_own:
            lasted, doubt = between(event, after)
        is_early = before is not None and event.offset_ms is not None and event.offset_ms < before
        steps.append(Step(place, event, None if doubt else lasted, doubt, is_early))
        before = event.offset_ms if event.offset_ms is not None else before
    return tuple(steps)


def between(event: Event, after: Event | None) -> tuple[int | None, str]:
    """How long a step took if steps say only when they began: until the next one did.

    The last step has no next one and is no unknown.
    """
    if event.offset_ms is None:
        return None, "it does not say when it began"
    if after is None:
        return None, ""
    if after.offset_ms is None:
        return None, "the next step does not say when it began"
    if after.offset_ms < event.offset_ms:
        return None, "the next step says that it began earlier"
    return after.offset_ms - event.offset_ms, ""


def counted(steps: Sequence[Step]) -> Totals:
    """The totals of all steps of a transcript."""
    events = [step.event for step in steps]
    lasted = [step.lasted_ms for step in steps if step.lasted_ms is not None]
    kinds = Counter(event.kind for event in events)
    tools = Counter(event.tool for event in events if event.tool)
    calls = Counter(event.tool for event in events if event.tool and event.kind == "tool_call")
    special = Counter[str]()
    for event in events:
        # Texts of ASCII alone hold none, and say so without being read.
        if not event.text.isascii():
            special.update(foreign.hidden_counts(event.text))
    return Totals(
        steps=len(steps),
        errors=sum(step.is_error for step in steps),
        kinds=tuple((kind, kinds[kind]) for kind in KINDS if kinds[kind]),
        roles=ranked(Counter(event.role for event in events if event.role)),
        tools=ranked(calls if calls else tools),
        calls=kinds["tool_call"],
        tokens_in=total(event.tokens_in for event in events),
        tokens_out=total(event.tokens_out for event in events),
        lasted_ms=sum(lasted) if lasted else None,
        timed=len(lasted),
        untimed=sum(1 for step in steps if step.doubt),
        direction=special["direction"],
        invisible=special["invisible"],
    )


def ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Names by how often they come, equal ones by name."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def total(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
