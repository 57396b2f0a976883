"""Where values stand in the text of a JSON document, so that they can be shown as they came."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from json.decoder import JSONDecoder
from json.decoder import scanstring as scan_string  # type: ignore[attr-defined]

from academy.formats.text_reading import pointer

WHITE = " \t\n\r"
Tree = dict[str, "Tree"]


def slices(text: str, pointers: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Beginning and end of the values at JSON pointers (RFC 6901), found in one pass.

    What is not wanted is skipped by the decoder at its full speed. Pointers that lead nowhere,
    and those after a place that is no JSON, are left out.
    """
    tree: Tree = {}
    for wanted in pointers:
        node = tree
        for part in wanted.split("/")[1:]:
            node = node.setdefault(part, {})
    finder = Finder(text, set(pointers))
    with suppress(json.JSONDecodeError, IndexError, RecursionError):
        finder.visit(finder.skip(0), tree, "")
    return finder.found


class Finder:
    """Walks down the wanted branches of one document."""

    def __init__(self, text: str, wanted: set[str]) -> None:
        self.text = text
        self.wanted = wanted
        self.found: dict[str, tuple[int, int]] = {}
        # Numbers stay texts: one may be longer than Python reads as a number.
        decoder = JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)
        self.decode = decoder.raw_decode

    def skip(self, place: int) -> int:
        """The next place that is not white."""
        while place < len(self.text) and self.text[place] in WHITE:
            place += 1
        return place

    def visit(self, place: int, tree: Tree, path: str) -> int:
        """Note what is wanted of the value that begins here; gives its end."""
        opener = self.text[place]
        if not tree or opener not in "{[":
            end = self.decode(self.text, place)[1]
        else:
            end = self.inside(place, tree, path, is_object=opener == "{")
        if path in self.wanted:
            self.found[path] = (place, end)
        return end

    def inside(self, place: int, tree: Tree, path: str, *, is_object: bool) -> int:
        """Go through the members of an object or list; gives its end."""
        place = self.skip(place + 1)
        names = self.counting()
        while self.text[place] not in "}]":
            if is_object:
                name, place = scan_string(self.text, place + 1, False)
                name = pointer(name)[1:]
                place = self.skip(self.skip(place) + 1)
            else:
                name = next(names)
            place = self.skip(self.visit(place, tree.get(name, {}), f"{path}/{name}"))
            if self.text[place] == ",":
                place = self.skip(place + 1)
        return place + 1

    @staticmethod
    def counting() -> Iterator[str]:
        """The names of the members of a list."""
        number = 0
        while True:
            yield str(number)
            number += 1
