"""From result folders to runs: attempts, verdicts of both judges, and the grader's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from academy.bundle import (
    EntrantSpec,
    FileReport,
    FileStatus,
    RecordSpec,
    RunSpec,
    RunUpload,
    SuiteRef,
    SuiteSpec,
)
from academy.errors import FormatError, Problems
from academy.formats.mypcbench.attempts import (
    BUNDLE,
    MACHINE,
    Attempt,
    RunFolder,
    bundle_of,
    find_runs,
    member,
    read_attempt,
    read_member,
)
from academy.formats.mypcbench.documents import check_texts
from academy.formats.mypcbench.records import record_of
from academy.formats.mypcbench.verdicts import check_bundle, read_verdicts, wanted_rubrics
from academy.formats.reading import Files, check_text

UNNAMED = "unnamed entrant"


def parse_run(files: Files, suite: SuiteSpec | None) -> RunUpload:
    """Every run of the files. Attempts are checked first, and read again when asked for.

    With a suite, verdicts must be on its rubrics: the same verdicts score differently under
    another revision. Raises FormatError with all errors.
    """
    problems = Problems()
    runs, reasons = find_runs(files)
    if not runs:
        problems.error("", "no-attempts", "These files hold no attempt of this format.")
    specs, rows = [], []
    for folder in runs:
        run_files = _read_run_files(files, folder, problems)
        rows.append(_rows_of(run_files))
        specs.append(_run_spec(files, folder, run_files, suite, problems))
    for number, folder in enumerate(runs):
        _check_attempts(files, folder, number, rows[number], suite, problems)
    problems.raise_if_any()

    def records() -> Iterator[RecordSpec]:
        for number, folder in enumerate(runs):
            for attempt in folder.attempts:
                _, record = _read_record(files, attempt, number, rows[number], suite, Problems())
                yield record

    return RunUpload(
        runs=tuple(specs),
        records=records,
        files=tuple(
            FileReport(str(path), FileStatus.RECOGNISED, reasons[path])
            if path in reasons
            else FileReport(str(path), FileStatus.IMPORTED)
            for path in files
        ),
        notices=tuple(problems.notices),
    )


def _read_run_files(files: Files, folder: RunFolder, problems: Problems) -> dict[str, Any]:
    """The grader's and runner's files about the whole run, by path within it."""
    read: dict[str, Any] = {}
    for path in folder.run_files:
        try:
            value = read_member(files, path)
        except FormatError as error:
            problems.extend(error)
            continue
        check_texts(value, str(path), "", problems)
        read[str(path.relative_to(folder.root))] = value
    return read


def _rows_of(run_files: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The grader's rows by the folder of the attempt within the run."""
    rows: dict[str, Mapping[str, Any]] = {}
    for name, value in run_files.items():
        path = PurePosixPath(name)
        listed = member(value, "rows")
        if path.name != "scores.json" or not isinstance(listed, list):
            continue
        for row in listed:
            if isinstance(row, Mapping) and isinstance(row.get("task_id"), str):
                rows[str(path.parent / row["task_id"])] = row
    return rows


def _run_spec(
    files: Files,
    folder: RunFolder,
    run_files: Mapping[str, Any],
    suite: SuiteSpec | None,
    problems: Problems,
) -> RunSpec:
    name = folder.root.name or _named_by_scores(run_files) or UNNAMED
    check_text(name, path=str(folder.root), pointer="", problems=problems)
    ref = SuiteRef(slug=suite.slug, version=suite.version) if suite is not None else SuiteRef()
    return RunSpec(
        entrant=EntrantSpec(name=name[:200], model=_model_of(files, folder)),
        external_id=folder.root.name,
        suite=ref,
        results=_results_of(run_files),
        extra={"root": str(folder.root), "files": run_files},
    )


def _named_by_scores(run_files: Mapping[str, Any]) -> str:
    named = member(run_files.get("scores.json"), "result_dir")
    name = PurePosixPath(named).name if isinstance(named, str) else ""
    return "" if MACHINE.fullmatch(name) or name.startswith("<") else name


def _model_of(files: Files, folder: RunFolder) -> str:
    """The model, where some usage file names one; the runner itself does not write it."""
    for attempt in folder.attempts:
        for path in attempt.files:
            if path.name != "usage.json":
                continue
            try:
                model = member(read_member(files, path), "model")
            except FormatError:
                continue
            if isinstance(model, str) and 0 < len(model) <= 200 and model.isprintable():
                return model
    return ""


def _results_of(run_files: Mapping[str, Any]) -> Mapping[str, float]:
    """The headline numbers that the grader wrote, when one file covers the whole run."""
    scores = run_files.get("scores.json")
    found = {}
    for metric, key in (("perfect", "perfect_rate"), ("rubric", "avg_score")):
        value = member(scores, key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[metric] = float(value)
    return MappingProxyType(found)


def _check_attempts(
    files: Files,
    folder: RunFolder,
    number: int,
    rows: Mapping[str, Mapping[str, Any]],
    suite: SuiteSpec | None,
    problems: Problems,
) -> None:
    """Read every attempt once for its errors; a task may be there once only."""
    places: dict[str, Attempt] = {}
    seen_rows = set()
    for attempt in folder.attempts:
        task_id, _ = _read_record(files, attempt, number, rows, suite, problems)
        seen_rows.add(str(attempt.folder))
        first = places.setdefault(task_id, attempt)
        if first is not attempt:
            problems.error(
                str(attempt.place),
                "duplicate-attempt",
                f"The task {task_id} was also attempted in {first.place}.",
            )
        elif suite is not None and suite.task(task_id) is None:
            problems.warn(str(attempt.place), "unknown-task", f"The suite has no task {task_id}.")
    for name in sorted(set(rows) - seen_rows):
        problems.warn(
            str(folder.root / "scores.json"),
            "row-without-attempt",
            f"The grader counts {name}, but there is no such attempt in the upload.",
        )


def _read_record(
    files: Files,
    attempt: Attempt,
    number: int,
    rows: Mapping[str, Mapping[str, Any]],
    suite: SuiteSpec | None,
    problems: Problems,
) -> tuple[str, RecordSpec]:
    """One attempt as a record. Errors are noted; the record is of use only when there are none."""
    document = read_attempt(files, attempt, problems)
    place = str(attempt.place)
    if not isinstance(document["files"].get(BUNDLE, {}), Mapping):
        problems.error(f"{place}/{BUNDLE}", "not-an-object", "A bundle must be an object.")
    task_id = _task_id(attempt, document, problems)
    check_bundle(document, task_id, suite, path=f"{place}/{BUNDLE}", problems=problems)
    wanted = wanted_rubrics(document, task_id, suite)
    decisions: Sequence[Any] = read_verdicts(document, wanted, folder=place, problems=problems)
    return task_id, record_of(
        task_id,
        document,
        run=number,
        folder=place,
        decisions=decisions,
        row=rows.get(str(attempt.folder)),
    )


def _task_id(attempt: Attempt, document: Mapping[str, Any], problems: Problems) -> str:
    """The task's id: the folder's name, or for a bare folder the id in the bundle."""
    if attempt.place.name:
        check_text(attempt.place.name, path=str(attempt.place), pointer="", problems=problems)
        return attempt.place.name
    named = member(bundle_of(document), "task", "id")
    if isinstance(named, str) and named:
        return named
    problems.error(".", "no-task-id", "Neither a folder nor a bundle names the task.")
    return ""
