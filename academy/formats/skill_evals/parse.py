"""The `evals.json` of agent skills to suites, one per skill; what the schema refuses is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from academy.bundle import (
    JSON,
    AssetSpec,
    CriterionSpec,
    Direction,
    FileReport,
    FileStatus,
    Grading,
    MetricKind,
    MetricSpec,
    SuiteSpec,
    SuiteUpload,
    TaskSpec,
)
from academy.canonical import sha256_hex
from academy.errors import FormatError, Problems, ScoringError
from academy.formats.reading import Files, pointer, read_json
from academy.formats.skill_evals.checking import FOLDER, Reading, check_document
from academy.scorers.rubric import check

NAME = "evals.json"
# Assertions of these forms could be checked by a machine; all others are sentences for people.
CHECKS = (
    "response_contains",
    "response_not_contains",
    "exit_status",
    "artifact_exists",
    "environment_state",
    "activation_evidence_contains",
    "tool_event_count_gte",
)
METRIC = "assertions"
NEIGHBOURS = {
    "trigger-queries.json": "queries that should or should not wake the skill; not cases",
    "trigger-cases.json": "prompts that should or should not wake the skill; not cases",
    "SKILL.md": "the skill itself, which is under test",
}


def claims(files: Files) -> bool:
    """Whether there are evals and no fixtures: a folder with both is more than its evals."""
    if any(path.name == "task.yaml" for path in files):
        return False
    return any(is_evals(path) and b'"skill_name"' in files.head(path) for path in files)


def is_evals(path: PurePosixPath) -> bool:
    """Whether a file lies where a skill keeps its evals, or at the top of the upload."""
    return path.name == NAME and path.parent.name in ("", FOLDER)


def parse_suite(files: Files) -> SuiteUpload:
    """A suite for every evals.json. Raises FormatError with every bad place of all of them."""
    problems = Problems()
    notices = Problems()
    suites: list[SuiteSpec] = []
    for path in files:
        if is_evals(path):
            suite = read_suite(files, path, problems, notices)
            if suite is not None:
                refuse_double(suite, path, suites, problems)
                suites.append(suite)
    problems.raise_if_any()
    if not suites:
        raise FormatError.at("", "no-evals", f"the files hold no {FOLDER}/{NAME}")
    return SuiteUpload(
        suites=tuple(suites),
        files=tuple(reports(files, suites)),
        notices=tuple(notices.notices),
    )


def refuse_double(
    suite: SuiteSpec, path: PurePosixPath, earlier: Sequence[SuiteSpec], problems: Problems
) -> None:
    """One skill has one evals.json."""
    for one in earlier:
        if one.slug == suite.slug:
            said = f"the skill {suite.extra['skill_name']!r} already has {one.sources[0]}"
            problems.error(str(path), "double-skill", said, pointer="/skill_name")


def read_suite(
    files: Files, path: PurePosixPath, problems: Problems, notices: Problems
) -> SuiteSpec | None:
    """The suite of one document, or None with the reasons among the problems."""
    data = files[path]
    try:
        document = read_json(data, path=str(path))
    except FormatError as error:
        problems.extend(error)
        return None
    if not check_document(Reading(data, path, problems), document):
        return None
    return build_suite(files, path, mapping(document), problems, notices)


def mapping(value: JSON) -> Mapping[str, JSON]:
    """The value as an object, which it was found to be."""
    return value if isinstance(value, Mapping) else {}


def build_suite(
    files: Files,
    path: PurePosixPath,
    document: Mapping[str, JSON],
    problems: Problems,
    notices: Problems,
) -> SuiteSpec:
    """The suite of a document without errors."""
    skill = str(document["skill_name"])
    cases = document["evals"]
    listed = cases if isinstance(cases, list) else []
    base = path.parent.parent if path.parent.name == FOLDER else path.parent
    tasks = tuple(
        build_task(files, case, path, base, place, notices)
        for place, case in enumerate(listed)
        if isinstance(case, Mapping)
    )
    for task in tasks:
        refuse_unscorable(task, path, problems)
    return SuiteSpec(
        slug=f"{skill}-evals",
        title=f"Evaluation cases of the skill {skill}",
        description=f"{len(tasks)} cases, {sum(len(one.criteria) for one in tasks)} assertions.",
        format="skill_evals",
        tasks=tasks,
        metrics=(
            MetricSpec(
                key=METRIC,
                label="Assertions met",
                direction=Direction.UP,
                kind=MetricKind.GRADED,
                low=0.0,
                high=1.0,
                missing=0.0,
            ),
        ),
        sealed=True,
        extra={"skill_name": skill, "path": str(path), "top_order": list(document)},
        sources=(str(path), *dict.fromkeys(one.path for task in tasks for one in task.assets)),
    )


def build_task(
    files: Files,
    case: Mapping[str, JSON],
    path: PurePosixPath,
    base: PurePosixPath,
    place: int,
    notices: Problems,
) -> TaskSpec:
    """A case as a task: what was expected is sealed, each assertion is a question for a person."""
    assertions = [str(one) for one in listed_in(case, "assertions")]
    criteria = tuple(
        CriterionSpec(
            key=f"assertion-{number}",
            text=text,
            scale="met",
            decided_by="person",
            needs=("expected_output",),
            extra=check_of(text),
        )
        for number, text in enumerate(assertions, start=1)
    )
    weights: list[JSON] = [{"key": one.key, "weight": one.weight} for one in criteria]
    names = [str(one) for one in listed_in(case, "files")]
    for position, name in enumerate(names):
        if base / name not in files:
            said = f"the file {name!r} did not come along"
            at = pointer("evals", place, "files", position)
            notices.warn(str(path), "absent-file", said, pointer=at)
    return TaskSpec(
        external_id=str(case["id"]),
        title=str(case["id"]),
        kind="case",
        prompt=str(case["prompt"]),
        context={"files": list(names)} if names else {},
        gradings=(
            Grading(
                metric=METRIC, scorer="rubric", params={"metric": "rubric", "criteria": weights}
            ),
        ),
        criteria=criteria,
        key={"expected_output": str(case["expected_output"])},
        attributes={"case_set": case.get("case_set", "dev")},
        assets=tuple(
            AssetSpec(ref=name, sha256=sha256_hex(files[base / name]), path=str(base / name))
            for name in names
            if base / name in files
        ),
        extra={"field_order": list(case)},
        source=str(path),
    )


def refuse_unscorable(task: TaskSpec, path: PurePosixPath, problems: Problems) -> None:
    """Refuse a task whose grading could never score anything."""
    for grading in task.gradings:
        try:
            check(task.key, grading.params)
        except ScoringError as error:
            problems.error(str(path), "grading", f"{task.external_id}: {error}")


def listed_in(case: Mapping[str, JSON], name: str) -> Sequence[JSON]:
    """The list of that name, or none."""
    value = case.get(name)
    return value if isinstance(value, list) else []


def check_of(text: str) -> dict[str, JSON]:
    """The machine form of an assertion, told to whoever decides; a sentence has none."""
    name, colon, value = text.partition(":")
    return {"check": name, "value": value} if colon and name in CHECKS else {}


def reports(files: Files, suites: Sequence[SuiteSpec]) -> Iterator[FileReport]:
    """What became of every file."""
    imported = {source: suite.slug for suite in suites for source in suite.sources}
    for path in files:
        if str(path) in imported:
            yield FileReport(str(path), FileStatus.IMPORTED, suite=imported[str(path)])
        else:
            reason = NEIGHBOURS.get(path.name, "no case names it")
            yield FileReport(str(path), FileStatus.RECOGNISED, reason)
