"""One `evals.json` held against its schema: every fault with its line and pointer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from academy.bundle import JSON
from academy.errors import Problems
from academy.formats.reading import check_text, line_of, path_problem, pointer

FOLDER = "evals"
TOP = ("schema_version", "skill_name", "evals")
TEXTS = ("prompt", "expected_output")
REQUIRED = ("id", *TEXTS, "assertions")
OPTIONAL = ("files", "case_set")
CASE_SETS = ("dev", "regression", "release")
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
ID_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Reading:
    """Where remarks on one document go, with line and pointer."""

    data: bytes
    path: PurePosixPath
    problems: Problems

    def refuse(self, rule: str, message: str, *parts: str | int) -> None:
        """Note an error at a place of the document."""
        place = pointer(*parts)
        shown = self.problems.total < self.problems.limit
        line = line_of(self.data, place) if shown else None
        self.problems.error(str(self.path), rule, message, line=line, pointer=place)


def check_document(reading: Reading, document: JSON) -> bool:
    """Whether a document is all that the schema asks; if not, every fault is noted."""
    before = reading.problems.total
    if not isinstance(document, Mapping):
        reading.refuse("not-an-object", "the document is not an object")
        return False
    check_top(reading, document)
    cases = document.get("evals")
    listed = cases if isinstance(cases, list) else []
    for place, case in enumerate(listed):
        check_case(reading, case, place)
    check_ids(reading, listed)
    return reading.problems.total == before


def check_top(reading: Reading, document: Mapping[str, JSON]) -> None:
    """The three fields of the top, and nothing else."""
    for name in document:
        if name not in TOP:
            reading.refuse("unknown-field", f"{name!r} is no field of the top", name)
    version = document.get("schema_version")
    if isinstance(version, bool) or version != 1:
        reading.refuse("schema-version", "'schema_version' must be 1", "schema_version")
    skill = document.get("skill_name")
    if not is_text(skill) or not SLUG.fullmatch(str(skill)):
        said = "'skill_name' must be lower-case words joined by hyphens"
        reading.refuse("skill-name", said, "skill_name")
    folder = reading.path.parent.parent.name
    if reading.path.parent.name == FOLDER and folder and skill != folder:
        said = f"'skill_name' must be the name of the skill's folder, {folder!r}"
        reading.refuse("skill-name", said, "skill_name")
    cases = document.get("evals")
    if not isinstance(cases, list) or not cases:
        reading.refuse("no-cases", "'evals' must list at least one case", "evals")


def is_text(value: JSON) -> bool:
    """Whether a value is text with something in it."""
    return isinstance(value, str) and bool(value.strip())


def check_case(reading: Reading, case: JSON, place: int) -> None:
    """One case, every fault of it."""
    here = ("evals", place)
    if not isinstance(case, Mapping):
        reading.refuse("not-an-object", "a case must be an object", *here)
        return
    check_names(reading, case, place)
    if "id" in case and not is_id(case["id"]):
        said = f"'id' must be lower-case words joined by hyphens, {ID_LENGTH} characters at most"
        reading.refuse("case-id", said, *here, "id")
    for name in TEXTS:
        if name in case:
            check_plain(reading, case[name], f"{name!r}", *here, name)
    check_assertions(reading, case, place)
    check_files(reading, case.get("files", []), place)
    if case.get("case_set", "dev") not in CASE_SETS:
        said = f"'case_set' must be one of {', '.join(CASE_SETS)}"
        reading.refuse("case-set", said, *here, "case_set")


def check_names(reading: Reading, case: Mapping[str, JSON], place: int) -> None:
    """Fields that must be there, and fields that must not."""
    here = ("evals", place)
    for name in case:
        if name == "expectations":
            said = "'expectations' is not taken; the field is called 'assertions'"
            reading.refuse("expectations", said, *here, name)
        elif name not in REQUIRED and name not in OPTIONAL:
            reading.refuse("unknown-field", f"{name!r} is no field of a case", *here, name)
    for name in REQUIRED:
        if name not in case:
            reading.refuse("required-field", f"{name!r} is missing", *here)


def is_id(value: JSON) -> bool:
    """Whether a value can name a case."""
    return isinstance(value, str) and len(value) <= ID_LENGTH and bool(SLUG.fullmatch(value))


def check_plain(reading: Reading, value: JSON, what: str, *parts: str | int) -> None:
    """Text that says something and that a text column can hold."""
    if not isinstance(value, str) or not value.strip():
        reading.refuse("blank-text", f"{what} must be text that is not blank", *parts)
        return
    check_text(
        value,
        path=str(reading.path),
        pointer=pointer(*parts),
        problems=reading.problems,
        line=line_of(reading.data, pointer(*parts)),
    )


def check_assertions(reading: Reading, case: Mapping[str, JSON], place: int) -> None:
    """One or more texts, each its own."""
    here = ("evals", place, "assertions")
    if "assertions" not in case:
        return
    listed = case["assertions"]
    if not isinstance(listed, list) or not listed:
        reading.refuse("assertions", "'assertions' must list at least one text", *here)
        return
    given: set[str] = set()
    for position, text in enumerate(listed):
        check_plain(reading, text, "an assertion", *here, position)
        if isinstance(text, str):
            if text in given:
                reading.refuse("double-assertion", "the assertion is given twice", *here, position)
            given.add(text)


def check_files(reading: Reading, listed: JSON, place: int) -> None:
    """Relative paths inside the skill's folder, each once."""
    here = ("evals", place, "files")
    if not isinstance(listed, list):
        reading.refuse("files", "'files' must be a list of paths", *here)
        return
    given: set[str] = set()
    for position, name in enumerate(listed):
        if not isinstance(name, str):
            reading.refuse("files", "a path must be text", *here, position)
            continue
        parts = name.split("/")
        why = path_problem(name)
        if why is None and any(part in ("", ".") for part in parts):
            why = "has an empty or a dot part"
        if why is not None:
            reading.refuse("unsafe-path", f"the path {name!r} {why}", *here, position)
        if name in given:
            reading.refuse("double-path", f"the path {name!r} is given twice", *here, position)
        given.add(name)


def check_ids(reading: Reading, cases: Sequence[JSON]) -> None:
    """Ids are unique in the file."""
    first: dict[str, int] = {}
    for place, case in enumerate(cases):
        name = case.get("id") if isinstance(case, Mapping) else None
        if not isinstance(name, str):
            continue
        if name in first:
            said = f"the id {name!r} is already that of case {first[name]}"
            reading.refuse("double-id", said, "evals", place, "id")
        first.setdefault(name, place)
