"""Foreign text as harmless HTML: Markdown by an allow-list, terminal colours, or plain; with names
hidden and words marked. Nothing leads out of a page: links and pictures are only named."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from html.parser import HTMLParser
from typing import Any, NamedTuple

import nh3
from markdown_it import MarkdownIt

from academy import foreign
from academy.blinding import HIDDEN, Hiding

# Longer prose is shown as it is: reading Markdown costs more than escaping, and nobody reads on.
MOST_MARKDOWN = 16_384
MOST_ROWS, MOST_COLUMNS = 400, 40
MASKED = '<span class="mask">name</span>'
SGR = re.compile(r"\x1b\[([0-9;:]*)m")
COLOURS = ("ink", "red", "green", "yellow", "blue", "magenta", "cyan", "ink")
STYLES = {1: "b", 2: "dim", 3: "it", 4: "ul", 7: "inv", 9: "st"}
OFF = {22: ("b", "dim"), 23: ("it",), 24: ("ul",), 27: ("inv",), 29: ("st",)}
OPEN = {
    "p": "<p>",
    **{f"h{level}": '<p class="b">' for level in range(1, 7)},
    **{name: f"<{name}>" for name in ("ul", "ol", "li", "strong", "em", "s", "code")},
    **{name: f"<{name}>" for name in ("thead", "tbody", "tr", "th", "td", "blockquote")},
    "br": "<br>",
    "hr": "<hr>",
    "pre": '<pre class="pre">',
    "table": '<div class="scroller" tabindex="0" role="region" aria-label="Table">'
    '<table class="t">',
}
CLOSE = {
    **{name: f"</{name}>" for name in OPEN if name not in ("br", "hr")},
    **{f"h{level}": "</p>" for level in range(1, 7)},
    "table": "</table></div>",
}


class Piece(NamedTuple):
    """A piece of a page: text that is still foreign, or markup that is ours."""

    is_markup: bool
    text: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """Harmless HTML, how many words were marked in it, and whether it had terminal colours."""

    html: str
    marks: int = 0
    is_coloured: bool = False


def folded(text: str) -> str:
    """The text in small letters, as long as before, so that places in it stay."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("İ", "i").lower()


