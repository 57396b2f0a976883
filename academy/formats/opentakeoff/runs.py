"""Run bundles: checked, cut into one record per task, and opened again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from academy.bundle import (
    JSON,
    EntrantSpec,
    FileReport,
    FileStatus,
    RecordSpec,
    RunSpec,
    RunUpload,
    SuiteRef,
    SuiteSpec,
)
from academy.canonical import PROTO, ecmascript_json, sha256_hex
from academy.errors import FormatError, Problems
from academy.formats.json_reading import lines_of_items
from academy.formats.opentakeoff.checking import check_values, find_key, read_checked
from academy.formats.opentakeoff.integrity import Integrity, academy_signed, block, verify_bundle
from academy.formats.opentakeoff.layout import is_bundle, is_task, report_other
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.reading import Files, check_text, line_of, pointer, read_json

MOST_STEPS, MOST = 2**31 - 1, 2**53
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A run bundle that could be read; `integrity` is the original's own verdict on it."""

    path: PurePosixPath
    data: bytes
    document: Mapping[str, JSON]
    integrity: Integrity
    co_signed: bool | None

    @property
    def entries(self) -> Sequence[Mapping[str, JSON]]:
        """The entries of the bundle's tasks."""
        listed = self.document["tasks"]
        assert isinstance(listed, Sequence)
        return [mapping(entry) for entry in listed]

    def line(self, where: str) -> int | None:
        """The line of a value."""
        return line_of(self.data, where)


def raw_of(entry: Mapping[str, JSON]) -> bytes:
    """An entry as one compact JSON document; no number and no character of it is changed."""
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def read_bundle(
    path: PurePosixPath, files: Files, suite: SuiteSpec | None, problems: Problems
) -> Bundle | None:
    """Read one bundle, check form, hash and signatures; None when it cannot be taken."""
    read = read_checked("run-bundle", path, files, problems)
    if read is None:
        return None
    name, data, found = str(path), read.data, read.document
    hidden = find_key(found, PROTO)
    if hidden is not None:
        where = pointer(*hidden)
        message = f"a member named {PROTO} is not covered by the bundle's hash"
        problems.error(name, "proto-key", message, line=line_of(data, where), pointer=where)
        return None
    try:
        integrity = verify_bundle(found)
    except ValueError as error:
        problems.error(name, "number-range", f"the bundle has no hash: {error}")
        return None
    keys = suite.attributes.get("academy_keys") if suite else None
    trusted = [str(key) for key in keys] if isinstance(keys, Sequence) else []
    bundle = Bundle(path, data, found, integrity, academy_signed(found, trusted))
    before = problems.total
    check_integrity(bundle, problems)
    check_texts(bundle, problems)
    check_entries(bundle, problems)
    if suite is not None:
        check_suite(bundle, suite, problems)
    return bundle if problems.total == before else None


def check_integrity(bundle: Bundle, problems: Problems) -> None:
    """Refuse a wrong hash or signature by name; tell what could not be checked."""
    name, verdict = str(bundle.path), bundle.integrity
    if not verdict.hash_match:
        where = "/integrity/bundleHash"
        message = (
            f"the bundle's hash does not match: expected {verdict.expected_hash},"
            f" found {verdict.stored_hash}"
        )
        problems.error(name, "bundle-hash", message, line=bundle.line(where), pointer=where)
    stored = block(bundle.document)
    where = "/integrity/signature"
    if verdict.signature_valid is False:
        message = "the entrant's signature does not fit the stored hash and the public key"
        problems.error(name, "signature", message, line=bundle.line(where), pointer=where)
    elif stored.get("signature") and verdict.signature_valid is None:
        message = "the entrant's signature has no public key beside it and was not checked"
        problems.warn(name, "signature-unchecked", message, line=bundle.line(where), pointer=where)
    check_co_signature(bundle, problems)


def check_co_signature(bundle: Bundle, problems: Problems) -> None:
    """A co-signature counts only by a key that came with the suite, never by the bundle's word."""
    name, where = str(bundle.path), "/integrity/academySignature"
    if bundle.co_signed is False:
        message = "the Academy's co-signature is not one by a key that came with the suite"
        problems.error(name, "academy-signature", message, line=bundle.line(where), pointer=where)
    elif block(bundle.document).get("academySignature") and bundle.co_signed is None:
        message = "no Academy key came with the suite, so that the co-signature was not checked"
        problems.warn(
            name, "academy-signature-unchecked", message, line=bundle.line(where), pointer=where
        )
    claimed = mapping(bundle.document["attestation"])["mode"] == "proctored"
    if claimed and not bundle.co_signed:
        where = "/attestation/mode"
        message = "the bundle calls itself proctored, which no checked co-signature proves"
        problems.warn(name, "proctored-unproven", message, line=bundle.line(where), pointer=where)


