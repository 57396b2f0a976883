"""Hides who made an answer: names of models, developers and harnesses in foreign text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Mask:
    """The names to hide, longest first, whatever their case."""

    pattern: re.Pattern[str] | None

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
        return cls(re.compile(rf"(?<![^\W_])(?:{'|'.join(parts)})(?![^\W_])", re.IGNORECASE))

    def pieces(self, text: str) -> Iterator[tuple[bool, str]]:
        """The text in pieces; True stands for a hidden name."""
        place = 0
        for found in self.pattern.finditer(text) if self.pattern else ():
            if found.start() > place:
                yield False, text[place : found.start()]
            yield True, ""
            place = found.end()
        if place < len(text):
            yield False, text[place:]

    def count(self, text: str) -> int:
        """How many places would be hidden."""
        return sum(1 for hidden, _part in self.pieces(text) if hidden)
