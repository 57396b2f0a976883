"""Drawings from outside, rewritten so that a renderer can do no harm with them.

Whatever would lead out of the file is refused rather than left out, since a copy that lacks a part
would mislead whoever measures on it. Scripts and links are left out: they draw nothing.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from academy.errors import AcademyError

SVG, PNG, JPEG = "image/svg+xml", "image/png", "image/jpeg"
MEDIA_TYPES = frozenset({SVG, PNG, JPEG})

SIDE = 1600
MOST_BYTES = 32 * 2**20
MOST_PIXELS = 64 * 10**6
MOST_ELEMENTS = 200_000
MOST_DEPTH = 200

NO_DRAWING = frozenset(
    {"script", "foreignObject", "iframe", "object", "embed", "audio", "video", "handler"}
)
PICTURE = re.compile(r"\s*data:image/(?:png|jpe?g|gif|webp)(?:;[\w=-]+)*;base64,", re.IGNORECASE)
OUTSIDE = re.compile(r"url\(\s*(?![\s\"']*#)[^)]*\)|@import\b|expression\s*\(", re.IGNORECASE)
COMMENTS = re.compile(r"/\*.*?\*/", re.DOTALL)
ESCAPES = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
LENGTH = re.compile(r"\s*\+?(\d*\.?\d+(?:[eE][+-]?\d+)?)\s*(px|pt|pc|mm|cm|in)?\s*")
UNITS = {"px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG document that holds all it shows, as large as its copy; `has_text` needs a font."""

    svg: str
    width: int
    height: int
    has_text: bool


def kind_of(data: bytes) -> str:
    """The media type by the first bytes, never by a name; "" for what is not drawn."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return SVG if head.startswith(b"<") and b"<svg" in head else ""


def harmless(data: bytes) -> Drawing:
    """The drawing as one harmless SVG document.

    Raises AcademyError with the reason why no copy of it is made.
    """
    if len(data) > MOST_BYTES:
        raise AcademyError(f"it is larger than {MOST_BYTES // 2**20} MiB")
    kind = kind_of(data)
    if kind == SVG:
        return Rewriter().rewrite(data)
    if kind in (PNG, JPEG):
        return framed(data, kind)
    raise AcademyError("it is no SVG, PNG or JPEG file")


def framed(data: bytes, kind: str) -> Drawing:
    """A picture inside an SVG document, so that one renderer reads them all; never enlarged."""
    width, height = (png_size if kind == PNG else jpeg_size)(data)
    if not width or not height:
        raise AcademyError("its size cannot be read")
    if width * height > MOST_PIXELS:
        raise AcademyError(f"it has {width} × {height} pixels, more than are opened")
    shown_width, shown_height = fitted(width, height, enlarge=False)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{shown_width}" height="{shown_height}" '
        f'viewBox="0 0 {width} {height}"><image width="{width}" height="{height}" '
        f'href="data:{kind};base64,{base64.b64encode(data).decode()}"/></svg>'
    )
    return Drawing(svg, shown_width, shown_height, has_text=False)


def png_size(data: bytes) -> tuple[int, int]:
    """Width and height of a PNG file."""
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height of a JPEG file, (0, 0) when no frame tells them."""
    place = 2
    while place + 9 < len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker in FRAMES:
            height = int.from_bytes(data[place + 5 : place + 7], "big")
            return int.from_bytes(data[place + 7 : place + 9], "big"), height
        if marker == 0xFF:
            place += 1
            continue
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return 0, 0


def fitted(width: float, height: float, *, enlarge: bool) -> tuple[int, int]:
    """The size of the copy: its longer side is SIDE, or less for a picture that is smaller."""
    scale = SIDE / max(width, height)
    if not enlarge:
        scale = min(scale, 1.0)
    return max(1, round(width * scale)), max(1, round(height * scale))


def length(text: str) -> float | None:
    """A length in pixels; None for what depends on a page, such as per cents."""
    found = LENGTH.fullmatch(text)
    return float(found[1]) * UNITS[found[2] or "px"] if found else None