def check_texts(bundle: Bundle, problems: Problems) -> None:
    """Refuse what no column can hold; the entries are kept as bytes and may hold anything."""
    header = {name: value for name, value in bundle.document.items() if name != "tasks"}
    check_values(header, path=str(bundle.path), data=bundle.data, problems=problems)


def check_entries(bundle: Bundle, problems: Problems) -> None:
    """Refuse two entries of one task: the bundle declares no attempts, so it answers once."""
    name = str(bundle.path)
    first: dict[str, int] = {}
    for place, entry in enumerate(bundle.entries):
        task_id, where = str(entry["taskId"]), f"/tasks/{place}/taskId"
        check_text(task_id, path=name, pointer=where, problems=problems)
        check_telemetry(bundle, place, entry, problems)
        earlier = first.setdefault(task_id, place)
        if earlier != place:
            before = f"/tasks/{earlier}/taskId"
            problems.error(
                name,
                "double-task",
                f"task {task_id!r} is answered at {before} (line {bundle.line(before)}) already,"
                " and a bundle declares one attempt",
                line=bundle.line(where),
                pointer=where,
            )


def check_telemetry(
    bundle: Bundle, place: int, entry: Mapping[str, JSON], problems: Problems
) -> None:
    """Refuse counts that no column holds."""
    for field, value in mapping(entry["telemetry"]).items():
        limit = MOST_STEPS if field == "steps" else MOST
        if (whole(value) or 0) > limit:
            where = pointer("tasks", place, "telemetry", field)
            message = f"{field} is greater than {limit}"
            problems.error(
                str(bundle.path),
                "telemetry-range",
                message,
                line=bundle.line(where),
                pointer=where,
            )


def check_suite(bundle: Bundle, suite: SuiteSpec, problems: Problems) -> None:
    """Hold the bundle against the suite it is imported for.

    Answers to tasks that the suite does not hold are told and kept as records: whoever records
    the run decides about them. A suite may be stored under another name than its own.
    """
    name = str(bundle.path)
    said = mapping(bundle.document["suite"])
    known = names_of(suite)
    if (said["id"], said["version"]) not in known:
        expected = " or ".join(f"{slug} {version}".strip() for slug, version in known)
        message = f"the run is of suite {said['id']} {said['version']}, not of {expected}"
        problems.error(name, "other-suite", message, line=bundle.line("/suite"), pointer="/suite")
    if said["mode"] != suite.mode:
        where = "/suite/mode"
        message = f"the run calls itself {said['mode']}, the suite is {suite.mode}, which counts"
        problems.warn(name, "mode-differs", message, line=bundle.line(where), pointer=where)
    tasks = {task.external_id for task in suite.tasks}
    answered = [str(entry["taskId"]) for entry in bundle.entries]
    for place, task_id in enumerate(answered):
        if task_id not in tasks:
            where = f"/tasks/{place}/taskId"
            message = f"the suite has no task {task_id!r}"
            problems.warn(name, "unknown-task", message, line=bundle.line(where), pointer=where)
    left_out = [task.external_id for task in suite.tasks if task.external_id not in answered]
    if left_out:
        message = f"tasks of the suite that the run does not answer: {', '.join(left_out)}"
        problems.warn(name, "task-omitted", message, pointer="/tasks")


def names_of(suite: SuiteSpec) -> list[tuple[str, str]]:
    """Every id and version by which a bundle may rightly name the suite."""
    known = [(suite.slug, suite.version)]
    manifest = mapping(suite.extra.get("manifest"))
    if manifest:
        known.append((str(manifest.get("id")), str(manifest.get("version"))))
    for task in suite.tasks[:1]:
        said = mapping(task.context.get("suite"))
        known.append((str(said.get("id")), str(said.get("version"))))
    return list(dict.fromkeys(known))


