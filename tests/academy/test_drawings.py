"""Drawings from outside are rewritten until a renderer can do no harm with them, or refused."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy import drawing_process, drawings, rasterising
from academy.errors import AcademyError

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
PLAN = (HEAD + 'viewBox="0 0 40 20"><rect width="40" height="20" fill="#d00"/></svg>').encode()


def svg(body: str, size: str = 'width="40" height="20"') -> bytes:
    return f"{HEAD}{size}>{body}</svg>".encode()


def png(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        checked = name + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    rows = b"".join(b"\x00" + b"\x40" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_a_plain_drawing_keeps_its_elements_and_gets_the_size_of_the_copy() -> None:
    drawing = drawings.harmless(PLAN)
    root = ElementTree.fromstring(drawing.svg)
    assert (drawing.width, drawing.height) == (1600, 800)
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == (
        "1600",
        "800",
        "0 0 40 20",
    )
    assert root[0].tag.endswith("rect")


def test_a_drawing_without_a_view_box_gets_the_one_that_its_size_means() -> None:
    root = ElementTree.fromstring(drawings.harmless(svg("<g/>", 'width="1in" height="2in"')).svg)
    assert root.get("viewBox") == "0 0 96 192"
    assert (root.get("width"), root.get("height")) == ("800", "1600")


def test_words_are_kept_escaped_and_noticed() -> None:
    drawing = drawings.harmless(svg("<text>3 &lt; 4 &amp; 5</text>"))
    assert drawing.has_text
    assert ElementTree.fromstring(drawing.svg)[0].text == "3 < 4 & 5"


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        '<g onclick="alert(1)" ONLOAD="x()"/>',
        "<foreignObject><iframe src='http://x.test'>x</iframe></foreignObject>",
        '<a href="javascript:alert(1)"><rect/></a>',
        '<a xlink:href="http://x.test/"><rect/></a>',
        "<?xml-stylesheet href='http://x.test/a.css'?>",
        "<!-- http://x.test/ -->",
    ],
)
def test_what_draws_nothing_is_left_out(body: str) -> None:
    written = drawings.harmless(svg(body)).svg
    for word in ("alert", "x.test", "foreign", "script", "x()"):
        assert word not in written.lower()


@pytest.mark.parametrize(
    "body",
    [
        '<image href="/etc/hostname"/>',
        '<image xlink:href="../../secret.png"/>',
        '<image href="file:///etc/hostname"/>',
        '<image href="http://x.test/a.png"/>',
        '<image href="data:image/svg+xml;base64,PHN2Zy8+"/>',
        '<image href="data:text/html;base64,PHN2Zy8+"/>',
        '<feImage href="//x.test/a.png"/>',
        '<use xlink:href="other.svg#a"/>',
        '<rect fill="url(http://x.test/a.svg#b)"/>',
        "<rect style=\"fill:url( 'other.svg#b' )\"/>",
        "<style>@import 'http://x.test/a.css';</style>",
        "<style>rect { fill: u\\72l(other.svg#b) }</style>",
        "<style>rect { fill: url/**/(other.svg#b) }</style>",
        "<style>@im<!-- -->port url(//x.test)</style>",
    ],
)
def test_what_draws_from_outside_the_file_is_refused(body: str) -> None:
    with pytest.raises(AcademyError, match="outside the file"):
        drawings.harmless(svg(body))


def test_what_draws_from_inside_the_file_stays() -> None:
    body = (
        '<defs><linearGradient id="a"/></defs><rect fill="url(#a)" style="stroke:url(\'#a\')"/>'
        '<use xlink:href="#a"/><image href="data:image/png;base64,iVBORw0KGgo="/>'
    )
    written = drawings.harmless(svg(body)).svg
    assert written.count("#a") == 3
    assert "data:image/png" in written


def test_entities_are_refused_before_they_grow() -> None:
    lines = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<!DOCTYPE svg [<!ENTITY a0 "ha">{lines}]>'.encode() + svg("<text>&a8;</text>")
    with pytest.raises(AcademyError, match="declares entities"):
        drawings.harmless(bomb)
    outside = b'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    with pytest.raises(AcademyError, match="declares entities"):
        drawings.harmless(outside + svg("<text>&x;</text>"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no SVG, PNG or JPEG"),
        (b"%PDF-1.7 ", "no SVG, PNG or JPEG"),
        (b"<html><body/></html>", "no SVG, PNG or JPEG"),
        (b"<svg", "no well-formed XML"),
        (b"<a><svg/></a>", "outermost element is no svg"),
        (svg("<g>" * 300 + "</g>" * 300), "more elements, or deeper"),
        (svg("<g/>", ""), "does not say how large"),
        (svg("<g/>", 'width="100%"'), "does not say how large"),
        (svg("<g/>", 'width="1e9" height="5"'), "does not say how large"),
        (svg("<g/>", 'viewBox="0 0 0 5"'), "does not say how large"),
        (b"<?xml version='1.0' encoding='klingon'?><svg/>", "encoding is not read"),
        (png(1, 1)[:20] + b"\x00\x01\x00\x00" + b"\x00" * 8, "more than are opened"),
        (b"\xff\xd8\xff\xe0\x00\x04ab", "size cannot be read"),
    ],
)
def test_what_cannot_be_copied_says_why(data: bytes, reason: str) -> None:
    if reason == "more than are opened":
        data = b"\x89PNG\r\n\x1a\n" + b"\x00" * 8 + struct.pack(">II", 100_000, 100_000)
    with pytest.raises(AcademyError, match=reason):
        drawings.harmless(data)


def test_more_bytes_than_are_drawn_are_refused() -> None:
    with pytest.raises(AcademyError, match="larger than"):
        drawings.harmless(b"<svg>" + b" " * drawings.MOST_BYTES)


@given(st.binary(max_size=200), st.integers(0, len(PLAN)), st.integers(0, 30))
@settings(max_examples=200)
def test_damaged_drawings_are_refused_or_well_formed(extra: bytes, at: int, cut: int) -> None:
    data = PLAN[:at] + extra + PLAN[at + cut :]
    try:
        drawing = drawings.harmless(data)
    except AcademyError as error:
        assert str(error)
    else:
        expat.ParserCreate().Parse(drawing.svg, True)
        assert max(drawing.width, drawing.height) <= drawings.SIDE


@pytest.mark.parametrize("data", [PLAN, png(30, 20)], ids=["svg", "png"])
def test_a_drawing_becomes_a_picture(data: bytes) -> None:
    picture = rasterising.drawn(data)
    assert drawings.kind_of(picture) == drawings.PNG
    assert drawings.png_size(picture) == ((1600, 800) if data == PLAN else (30, 20))


def test_the_same_drawing_gives_the_same_picture() -> None:
    assert rasterising.drawn(PLAN) == rasterising.drawn(PLAN)


@pytest.mark.parametrize("face", ["", "serif", "monospace", "No Such Face"])
def test_words_are_drawn_whatever_face_they_ask_for(face: str) -> None:
    asked = f'font-family="{face}"' if face else ""
    words = rasterising.drawn(svg(f'<text x="4" y="16" {asked}>hall</text>'))
    assert words != rasterising.drawn(svg(f'<text x="4" y="16" {asked}> </text>'))


def test_fonts_tell_their_families() -> None:
    families = set(drawing_process.families())
    assert families
    assert drawing_process.chosen_family() in families


@pytest.mark.parametrize(
    "data", [b"", b"\x00\x01\x00\x00" + b"\x00\x09" * 30, b"ttcf" + b"\xff" * 40]
)
def test_a_file_that_is_no_font_names_no_family(tmp_path: Path, data: bytes) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(data)
    with pytest.raises(struct.error):
        drawing_process.family_of(broken)


def test_a_drawing_that_multiplies_itself_is_stopped() -> None:
    groups = ['<g id="g0"><rect width="1" height="1"/></g>']
    for level in range(1, 12):
        uses = f'<use xlink:href="#g{level - 1}"/>' * 10
        groups.append(f'<g id="g{level}">{uses}</g>')
    body = f'<defs>{"".join(groups)}</defs><use xlink:href="#g11"/>'
    with pytest.raises(AcademyError, match=r"cannot be drawn|takes too long"):
        rasterising.drawn(svg(body))


@pytest.mark.parametrize(
    "data",
    [png(30, 20)[:-30], svg('<image href="data:image/png;base64,aGk="/>')],
    ids=["picture", "inside"],
)
def test_a_picture_that_is_none_leaves_no_gap_but_no_copy(data: bytes) -> None:
    with pytest.raises(AcademyError, match="a picture in it cannot be opened"):
        rasterising.drawn(data)


def run_walled(code: str) -> str:
    """What a piece of code prints inside of the walls of the drawing process."""
    folder = str(Path(drawing_process.__file__).parent)
    start = f"import sys; sys.path.insert(0, {folder!r}); import drawing_process as walls\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{start}{code}"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def has_landlock() -> bool:
    return run_walled("print(walls.wall_in())") == "True"


def test_the_drawing_process_opens_no_file_and_no_connection(tmp_path: Path) -> None:
    if not has_landlock():
        pytest.skip("this kernel has no Landlock")
    secret = tmp_path / "secret.svg"
    secret.write_bytes(PLAN)
    opening = f"walls.wall_in(); open({str(secret)!r}, 'rb')"
    assert "PermissionError" in run_walled(opening)
    writing = f"walls.wall_in(); open({str(tmp_path / 'new')!r}, 'wb')"
    assert "PermissionError" in run_walled(writing)
    calling = "import socket; s = socket.socket(); walls.wall_in(); s.connect(('127.0.0.1', 9))"
    assert "PermissionError" in run_walled(calling)


def test_a_drawing_that_was_not_made_harmless_still_shows_no_other_file(tmp_path: Path) -> None:
    if not has_landlock():
        pytest.skip("this kernel has no Landlock")
    secret = tmp_path / "secret.svg"
    secret.write_bytes(PLAN)
    unsafe = svg(f'<image href="{secret}" width="40" height="20"/>')
    command = [sys.executable, "-I", str(rasterising.PROCESS)]
    shown = subprocess.run(command, input=unsafe, capture_output=True, check=True).stdout
    empty = subprocess.run(command, input=svg(""), capture_output=True, check=True).stdout
    assert shown == empty


def test_time_and_memory_are_bounded() -> None:
    spinning = "walls.SECONDS = 1; walls.limit()\nwhile True: pass"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(Path(drawing_process.__file__).parent)!r})\n"
            f"import drawing_process as walls\n{spinning}",
        ],
        check=False,
    )
    assert done.returncode != 0
    assert "MemoryError" in run_walled("walls.limit(); bytearray(2 * 2**30)")
