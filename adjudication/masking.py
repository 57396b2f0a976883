"""Hides who made an answer: names of models, developers and harnesses in foreign text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge

SHORTEST = 3
# Colours of terminals, characters that do not show, and the emphasis of Markdown.
NOISE = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|[*`~]+"
    "|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+"
)


@dataclass(frozen=True, slots=True)
class Mask:
    """The names to hide, longest first, whatever their case.

    `words` are those of each name in small letters: long texts are searched for them, twenty times
    as fast as for the whole pattern, which has the last word. Empty where a name has a letter that
    small letters do not settle.
    """

    pattern: re.Pattern[str] | None
    words: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> Mask:
        """A mask of names; words shorter than three letters would hide ordinary text."""
        kept = sorted({name.strip() for name in names if len(name.strip()) >= SHORTEST}, key=len)
        if not kept:
            return cls(None)
        # A hyphen, space, underscore or nothing may stand between the words of a name.
        parts = [
            r"[-_\s]*".join(re.escape(word) for word in re.split(r"[-_\s]+", name))
            for name in reversed(kept)
        ]
        words = {tuple(re.split(r"[-_\s]+", name.lower())) for name in kept}
        is_plain = all(listed[0] and "".join(listed).isascii() for listed in words)
        pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(parts)})(?![^\W_])", re.IGNORECASE)
        return cls(pattern, tuple(sorted(words)) if is_plain else ())

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where names stand in a text, in order, also where marks that a page does not show, or
        shows as weight or colour, stand inside a name."""
        if self.pattern is None:
            return iter(())
        found = self.plain_spans(text)
        return merged(found, self.covered_spans(text)) if has_noise(text) else found

    def covered_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The same in the text without those marks, told by places in the text with them."""
        starts, removed, total = [0], [0], 0
        for noise in NOISE.finditer(text):
            total += noise.end() - noise.start()
            starts.append(noise.end() - total)
            removed.append(total)
        for start, end in self.plain_spans(NOISE.sub("", text)):
            first = removed[bisect_right(starts, start) - 1]
            last = removed[bisect_right(starts, end - 1) - 1]
            yield start + first, end + last

    def plain_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where names stand in a text as it is written."""
        if self.pattern is None:
            return
        low = small(text) if self.words else None
        if low is None:
            yield from (found.span() for found in self.pattern.finditer(text))
            return
        firsts = {listed[0] for listed in self.words if all(word in low for word in listed)}
        end = 0
        for place in merge(*(places(first, low) for first in firsts)):
            # Letters before `place` are seen, so that no name begins inside a word.
            found = self.pattern.match(text, place) if place >= end else None
            if found is not None:
                end = found.end()
                yield found.span()

    def __bool__(self) -> bool:
        """Whether there is any name to hide."""
        return self.pattern is not None

    def pieces(self, text: str) -> Iterator[tuple[bool, str]]:
        """The text in pieces; True stands for a hidden name."""
        place = 0
        for start, end in self.spans(text):
            if start > place:
                yield False, text[place:start]
            yield True, ""
            place = end
        if place < len(text):
            yield False, text[place:]

    def count(self, text: str) -> int:
        """How many places would be hidden."""
        return sum(1 for _span in self.spans(text))


def has_noise(text: str) -> bool:
    """Whether a text holds marks that may stand inside a name."""
    if any(mark in text for mark in "*`~\x1b"):
        return True
    return not text.isascii() and NOISE.search(text) is not None


def merged(*lists: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of several lists in order, those that touch each other as one."""
    last: tuple[int, int] | None = None
    for start, end in merge(*lists):
        if last is not None and start < last[1]:
            last = (last[0], max(last[1], end))
            continue
        if last is not None:
            yield last
        last = (start, end)
    if last is not None:
        yield last


def small(text: str) -> str | None:
    """The text in small letters, as the pattern takes them, with every letter at its place.

    The pattern takes these for the same letter of ASCII: i, the dotted I (U+0130) and the dotless
    i (U+0131); s and the long s (U+017F); k and the sign of Kelvin, which lower() turns into k.
    None when places would move.
    """
    if text.isascii():
        return text.lower()
    low = text.replace("\u0130", "i").lower().replace("\u0131", "i").replace("\u017f", "s")
    return low if len(low) == len(text) else None


def places(word: str, text: str) -> Iterator[int]:
    """Where a word begins in a text."""
    start = text.find(word)
    while start >= 0:
        yield start
        start = text.find(word, start + 1)
