"""Texts of steps as a page shows them: rendered, cut, with what was found beyond, or raw."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from academy import foreign, json_slices, markup
from academy.blinding import HIDDEN, Hiding, blinded, without_names
from academy.bundle import Event
from academy.models import InstanceRecord
from academy.packs import raw_record
from academy.steps import Step
from academy.transcript_addresses import WHOLE, Asked
from academy.transcripts import Transcript

STEPS = 20
# How much of one text is shown before "show more"; names are not cut in two.
TEXT, LONGEST_NAME = 4_000, 256
EXCERPTS, AROUND = 3, 160
READABLE: dict[str, Any] = {"ensure_ascii": False, "indent": 1}


@dataclass(frozen=True, slots=True)
class Screen:
    """One showing of a transcript: what is asked, of whom names are hidden, what is chosen.

    `anchors` name the elements of steps; sequence numbers that come twice get a second number.
    """

    record: InstanceRecord | None
    transcript: Transcript
    asked: Asked
    url: str
    mask: Hiding | None
    chosen: Sequence[Step]
    matches: Sequence[int]

    @property
    def start(self) -> int:
        """The first chosen step that is shown: the page that holds the one asked for."""
        if self.asked.start is not None:
            return min(self.asked.start, len(self.chosen))
        at = self.asked.at
        if at is None and self.asked.words and self.matches:
            at = self.matches[0]
        if at is None:
            return 0
        places = [step.place for step in self.chosen]
        index = bisect_left(places, at)
        return min(index, max(0, len(places) - 1)) // STEPS * STEPS

    def anchor(self, step: Step) -> str:
        """The id of a step's element."""
        listed = self.transcript.steps
        seq = step.event.seq
        before = step.place - bisect_left(listed, seq, key=lambda other: other.event.seq)
        return f"s{seq}-{before + 1}" if before else f"s{seq}"

    def hide(self, text: str) -> str:
        """A text with names hidden."""
        return without_names(text, self.mask)


def visible(screen: Screen, text: str) -> SafeString:
    """A short foreign text as HTML, marked where it matches."""
    words = markup.folded(screen.asked.words)
    return safe(markup.render(markup.plain(text), mask=screen.mask, words=words))


def safe(rendered: markup.Rendered) -> SafeString:
    """HTML of which every foreign part was escaped."""
    return mark_safe(rendered.html)


def bodies_of(screen: Screen, step: Step, prose_left: int) -> list[dict[str, Any]]:
    """The text and the data of a step, each cut."""
    event = step.event
    made = []
    if event.text:
        wants = event.kind in ("message", "thought")
        kind = "prose" if wants else "pre"
        made.append(body(screen, step, event.text, part="text", kind=kind, prose_left=prose_left))
    if event.data is not None:
        text = foreign.as_text(blinded(event.data, screen.mask))
        made.append(body(screen, step, text, part="data", kind="pre"))
    return made


def answer_body(screen: Screen) -> dict[str, Any] | None:
    """The answer as a page shows it, cut like a step's text; None without one.

    Its place is after the last step, so that an address can open it.
    """
    text = foreign.as_text(blinded(screen.transcript.view.answer, screen.mask))
    last = Step(len(screen.transcript.steps), Event(seq=0, kind="message"))
    return body(screen, last, text, part="answer", kind="pre") if text else None


