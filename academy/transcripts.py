"""Transcripts as they are opened once and kept for a while: steps, totals, search over all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from academy import foreign, steps
from academy.blinding import Hiding, blinded, count_hidden, without_names
from academy.bundle import Event, RecordView
from academy.markup import SGR, folded
from academy.models import InstanceRecord
from academy.recent import Recent
from academy.steps import Choice, Step, Totals

# What a transcript weighs beside the bytes it was read from: its values, and the texts of search.
WEIGHT = 4
MOST_KEPT = 128 * 2**20


@dataclass(slots=True)
class Transcript:
    """A record's steps with what is asked of all of them at once.

    What costs more than a page, the texts that are searched and the number of hidden names, is
    made when it is first asked for and kept, apart for every mask.
    """

    view: RecordView
    steps: tuple[Step, ...]
    totals: Totals
    texts: dict[Hiding | None, list[str]] = field(default_factory=dict)
    hidden: dict[Hiding, int] = field(default_factory=dict)

    @classmethod
    def of(cls, view: RecordView) -> Transcript:
        """The transcript of an opened record."""
        ordered = steps.ordered(view.events)
        return cls(view, ordered, steps.counted(ordered))

    def chosen(self, choice: Choice) -> Sequence[Step]:
        """The steps that are wanted."""
        return [step for step in self.steps if choice.takes(step)] if choice else self.steps

    def matching(self, words: str, mask: Hiding | None) -> set[int]:
        """The places of all steps that hold some words, whatever their case.

        Behind a mask hidden names are not found, or searching would tell them.
        """
        if mask not in self.texts:
            self.texts[mask] = [searched(step.event, mask) for step in self.steps]
        wanted = folded(words)
        return {place for place, text in enumerate(self.texts[mask]) if wanted in text}

    def hidden_count(self, mask: Hiding) -> int:
        """How many names are hidden in all steps."""
        if mask not in self.hidden:
            shown = [(e.title, e.tool, e.text, e.data) for e in self.view.events]
            self.hidden[mask] = count_hidden(shown, mask)
        return self.hidden[mask]


kept: Recent[Transcript] = Recent(MOST_KEPT)


def searched(event: Event, mask: Hiding | None) -> str:
    """All that is shown of a step, in small letters, without the colours of terminals."""
    text = SGR.sub("", event.text) if "\x1b" in event.text else event.text
    parts = [without_names(part, mask) for part in (event.title, event.tool, text)]
    if event.data is not None:
        parts.append(foreign.as_text(blinded(event.data, mask)))
    return folded("\0".join(parts))


def opened(
    record: InstanceRecord, view: Callable[[], RecordView], *, purpose: str = "page"
) -> Transcript:
    """The transcript of a record; the bytes of a record never change, so it may be kept.

    `purpose` keeps apart what was opened with the answer key and without.
    """

    def make() -> tuple[Transcript, int]:
        return Transcript.of(view()), record.length * WEIGHT

    place = (purpose, record.pack_id, record.offset, record.length, record.task_id)
    return kept.get(place, make)
