"""Uploads of runs: observations in pieces, one run per run id, model and scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

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
from academy.canonical import digest
from academy.errors import Problems
from academy.formats.doc_bridge.documents import RUN_TYPES, Document, read_members, refused
from academy.formats.doc_bridge.pieces import (
    Found,
    Piece,
    holds_observations,
    is_lines,
    read_lines,
    read_piece,
)
from academy.formats.doc_bridge.placing import Placing
from academy.formats.doc_bridge.plans import PLAN
from academy.formats.doc_bridge.records import Provenance, is_bare, record_of
from academy.formats.doc_bridge.safety import scan
from academy.formats.doc_bridge.studies import BINDING
from academy.formats.doc_bridge.suites import SUITE
from academy.formats.doc_bridge.tasks import slug_of
from academy.formats.reading import Files

RunKey = tuple[str, str, str]
NAME_LENGTH: Final = 200
BESIDE: Final = "read beside the observations; load it with its suite to keep it"


@dataclass(slots=True)
class Study:
    """What a run upload says besides observations, and what its suite already knows."""

    plans: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    bindings: list[Mapping[str, Any]] = field(default_factory=list)
    suites: dict[str, SuiteRef] = field(default_factory=dict)

    def add(self, value: Any) -> None:
        """Take in a plan or a binding; everything else is nothing to a run."""
        if not isinstance(value, Mapping):
            return
        if value.get("type") == PLAN.type:
            self.plans[str(value["contentHash"])] = value
        elif value.get("type") == BINDING.type:
            self.bindings.append(value)

    def behind(self, plan_hash: str) -> Provenance:
        """The plan of that hash and what vouches for it."""
        return Provenance.of(self.plans.get(plan_hash), self.bindings)


def parse_run(files: Files, suite: SuiteSpec | None) -> RunUpload:
    """Every run of the files. Raises FormatError with every defect of every observation."""
    problems = Problems()
    documents, reports = read_members(files, problems, mandatory=RUN_TYPES)
    pieces = list(read_pieces(files, documents, problems))
    study = study_of(documents, suite)
    reports += [report_beside(found) for found in documents if not holds_observations(found)]
    reports += [FileReport(piece.path, FileStatus.IMPORTED) for piece in pieces]
    problems.raise_if_any()
    found = [one for piece in pieces for one in piece.found]
    if not found:
        first = next((str(path) for path in files), "")
        problems.error(first, "empty", "there is no observation in these files")
    check_plans(found, study, suite, problems)
    members = group(found)
    runs = [run_of(key, held, pieces, study, suite) for key, held in members.items()]
    check_models(members, problems)
    records = Records(members, study, Placing(suite), problems).collect()
    note(found, study, problems)
    problems.raise_if_any()
    return RunUpload(
        runs=tuple(runs),
        records=lambda: iter(records),
        files=tuple(sorted(reports, key=lambda report: report.path)),
        notices=tuple(problems.notices),
    )


def read_pieces(files: Files, documents: Sequence[Document], problems: Problems) -> Iterator[Piece]:
    """The files that hold observations, in order of paths."""
    by_path: dict[str, Piece] = {}
    for document in documents:
        if holds_observations(document):
            piece = read_piece(document, problems)
            if piece is not None:
                by_path[piece.path] = piece
    for path in files:
        if is_lines(files, path):
            piece = read_lines(files, path, problems)
            if piece is not None:
                by_path[piece.path] = piece
    for name in sorted(by_path):
        yield by_path[name]


def study_of(documents: Sequence[Document], suite: SuiteSpec | None) -> Study:
    """Plans and bindings of the upload, then those kept with the suite."""
    study = Study()
    for document in documents:
        if document.defects:
            continue
        study.add(document.value)
        if document.kind is SUITE:
            version = document.value["suiteVersion"]
            named = SuiteRef(slug=slug_of(document.path, version), version=version)
            study.suites[document.hash] = named
    kept = suite.extra.get("companions") if suite is not None else None
    for value in kept.values() if isinstance(kept, Mapping) else ():
        study.add(value)
    return study


def report_beside(document: Document) -> FileReport:
    """The report on a document of the study that holds no observation."""
    if document.defects:
        return refused(document)
    return FileReport(document.path, FileStatus.RECOGNISED, BESIDE)


def group(found: Sequence[Found]) -> dict[RunKey, list[Found]]:
    """Observations by run id, model and scenario, in order of these."""
    members: dict[RunKey, list[Found]] = {}
    for one in found:
        observation = one.observation
        key = (observation["runId"], observation["model"]["id"], observation["scenario"]["id"])
        members.setdefault(key, []).append(one)
    return dict(sorted(members.items()))


def run_of(
    key: RunKey,
    found: Sequence[Found],
    pieces: Sequence[Piece],
    study: Study,
    suite: SuiteSpec | None,
) -> RunSpec:
    """The header of one run. It stays open, since further pieces may follow."""
    run_id, _model, scenario = key
    first = found[0].observation
    hashes = sorted({one.observation["planHash"] for one in found})
    files = {one.file for one in found}
    provenance = study.behind(hashes[0])
    plan = provenance.plan or {}
    return RunSpec(
        entrant=entrant_of(first["model"]),
        external_id=run_id,
        suite=suite_ref(plan, suite, study, hashes[0]),
        scenario=scenario,
        started_at=min(one.observation["observedAt"] for one in found),
        limits=dict(plan.get("budget", {})),
        closed=False,
        extra={
            "model": first["model"]["id"],
            "scenario": first["scenario"],
            "rounds": sorted({one.observation.get("round", "unassigned") for one in found}),
            "plan_hashes": list(hashes),
            "plan_version": plan.get("planVersion"),
            "sampling": plan.get("sampling"),
            "suite_hash": plan.get("taskSuiteHash"),
            "protocol_hash": plan.get("protocolHash"),
            "source_revision": plan.get("sourceRevisionHash"),
            "configuration_hash": plan.get("configurationHash"),
            "verification_run_id": provenance.verification_run_id,
            "ledgers": {
                piece.path: {"head": piece.head, "observations": len(piece.found)}
                for piece in pieces
                if piece.path in files
            },
        },
    )


def suite_ref(
    plan: Mapping[str, Any], suite: SuiteSpec | None, study: Study, plan_hash: str
) -> SuiteRef:
    """The suite that is known, else the one of the upload or none that the plan names by hash."""
    if suite is not None:
        return SuiteRef(slug=suite.slug, version=suite.version, mode=suite.mode)
    named = plan.get("taskSuiteHash", "")
    return study.suites.get(named, SuiteRef(digest=named, plan=plan_hash))


def entrant_of(model: Mapping[str, Any]) -> EntrantSpec:
    """The model with its harness and settings. The id in the study is only a role there."""
    return EntrantSpec(
        name=within(f"{model['model']} ({model['version']})"),
        model=within(model["model"]),
        harness=within(f"{model['provider']} {model['version']}"),
        settings=dict(model),
    )


def within(name: str) -> str:
    """A name that fits; a longer one is cut and told apart by its digest."""
    return name if len(name) <= NAME_LENGTH else f"{name[:180]}~{digest(name)[:12]}"


def check_plans(
    found: Sequence[Found], study: Study, suite: SuiteSpec | None, problems: Problems
) -> None:
    """The plan of an observation, where it is known, must be for this suite, run and task."""
    known = suite.attributes.get("suite_hash") if suite is not None else None
    for one in found:
        plan = study.plans.get(one.observation["planHash"])
        if plan is None:
            continue
        task = one.observation["task"]["taskId"]
        models = {model["id"]: model for model in plan["models"]}
        for wrong, message in (
            (known not in (None, plan["taskSuiteHash"]), "its plan is for another suite"),
            (plan["runId"] != one.observation["runId"], "its plan is for another run id"),
            (task not in plan["taskIds"], f"its plan does not have the task {task}"),
            (
                models.get(one.observation["model"]["id"]) != one.observation["model"],
                "its plan has other settings for the model",
            ),
        ):
            if wrong:
                problems.error(
                    one.file, "plan", f"observation {one.index}: {message}", line=one.line
                )


def check_models(members: Mapping[RunKey, Sequence[Found]], problems: Problems) -> None:
    """Inside one run a model id stands for one model with one set of settings."""
    for (run_id, model, _scenario), found in members.items():
        first = found[0]
        for one in found[1:]:
            if one.observation["model"] != first.observation["model"]:
                problems.error(
                    one.file,
                    "model",
                    f"run {run_id} has other settings for {model} at {first.place}",
                    line=one.line,
                )


@dataclass(slots=True)
class Records:
    """Makes the records of an upload, each execution once."""

    members: Mapping[RunKey, Sequence[Found]]
    study: Study
    placing: Placing
    problems: Problems

    def collect(self) -> list[RecordSpec]:
        """All records by run, then in the order in which they came."""
        return [
            record
            for number, found in enumerate(self.members.values())
            for record in self.of_run(number, found)
        ]

    def of_run(self, number: int, found: Sequence[Found]) -> list[RecordSpec]:
        """The records of one run. The same execution again adds its verdicts and no record."""
        records: dict[tuple[str, int, int], RecordSpec] = {}
        places: dict[tuple[str, int, int], Found] = {}
        for one in found:
            variant = self.placing.place(one, self.problems)
            if variant is None:
                continue
            record = record_of(
                one.observation,
                run=number,
                variant=variant,
                provenance=self.study.behind(one.observation["planHash"]),
                file=one.file,
                index=one.index,
                line=one.line,
            )
            key = (record.task_id, record.replicate, record.variant)
            known = records.get(key)
            if known is None:
                records[key], places[key] = record, one
            elif known.content_digest != record.content_digest:
                self.refuse(one, places[key])
            else:
                records[key] = with_verdicts(known, record)
        return list(records.values())

    def refuse(self, one: Found, other: Found) -> None:
        """Two observations of one execution that do not agree."""
        run_id = one.observation["runId"]
        same = {**one.observation["task"], "difficulty": None} == {
            **other.observation["task"],
            "difficulty": None,
        }
        why = "" if same else " in the repository or category of its task"
        self.problems.error(
            one.file,
            "double-record",
            f"run {run_id} has this execution with different contents{why} at {other.place}",
            line=one.line,
        )


def with_verdicts(known: RecordSpec, again: RecordSpec) -> RecordSpec:
    """The first record, with verdicts that only the later one has."""
    more = tuple(one for one in again.decisions if one not in known.decisions)
    return replace(known, decisions=known.decisions + more)


def note(found: Sequence[Found], study: Study, problems: Problems) -> None:
    """Say what is allowed and still worth knowing."""
    unknown = sorted({one.observation["planHash"] for one in found} - set(study.plans))
    for plan_hash in unknown:
        first = next(one for one in found if one.observation["planHash"] == plan_hash)
        problems.warn(
            first.file,
            "unknown-plan",
            f"the plan {plan_hash} is neither in the upload nor kept with the suite, so suite "
            "hash, protocol hash and source revision of its observations are not known",
        )
    by_file: dict[str, list[Found]] = {}
    for one in found:
        by_file.setdefault(one.file, []).append(one)
    for file, held in by_file.items():
        note_file(file, held, problems)


def note_file(file: str, found: Sequence[Found], problems: Problems) -> None:
    """One notice of each kind for a file, with the first place and how many there are."""
    bare = [one for one in found if is_bare(one.observation["adjudication"])]
    if bare:
        problems.warn(
            file,
            "bare-verdict",
            f"{len(bare)} human verdicts without actor, method, outcome and reason decide "
            f"nothing; the first is on observation {bare[0].index}",
            line=bare[0].line,
        )
    unsafe = [(one, place) for one in found for place in scan(dict(one.observation)).forbidden]
    if unsafe:
        first, place = unsafe[0]
        problems.warn(
            file,
            "privacy-scan",
            f"{len(unsafe)} places hold what may not be published; the first is {place} of "
            f"observation {first.index}",
            line=first.line,
        )
