"""The drawing of a task: where it lies in the upload and whether it is the one declared.

Drawings are hostile input (an SVG can carry script). They are hashed and carried, never opened.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from academy.bundle import JSON, AssetSpec
from academy.errors import Problems
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.reading import Files, line_of, path_problem

MEDIA_TYPES = {
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
}
ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
REF = "/planset/assetRef"
CHUNK = 2**20


def hash_member(files: Files, path: PurePosixPath) -> str:
    """SHA-256 of a member, read in pieces."""
    found = hashlib.sha256()
    with files.open(path) as stream:
        while chunk := stream.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()


def find_drawing(
    document: Mapping[str, JSON],
    *,
    path: PurePosixPath,
    data: bytes,
    files: Files,
    problems: Problems,
) -> AssetSpec:
    """The drawing that a task declares.

    One that is not there, or lies on another host, is a warning: nothing is ever fetched. One
    whose bytes are not the declared ones is an error, and so is a path that leaves the suite.
    """
    planset = mapping(document.get("planset"))
    ref, declared = str(planset["assetRef"]), str(planset["assetHash"])
    kind = MEDIA_TYPES.get(PurePosixPath(ref).suffix.lower(), "")
    bare = AssetSpec(ref=ref, sha256=declared, media_type=kind)
    name, line = str(path), line_of(data, REF)
    if ELSEWHERE.match(ref):
        message = f"the drawing {ref!r} lies outside the upload and is not fetched"
        problems.warn(name, "drawing-elsewhere", message, line=line, pointer=REF)
        return bare
    why = path_problem(ref)
    if why:
        message = f"the path of the drawing {ref!r} {why}"
        problems.error(name, "drawing-path", message, line=line, pointer=REF)
        return bare
    member = path.parent / PurePosixPath(ref)
    if member not in files:
        message = f"the drawing {ref!r} is not in the upload"
        problems.warn(name, "drawing-missing", message, line=line, pointer=REF)
        return bare
    found = hash_member(files, member)
    if found != declared:
        message = f"the drawing {ref!r} is altered: expected {declared}, found {found}"
        where = "/planset/assetHash"
        problems.error(name, "drawing-altered", message, line=line_of(data, where), pointer=where)
    return AssetSpec(ref=ref, sha256=declared, path=str(member), media_type=kind)
