"""Reads the index of a datastore's flat view: it names records and holds none."""

from __future__ import annotations

from academy.canonical import sha256_hex
from academy.errors import Problems
from academy.formats.every_eval_ever.values import as_map, as_text
from academy.formats.reading import Files, read_jsonl

PARTS = 5


def check_index(files: Files, path: str, problems: Problems) -> str:
    """Compare the objects an index names with the members that are here; what it was, in words."""
    tails = {"/".join(member.parts[-PARTS:]): member for member in files}
    rows = agreeing = 0
    with files.open(path) as stream:
        for line in read_jsonl(stream, path=path, problems=problems):
            rows += 1
            row = as_map(line.value)
            names = (as_text(row.get("object_path")), as_text(row.get("legacy_path")))
            member = next((tails[name] for name in names if name in tails), None)
            if member is None:
                continue
            if sha256_hex(files[member]) == as_text(row.get("sha256")).lower():
                agreeing += 1
                continue
            message = f"{member} is not the object whose sha256 the index tells"
            problems.warn(path, "index-digest", message, line=line.number, pointer="/sha256")
    return f"an index of {rows} objects, which are records elsewhere; {agreeing} here agree with it"