def run_of(bundle: Bundle) -> RunSpec:
    """The header of a run; all of the bundle but its answers is in `extra`."""
    document = bundle.document
    suite, contestant = mapping(document["suite"]), mapping(document["contestant"])
    settings = {name: contestant[name] for name in ("adapter", "contact") if name in contestant}
    return RunSpec(
        entrant=EntrantSpec(
            name=str(contestant["name"]),
            model=str(contestant["modelId"]),
            harness=str(contestant.get("harness") or ""),
            settings=settings,
        ),
        external_id=str(document["runId"]),
        suite=SuiteRef(
            slug=str(suite["id"]), version=str(suite["version"]), mode=str(suite["mode"])
        ),
        started_at=str(mapping(document["telemetry"]).get("startedAt") or ""),
        verification="reproduced" if bundle.co_signed else "supplied",
        extra={
            "header": {name: value for name, value in document.items() if name != "tasks"},
            "order": [str(entry["taskId"]) for entry in bundle.entries],
        },
        duplicate_digest=bundle.integrity.expected_hash,
    )


def record_of(
    entry: Mapping[str, JSON],
    *,
    run: int = 0,
    replicate: int = 1,
    file: str = "",
    line: int | None = None,
) -> RecordSpec:
    """One entry of a bundle as a record. An empty answer is an answer."""
    telemetry = mapping(entry.get("telemetry"))
    return RecordSpec(
        task_id=str(entry.get("taskId")),
        raw=raw_of(entry),
        run=run,
        replicate=replicate,
        steps=whole(telemetry.get("steps")),
        wall_ms=whole(telemetry.get("wallMs")),
        tokens_in=whole(telemetry.get("tokensIn")),
        tokens_out=whole(telemetry.get("tokensOut")),
        content_digest=sha256_hex(ecmascript_json(entry, keep_proto=True)),
        file=file,
        line=line,
    )


def whole(value: JSON) -> int | None:
    """A whole number, also one written as 5.0; anything else is None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value // 1 else None


def tell_unreadable(files: Files, problems: Problems) -> None:
    """Note why no bundle is here: documents that cannot be read, or none at all."""
    for path in files:
        if path.suffix.lower() == ".json":
            try:
                read_json(files[path], path=str(path))
            except FormatError as error:
                problems.extend(error)
    if not problems.total:
        problems.error(".", "no-run", "the upload holds no run bundle")


def parse_run(files: Files, suite: SuiteSpec | None) -> RunUpload:
    """Read every run bundle of an upload. Raises FormatError with every bad place."""
    problems = Problems()
    bundles: list[Bundle] = []
    reports: dict[str, FileReport] = {}
    found_any = False
    for path in files:
        name = str(path)
        if not is_bundle(files, path):
            reports[name] = report_beside(path, files)
            continue
        found_any = True
        bundle = read_bundle(path, files, suite, problems)
        if bundle is None:
            continue
        twin = next((other for other in bundles if same_run(other, bundle)), None)
        if twin is None:
            bundles.append(bundle)
            slug = str(mapping(bundle.document["suite"])["id"])
            reports[name] = FileReport(name, FileStatus.IMPORTED, suite=slug)
        elif twin.integrity.expected_hash == bundle.integrity.expected_hash:
            reason = f"the same bundle as {twin.path}"
            reports[name] = FileReport(name, FileStatus.RECOGNISED, reason)
        else:
            message = f"run {bundle.document['runId']!r} is in {twin.path} with other content"
            problems.error(name, "double-run", message, pointer="/runId")
    if not found_any:
        tell_unreadable(files, problems)
    problems.raise_if_any()
    records = tuple(record for run, bundle in enumerate(bundles) for record in cut(bundle, run))
    return RunUpload(
        runs=tuple(run_of(bundle) for bundle in bundles),
        records=lambda: iter(records),
        files=tuple(reports[path] for path in sorted(reports)),
        notices=tuple(problems.notices),
    )


def same_run(one: Bundle, other: Bundle) -> bool:
    """Whether two bundles give themselves the same id."""
    return one.document["runId"] == other.document["runId"]


def cut(bundle: Bundle, run: int) -> Iterator[RecordSpec]:
    """The records of a bundle, in its order."""
    lines = lines_of_items(bundle.data, "/tasks")
    for entry, line in zip(bundle.entries, lines, strict=True):
        yield record_of(entry, run=run, file=str(bundle.path), line=line)


def report_beside(path: PurePosixPath, files: Files) -> FileReport:
    """What a file is that came with runs and is none."""
    if is_task(path) or path.name == "suite.json":
        reason = "a part of a suite; import it as a suite"
        return FileReport(str(path), FileStatus.RECOGNISED, reason)
    return report_other(path, files)
