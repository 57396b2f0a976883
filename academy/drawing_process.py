"""Draws one SVG document from standard input as a PNG to standard output, in a walled process.

Run as a file by `academy.rasterising`, with nothing of the project on its path. The document was
made harmless before; these walls hold if it was not: no memory, time, file, process or connection
beyond what drawing needs.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from pathlib import Path

import resvg_py

FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")
MEMORY = 2**30
SECONDS = 10
NO_FONT, REFUSED = 3, 4

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


def draw(svg: str) -> bytes:
    """The picture as PNG, on white, since drawings are made for paper."""
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            background="white",
            skip_system_fonts=True,
            font_dirs=list(FONTS),
            # Pictures inside that cannot be opened are left out with no more than a warning.
            log_information=True,
        )
    )


def has_font() -> bool:
    """Whether words can be drawn at all."""
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
    return draw(f'{head}<text x="0" y="18">M</text></svg>') != draw(f"{head}</svg>")


def main() -> int:
    """Draw; 3 when words are to be drawn and there is no font, 4 when nothing can be drawn."""
    svg = sys.stdin.buffer.read().decode("utf-8")
    # The renderer tells its warnings on standard output, where only the picture belongs.
    out = os.dup(1)
    os.dup2(2, 1)
    limit()
    wall_in()
    if "text" in sys.argv[1:] and not has_font():
        return NO_FONT
    try:
        picture = draw(svg)
    except (ValueError, RuntimeError) as error:
        sys.stderr.write(f"{error}\n")
        return REFUSED
    with os.fdopen(out, "wb") as stream:
        stream.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
