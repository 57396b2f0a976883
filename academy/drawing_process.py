"""Draws one SVG document from standard input as a PNG to standard output, in a walled process.

Run as a file by `academy.rasterising`, with nothing of the project on its path. The document was
made harmless before; these walls hold if it was not: no memory, time, file, process or connection
beyond what drawing needs.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import resvg_py

FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")
MEMORY = 2**30
SECONDS = 10
NO_FONT, REFUSED = 3, 4
# Plain faces that read well on drawings; any other serves where none of them is there.
PREFERRED = ("DejaVu Sans", "Liberation Sans", "Noto Sans", "Open Sans", "FreeSans")
MOST_NAMES = 2**16
TYPOGRAPHIC_FAMILY, FAMILY = 16, 1

SYS_CREATE_RULESET, SYS_ADD_RULE, SYS_RESTRICT_SELF = 444, 445, 446
VERSION_FLAG, PATH_BENEATH, NO_NEW_PRIVILEGES = 1, 1, 38
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
# Rights by the version of the interface that brought them: files, then connections.
FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
NET_RIGHTS = {4: 0b11}


class Ruleset(ctypes.Structure):
    """What a Landlock ruleset decides; whatever it names is forbidden unless a rule allows it."""

    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64))


class Beneath(ctypes.Structure):
    """What is allowed beneath a folder."""

    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def wall_in() -> bool:
    """Let this process open nothing but fonts, where the kernel can (Landlock)."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    version = call(SYS_CREATE_RULESET, None, 0, VERSION_FLAG)
    if version < 1:
        return False
    ruleset = Ruleset(
        sum(bits for since, bits in FILE_RIGHTS.items() if since <= version),
        sum(bits for since, bits in NET_RIGHTS.items() if since <= version),
    )
    size = ctypes.sizeof(Ruleset) if version >= 4 else 8
    held = call(SYS_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if held < 0:
        return False
    for name in FONTS:
        if Path(name).is_dir():
            folder = os.open(name, os.O_PATH | os.O_CLOEXEC)
            rule = Beneath(READ_FILE | READ_FOLDER, folder)
            call(SYS_ADD_RULE, held, PATH_BENEATH, ctypes.byref(rule), 0)
            os.close(folder)
    ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return bool(call(SYS_RESTRICT_SELF, held, 0) == 0)


def limit() -> None:
    """Bound time and memory; no file is written and no process started."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def draw(svg: str, family: str | None) -> bytes:
    """The picture as PNG, on white, since drawings are made for paper.

    Words whose own face is not there are drawn in `family`: the renderer leaves them out where its
    own default is missing.
    """
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            background="white",
            skip_system_fonts=True,
            font_dirs=list(FONTS),
            font_family=family,
            serif_family=family,
            sans_serif_family=family,
            cursive_family=family,
            fantasy_family=family,
            monospace_family=family,
            # Pictures inside that cannot be opened are left out with no more than a warning.
            log_information=True,
        )
    )


def chosen_family() -> str | None:
    """The family that stands for all that are missing; None where there is no font."""
    found = {family for family in families() if family}
    return next((name for name in PREFERRED if name in found), min(found, default=None))


def families() -> Iterator[str]:
    """The families of the machine's fonts, by their files; "" for a file without a name."""
    for folder in FONTS:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix.lower() in (".ttf", ".otf", ".ttc"):
                try:
                    yield family_of(path)
                except (OSError, struct.error, UnicodeDecodeError):
                    continue


def family_of(path: Path) -> str:
    """The family that a font file names itself (OpenType specification, table "name").

    struct.error or UnicodeDecodeError for a file that is cut or no font.
    """
    with path.open("rb") as file:
        kind, first = struct.unpack(">4s8xI", file.read(16))
        start = first if kind == b"ttcf" else 0
        file.seek(start + 4)
        (tables,) = struct.unpack(">H6x", file.read(8))
        listed = struct.iter_unpack(">4s4xII", file.read(16 * tables))
        place, size = next(((at, size) for tag, at, size in listed if tag == b"name"), (0, 0))
        file.seek(place)
        names = file.read(min(size, MOST_NAMES))
    count, texts = struct.unpack_from(">2xHH", names)
    found: dict[int, str] = {}
    for number in range(count):
        platform, what, length, at = struct.unpack_from(">H4xHHH", names, 6 + 12 * number)
        if platform in (0, 3) and what in (TYPOGRAPHIC_FAMILY, FAMILY):
            found.setdefault(what, names[texts + at :][:length].decode("utf-16-be"))
    return found.get(TYPOGRAPHIC_FAMILY) or found.get(FAMILY, "")


def has_font(family: str | None) -> bool:
    """Whether words can be drawn at all."""
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
    return draw(f'{head}<text x="0" y="18">M</text></svg>', family) != draw(f"{head}</svg>", family)


def main() -> int:
    """Draw; 3 when words are to be drawn and there is no font, 4 when nothing can be drawn."""
    svg = sys.stdin.buffer.read().decode("utf-8")
    # The renderer tells its warnings on standard output, where only the picture belongs.
    out = os.dup(1)
    os.dup2(2, 1)
    limit()
    # The machine's own files are no secret to it; a codec may have to be loaded for their names.
    family = chosen_family() if "text" in sys.argv[1:] else None
    wall_in()
    if "text" in sys.argv[1:] and not has_font(family):
        return NO_FONT
    try:
        picture = draw(svg, family)
    except (ValueError, RuntimeError) as error:
        sys.stderr.write(f"{error}\n")
        return REFUSED
    with os.fdopen(out, "wb") as stream:
        stream.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
