"""The neckbeard oracle: fixtures by three verdicts, the original's command line, the real suite."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from academy.canonical import sha256_hex
from academy.errors import FormatError, Severity
from academy.formats.neckbeard import FORMAT
from academy.formats.neckbeard.compatibility import divergence, schema_verdict
from academy.formats.neckbeard.original import Node, Outcome, cut, run_original
from academy.formats.neckbeard.suites import Examined, examine_suite
from academy.formats.reading import Files
from tests.conformance.base import Check, Context

ROOT = PurePosixPath("fixtures")
FOLDER = PurePosixPath("fixtures/bug-diagnosis/sample-task")
PARSED = 400


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """The bytes of a document of a case, long runs written out."""
    if "text_b64" in document:
        return base64.b64decode(document["text_b64"])
    text = str(document["text"])
    for run in document.get("expand", ()):
        text = text.replace(run["token"], run["repeat"] * run["count"])
    return text.encode()


def differing(pairs: Mapping[str, tuple[object, object]]) -> str | None:
    """The first names under which ours and theirs differ."""
    said = [
        f"{name}: {ours!r}, not {theirs!r}"
        for name, (ours, theirs) in pairs.items()
        if ours != theirs
    ]
    return "; ".join(said) or None


def check_case(case: Mapping[str, Any], _context: Context) -> str | None:
    """A suite of a few documents: runner, schema, journey, and what an import should do."""
    contents = {one["path"]: document_bytes(one) for one in case["documents"]}
    for one in case["documents"]:
        if sha256_hex(contents[one["path"]]) != one["sha256"]:
            return f"the bytes of {one['path']} are not those of the case"
    files = Files.of(contents)
    examined = examine_suite(files, ROOT)
    original = examined.original
    remarks = {remark.code for one in examined.fixtures for remark in one.remarks}
    schema = schema_verdict(examined)
    pairs: dict[str, tuple[object, object]] = {
        "runner verdict": (original.verdict, case["runner_verdict"]),
        "exit": (original.exit, case["runner_exit"]),
        "runner codes": ([one.code for one in original.objections], case["runner_codes"]),
        "gist": ([one.gist for one in original.objections], case["runner_gist"]),
        "files": ([one.file for one in original.objections if one.file], case["runner_files"]),
        "schema": (schema, case["spec_verdict"]),
        "schema codes": (starting(remarks, "S-"), set(case["spec_codes"])),
        "journey codes": (starting(remarks, "J-"), set(case["journey_codes"])),
        "divergence": (divergence(original, schema), case["divergence"]),
    }
    if case["recommended"] != "either":
        pairs["import"] = (import_of(files), case["recommended"])
    return differing(pairs) or differing(readings(examined, case))


def starting(codes: set[str], start: str) -> set[str]:
    """The codes of one family."""
    return {code for code in codes if code.startswith(start)}


def readings(examined: Examined, case: Mapping[str, Any]) -> dict[str, tuple[object, object]]:
    """What the runner's own reader makes of each document that it got to read."""
    seen = {str(one.path): one for one in examined.original.seen}
    pairs: dict[str, tuple[object, object]] = {}
    for document in case["documents"]:
        one = seen.get(document["path"])
        if one is not None:
            parsed = {name: cut(value, PARSED) for name, value in one.fields.items()}
            pairs[f"kind of {one.path}"] = (one.kind, document["runner_kind"])
            pairs[f"fields of {one.path}"] = (parsed, document["runner_parsed"])
    return pairs


def import_of(files: Files) -> str:
    """What an import does: "reject", or accept with or without a warning on a fixture."""
    assert FORMAT.parse_suite is not None
    try:
        upload = FORMAT.parse_suite(files)
    except FormatError:
        return "reject"
    on_fixtures = [one for one in upload.notices if PurePosixPath(one.file) in files]
    warned = any(one.severity is Severity.WARNING for one in on_fixtures)
    return "accept-with-warning" if warned else "accept"


def good_fixture(context: Context) -> bytes:
    """A fixture of the oracle that is valid for everybody."""
    case = next(
        one
        for one in context.oracle["cases"]
        if one["runner_verdict"] == "valid"
        and one["recommended"] == "accept"
        and one["documents"][0]["path"] == str(FOLDER / "task.yaml")
        and "text" in one["documents"][0]
    )
    return document_bytes(case["documents"][0])


def usual(data: bytes, **options: Any) -> Outcome:
    """The runner on a suite of one good fixture."""
    return run_original({FOLDER / "task.yaml": lambda: data}, ROOT, **options)


COMMANDS: Mapping[str, Callable[[bytes], Outcome]] = {
    "suite folder absent": lambda data: run_original(
        {FOLDER / "task.yaml": lambda: data}, PurePosixPath("elsewhere")
    ),
    "--suite not given": lambda data: run_original({FOLDER / "task.yaml": lambda: data}, None),
    "--validate-only with --report": lambda data: usual(data, report="out/report.md"),
    "--report, all valid": lambda data: usual(data, validate_only=False, report="out/report.md"),
    "neither flag, all valid": lambda data: usual(data, validate_only=False),
    "suite is the fixture folder itself, given by its path": lambda data: run_original(
        {FOLDER / "task.yaml": lambda: data}, FOLDER
    ),
    "suite is the fixture folder itself, given as a dot": lambda data: run_original(
        {PurePosixPath("task.yaml"): lambda: data}, PurePosixPath()
    ),
    "a directory is called task.yaml": lambda data: run_original(
        {FOLDER / "task.yaml": lambda: data, ROOT / "x/y/task.yaml": Node.FOLDER}, ROOT
    ),
    "suite holds only a symbolic link to a folder of fixtures": lambda data: run_original(
        {ROOT / "linked": Node.LINK, ROOT / "linked/sample-task/task.yaml": lambda: data}, ROOT
    ),
}
WRITTEN = "out/report.md"


def check_command(case: Mapping[str, Any], context: Context) -> str | None:
    """A call of the original's command line on a tree that its description tells."""
    command = COMMANDS.get(case["case"])
    if command is None:
        return "no tree is known for this description"
    outcome = command(good_fixture(context))
    return differing(
        {
            "exit": (outcome.exit, case["exit"]),
            "stream": (outcome.stream, case["stream"]),
            "report": (outcome.report == WRITTEN, case["gist"].startswith("report written")),
        }
    )


def check_real(case: Mapping[str, Any], context: Context) -> str | None:
    """One number of the shipped suite."""
    folder = context.folder / "fixtures"
    files = Files.of(
        {
            str(path.relative_to(context.folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
    )
    examined = examine_suite(files, ROOT)
    counts = examined.original.counts
    schema = {schema_verdict(examined)}
    total = len(examined.fixtures)
    ours: dict[str, object] = {
        "path": case["case"],
        "exit": examined.original.exit,
        "fixtures": total,
        "single_task": counts["kind"]["single-task"],
        "trajectory": counts["kind"]["trajectory"],
        "by_class": counts["class"],
        "by_visibility_single_task_only": counts["visibility"],
        "adversarial": counts["class"].get("adversarial", 0),
        "trajectory_paths": counts["path"],
        "spec_verdict": f"all {total} {schema.pop()}",
    }
    return differing({case["id"]: (ours.get(case["id"]), case["case"])})


CHECKS: dict[str, Check] = {
    "cases": check_case,
    "command_line": check_command,
    "real_suite": check_real,
}
# Tables that explain the lists: words, codes and counts of the oracle's own making.
NOT_CASES = {
    "upstream",
    "loaders",
    "how_to_read",
    "runner_codes",
    "spec_codes",
    "journey_codes",
    "counts",
}