def body(
    screen: Screen, step: Step, text: str, *, part: str, kind: str, prose_left: int = 0
) -> dict[str, Any]:
    """One text of a step, as far as it is shown, with what was found beyond."""
    asked = screen.asked
    is_open = asked.step == step.place and asked.part in (part, "")
    limit = whole_names(text, asked.chars if is_open else TEXT, screen.mask)
    shown = text[:limit]
    words = markup.folded(asked.words)
    if kind == "prose" and len(shown) <= min(prose_left, markup.MOST_MARKDOWN):
        # Names go before Markdown is read, so that none is put together by it.
        pieces = markup.prose(screen.hide(shown))
    else:
        kind = "ev" if kind == "prose" else kind
        pieces = markup.terminal(shown)
    rendered = markup.render(pieces, mask=screen.mask, words=words)
    start = screen.start
    wider = WHOLE if limit < WHOLE else limit * 4
    return {
        "part": part,
        "kind": kind,
        "html": safe(rendered),
        "shown": len(shown),
        "length": len(text),
        "rest": len(text) - len(shown),
        "is_coloured": rendered.is_coloured and kind != "prose",
        "excerpts": excerpts(screen, text, limit, words) if words else [],
        "wider": asked.link(start=start, step=step.place, part=part, chars=wider)
        if len(text) > wider
        else None,
        "whole": asked.link(start=start, step=step.place, part=part, chars=len(text)),
        "less": asked.link(start=start) if is_open and len(text) > TEXT else None,
    }


def whole_names(text: str, limit: int, mask: Hiding | None) -> int:
    """The limit, or the end of a name that it would cut in two."""
    if limit >= len(text) or mask is None:
        return min(limit, len(text))
    first = max(0, limit - LONGEST_NAME)
    near = text[first : limit + LONGEST_NAME]
    spans = ((first + start, first + end) for start, end in mask.spans(near))
    return next((end for start, end in spans if start < limit < end), limit)


def excerpts(screen: Screen, text: str, limit: int, words: str) -> list[SafeString]:
    """What was found beyond the part that is shown, with a little around it."""
    made: list[SafeString] = []
    rest = screen.hide(markup.SGR.sub("", text[limit:])) if len(text) > limit else ""
    last = -1
    for start, end in markup.places_of(words, rest):
        if len(made) >= EXCERPTS:
            break
        if start < last or HIDDEN in rest[start:end]:
            continue
        last = end + AROUND
        part = rest[max(0, start - AROUND) : last]
        made.append(safe(markup.render(markup.plain(part), mask=screen.mask, words=words)))
    return made


def raw_bodies(screen: Screen, shown: Sequence[Step]) -> dict[int, list[dict[str, Any]]]:
    """The JSON of steps: as it came, letter by letter; behind a mask written anew without names.

    Steps that were read from the same place share it.
    """
    text = stored_text(screen.record)
    pointers = {step.event.source for step in shown if step.event.source}
    found = json_slices.slices(text, sorted(pointers))
    made: dict[int, list[dict[str, Any]]] = {}
    for step in shown:
        place = found.get(step.event.source)
        raw = text[place[0] : place[1]] if place else as_read(step.event)
        if screen.mask is not None:
            raw = json.dumps(blinded(json.loads(raw, strict=False), screen.mask), **READABLE)
        made[step.place] = [body(screen, step, raw, part="raw", kind="pre")]
        made[step.place][0]["note"] = step.event.source if place else ""
        made[step.place][0]["is_own"] = bool(place)
    return made


def stored_text(record: InstanceRecord | None) -> str:
    """The record as it came; "" for steps without one."""
    return raw_record(record).decode("utf-8", "replace") if record is not None else ""


def as_read(event: Event) -> str:
    """What was read of a step whose own JSON is not known."""
    names = ("kind", "title", "role", "tool", "text", "data")
    told = {name: value for name in names if (value := getattr(event, name)) not in ("", None)}
    return json.dumps(told, **READABLE)


def whole_record(screen: Screen) -> dict[str, Any]:
    """The whole record as it came, cut."""
    text = stored_text(screen.record)
    limit = screen.asked.chars
    words = markup.folded(screen.asked.words)
    rendered = markup.render(markup.plain(text[:limit]), words=words)
    return {
        "html": safe(rendered),
        "length": len(text),
        "rest": max(0, len(text) - limit),
        "wider": screen.asked.link(step=0, chars=limit * 4),
        "whole": screen.asked.link(step=0, chars=len(text)),
    }