@dataclass(slots=True)
class Rewriter:
    """Reads an SVG document and writes down what may be drawn of it."""

    parts: list[str] = field(default_factory=list)
    depth: int = 0
    elements: int = 0
    hidden: int = 0
    in_style: bool = False
    style: list[str] = field(default_factory=list)
    has_text: bool = False
    size: tuple[int, int] = (0, 0)

    def rewrite(self, data: bytes) -> Drawing:
        """The harmless document. Raises AcademyError."""
        reader = expat.ParserCreate()
        reader.buffer_text = True
        reader.ordered_attributes = True
        reader.EntityDeclHandler = refuse_entity
        reader.StartElementHandler = self.start
        reader.EndElementHandler = self.end
        reader.CharacterDataHandler = self.text
        try:
            reader.Parse(data, True)
        except expat.ExpatError as error:
            raise AcademyError(f"it is no well-formed XML: {error}") from None
        except (LookupError, ValueError):
            raise AcademyError("its encoding is not read") from None
        return Drawing("".join(self.parts), *self.size, self.has_text)

    def start(self, name: str, listed: list[str]) -> None:
        """An element begins."""
        self.depth += 1
        self.elements += 1
        if self.depth > MOST_DEPTH or self.elements > MOST_ELEMENTS:
            raise AcademyError("it has more elements, or deeper ones, than are drawn")
        local = name.rpartition(":")[2]
        if self.hidden or local in NO_DRAWING:
            self.hidden += 1
            return
        attributes = dict(zip(listed[::2], listed[1::2], strict=True))
        if self.depth == 1:
            self.take_root(local, attributes)
        self.in_style = local == "style"
        self.has_text |= local == "text"
        kept = "".join(f" {key}={quoteattr(value)}" for key, value in checked(local, attributes))
        self.parts.append(f"<{name}{kept}>")

    def take_root(self, local: str, attributes: dict[str, str]) -> None:
        """Fix the size of the copy, so that nothing depends on a page around it."""
        if local != "svg":
            raise AcademyError("its outermost element is no svg")
        box = view_box(attributes.get("viewBox", ""))
        width, height = length(attributes.get("width", "")), length(attributes.get("height", ""))
        if box and not (width and height):
            width, height = box[2], box[3]
        if not width or not height or max(width, height) > 1e7:
            raise AcademyError("it does not say how large it is")
        self.size = fitted(width, height, enlarge=True)
        attributes["width"], attributes["height"] = (str(side) for side in self.size)
        if not box:
            attributes["viewBox"] = f"0 0 {width:.6g} {height:.6g}"

    def end(self, name: str) -> None:
        """An element ends."""
        self.depth -= 1
        if self.hidden:
            self.hidden -= 1
            return
        if self.in_style:
            self.end_style()
        self.parts.append(f"</{name}>")

    def end_style(self) -> None:
        """A style sheet is judged whole."""
        sheet = "".join(self.style)
        refuse_outside(sheet)
        self.parts.append(escape(sheet))
        self.style.clear()
        self.in_style = False

    def text(self, data: str) -> None:
        """Text inside an element."""
        if self.hidden:
            return
        if self.in_style:
            self.style.append(data)
        else:
            self.parts.append(escape(data))


def refuse_entity(*_declaration: object) -> None:
    """Entities can grow without bound and lead outside."""
    raise AcademyError("it declares entities, which are not read")


def view_box(text: str) -> tuple[float, ...]:
    """The four numbers of a view box, or nothing."""
    try:
        numbers = tuple(float(part) for part in text.replace(",", " ").split())
    except ValueError:
        return ()
    is_box = len(numbers) == 4 and all(abs(number) < 1e9 for number in numbers)
    return numbers if is_box and numbers[2] > 0 and numbers[3] > 0 else ()


def checked(local: str, attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The attributes that may stay. Raises AcademyError for what draws from outside the file."""
    for name, value in attributes.items():
        plain = name.rpartition(":")[2]
        if plain.lower().startswith("on") or name in ("xml:base", "src"):
            continue
        if plain != "href":
            refuse_outside(value)
            yield name, value
        elif value.strip().startswith("#") or (
            local in ("image", "feImage") and PICTURE.match(value)
        ):
            yield name, value
        elif local != "a":
            raise AcademyError(f"its {local} draws from outside the file, which is never opened")


def unescaped(found: re.Match[str]) -> str:
    """The character that an escape of CSS stands for."""
    code = int(found[1], 16) if found[1] else ord(found[2])
    return chr(code) if code < 0x110000 else ""


def refuse_outside(style: str) -> None:
    """Raise AcademyError for a style that draws from outside the file."""
    plain = ESCAPES.sub(unescaped, COMMENTS.sub("", style))
    if OUTSIDE.search(plain):
        raise AcademyError("a style in it draws from outside the file, which is never opened")