def places_of(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Where words stand in a text, whatever their case; `words` are folded already."""
    low = folded(text)
    start = low.find(words) if words else -1
    while start >= 0:
        yield start, start + len(words)
        start = low.find(words, start + len(words))


def plain(text: str) -> list[Piece]:
    """Text as it is."""
    return [Piece(False, text)]


def terminal(text: str) -> list[Piece]:
    """The output of a terminal: colours and weights become spans of our classes, which are
    readable on any ground; every other sequence stays and is shown as a symbol."""
    if "\x1b" not in text:
        return plain(text)
    pieces: list[Piece] = []
    style = Style()
    place = 0
    for found in SGR.finditer(text):
        pieces += style.wrapped(text[place : found.start()])
        style.change([int(n or 0) for n in re.split("[;:]", found[1][:64]) if len(n) < 6])
        place = found.end()
    return [*pieces, *style.wrapped(text[place:])]


@dataclass(slots=True)
class Style:
    """How a terminal writes at the moment."""

    colour: str = ""
    kinds: dict[str, None] = field(default_factory=dict)

    def change(self, codes: Sequence[int]) -> None:
        """Select Graphic Rendition (ECMA-48 8.3.117); grounds and concealing are not followed."""
        listed = iter(codes or (0,))
        for code in listed:
            if code == 0:
                self.colour, self.kinds = "", {}
            elif code in STYLES:
                self.kinds[STYLES[code]] = None
            elif code in OFF:
                for kind in OFF[code]:
                    self.kinds.pop(kind, None)
            elif code in (38, 48):
                self.take_extended(code, listed)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.colour = COLOURS[code % 10]
            elif code == 39:
                self.colour = ""

    def take_extended(self, code: int, rest: Iterator[int]) -> None:
        """A colour by number or by its parts."""
        form = next(rest, 0)
        number = next(rest, 0) if form == 5 else -1
        for _part in range(3 if form == 2 else 0):
            next(rest, 0)
        if code == 38:
            self.colour = COLOURS[number % 8] if 0 <= number < 16 else "blue"

    def wrapped(self, text: str) -> list[Piece]:
        """Text in a span that says how it is written."""
        if not text:
            return []
        names = [f"a-{name}" for name in (self.colour, *self.kinds) if name]
        if not names:
            return plain(text)
        opening = Piece(True, f'<span class="{" ".join(names)}">')
        return [opening, Piece(False, text), Piece(True, "</span>")]


@cache
def reader(*, tables: bool) -> MarkdownIt:
    """Reads Markdown without raw HTML; links and pictures become their words and addresses."""
    made = MarkdownIt("commonmark", {"html": False, "breaks": True})
    made.enable(["table", "strikethrough"] if tables else ["strikethrough"]).disable(["reference"])
    made.add_render_rule("link_open", nothing)
    made.add_render_rule("link_close", address)
    made.add_render_rule("image", picture)
    return made


def has_small_tables(text: str) -> bool:
    """Whether tables in a text stay small: every row is filled up to the width of the first."""
    lines = text.splitlines()
    return len(lines) <= MOST_ROWS and all(line.count("|") <= MOST_COLUMNS for line in lines)


def nothing(*_given: Any) -> str:
    """A part that leaves no trace."""
    return ""


def address(_renderer: Any, tokens: Sequence[Any], place: int, *_given: Any) -> str:
    """The address of a link that ends here, as text; one that is its own words is not repeated."""
    opening = next((t for t in reversed(tokens[:place]) if t.type == "link_open"), None)
    if opening is None or opening.markup == "autolink":
        return ""
    return f" <code>({escape(str(opening.attrGet('href') or ''))})</code>"


def picture(_renderer: Any, tokens: Sequence[Any], place: int, *_given: Any) -> str:
    """A picture by its words and address: nothing is ever loaded."""
    token = tokens[place]
    return f"[picture: {escape(token.content)}] <code>({escape(str(token.attrGet('src')))})</code>"


def prose(text: str) -> list[Piece]:
    """Markdown by an allow-list of elements, none of which keeps an attribute from outside."""
    # The reader would put U+FFFD for U+0000; the symbol tells the two apart.
    html = reader(tables=has_small_tables(text)).render(text.replace("\x00", "\u2400"))
    clean = nh3.clean(html, tags=set(OPEN), attributes={}, link_rel=None, url_schemes=set())
    taking = Taking()
    taking.feed(clean)
    taking.close()
    return taking.pieces


class Taking(HTMLParser):
    """Takes sanitised HTML apart into text and the markup of our own that stands for it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[Piece] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """An element begins."""
        if tag in OPEN:
            self.pieces.append(Piece(True, OPEN[tag]))

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        if tag in CLOSE:
            self.pieces.append(Piece(True, CLOSE[tag]))

    def handle_data(self, data: str) -> None:
        """Text."""
        self.pieces.append(Piece(False, data))


def render(pieces: Sequence[Piece], *, mask: Hiding | None = None, words: str = "") -> Rendered:
    """Pieces as HTML: names hidden, words marked, whatever would not show made visible.

    Names and words are looked for in the text without markup, so none hides behind a colour.
    """
    text = "".join(piece.text for piece in pieces if not piece.is_markup)
    covered = list(mask.spans(text)) if mask is not None else []
    marked = [
        (start, end, "mark")
        for start, end in places_of(words, text)
        if HIDDEN not in text[start:end] and not overlaps(covered, start, end)
    ]
    stretches = filled([*((start, end, "mask") for start, end in covered), *marked], len(text))
    out: list[str] = []
    place = index = 0
    for piece in pieces:
        if piece.is_markup:
            out.append(piece.text)
            continue
        stop = place + len(piece.text)
        while place < stop:
            start, end, kind = stretches[index]
            out.append(shown_as(kind, text[place : min(stop, end)], is_first=place == start))
            index += end <= stop
            place = min(stop, end)
    is_coloured = any(piece.is_markup and piece.text.startswith("<span") for piece in pieces)
    return Rendered("".join(out), len(marked), is_coloured)


def filled(spans: Sequence[tuple[int, int, str]], length: int) -> list[tuple[int, int, str]]:
    """Spans that are apart, with the plain stretches between them."""
    made: list[tuple[int, int, str]] = []
    place = 0
    for start, end, kind in sorted(spans):
        if start > place:
            made.append((place, start, ""))
        made.append((start, end, kind))
        place = end
    return [*made, (place, length, "")]


def shown_as(kind: str, text: str, *, is_first: bool) -> str:
    """A stretch of text as what it is; a hidden name is one mark, however it is cut."""
    if kind == "mask":
        return MASKED if is_first else ""
    return f"<mark>{visible(text)}</mark>" if kind else visible(text)


def overlaps(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a stretch touches any of some spans, which are in order and apart."""
    place = bisect_left(spans, (end, 0))
    return place > 0 and spans[place - 1][1] > start


def visible(text: str) -> str:
    """Text escaped, with symbols for what would not show, and marks where names are hidden."""
    if HIDDEN in text:
        return MASKED.join(visible(part) for part in text.split(HIDDEN))
    if not foreign.SPECIAL.search(text):
        return escape(text)
    return "".join(
        f'<span class="ctl">{escape(part)}</span>' if special else escape(part)
        for special, part in foreign.segments(text)
    )
