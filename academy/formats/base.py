"""What a format is: a constant named FORMAT that says what its folder can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from academy.bundle import (
    JSON,
    FindingSpec,
    KeyQuantity,
    KeyUpload,
    PlanSpec,
    RatedQuantity,
    RecordSpec,
    RecordView,
    ResultSpec,
    RunSpec,
    RunUpload,
    ScoredRecord,
    SuiteSpec,
    SuiteUpload,
    TaskSpec,
    nothing,
)
from academy.errors import Problem
from academy.formats.reading import Files
from academy.scorers.base import Mode, Scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateContext:
    """What a suite result may depend on besides scores.

    `attributes` holds what the upload says of the run. `facts` hold what this site has recorded and
    no upload can say, by metric and slice: `human_baseline` (the best complete human run),
    `earlier_windows` (windows the entrant passed before) and `in_window` (whether the run came in
    while one was open).
    """

    suite: SuiteSpec
    mode: Mode
    attributes: Mapping[str, JSON] = field(default_factory=nothing)
    facts: Mapping[str, JSON] = field(default_factory=nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPolicy:
    """A board that a format proposes for a version.

    `where` selects tasks by attribute, `evidence` is "people", "judge" or "judge_audited",
    `origin` is "computed" or "reported". An unranked board lists and never orders.
    """

    slug: str
    title: str
    metric: str
    mode: Mode = Mode.STRICT
    origin: str = "computed"
    evidence: str = "people"
    where: Mapping[str, JSON] = field(default_factory=nothing)
    secondary: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    cluster: str = ""
    coverage: float = 1.0
    ranked: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class CertificateCheck:
    """One thing looked at in a certificate; `ok` is None for a remark that decides nothing."""

    name: str
    ok: bool | None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateReading:
    """What a format makes of somebody else's certificate in its form; it is believed in nothing.

    `state` is "valid", "self_reported", "unverified" (signed, but no key was at hand), "invalid",
    "expired" or "revoked", with the reason. `facts` are what it claims, by label.
    """

    title: str
    state: str
    reason: str
    checks: tuple[CertificateCheck, ...] = ()
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateQuestion:
    """By what a certificate is checked: public keys in PEM, the time, and ids known as revoked."""

    keys: tuple[str, ...] = ()
    at: datetime
    revoked: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswers:
    """Raw records that must come out at the floor and the ceiling, or the reason there are none."""

    null: bytes | None = None
    shotgun: bytes | None = None
    oracle: bytes | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A stored run on its way out. A later piece of a run is a header of its own, with no records.

    `records` may be gone through once. `files` are the files of the upload by path, opened when
    asked for: for what is not part of a record and has to come back byte for byte.
    """

    suite: SuiteSpec
    run: RunSpec
    records: Iterable[RecordSpec] = ()
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """A stored run of any format with its scores in one mode, to be written in another form.

    `scores` name every task and metric, those without a record too; `records` are only those
    that whoever asks may see one by one, and may be gone through once. `view` opens them.
    Answer keys are open in `suite` only where `references` says that they were asked for.
    """

    suite: SuiteSpec
    run: RunSpec
    records: Iterable[RecordSpec]
    scores: Sequence[ScoredRecord]
    results: Sequence[ResultSpec]
    view: Callable[[bytes, TaskSpec | None], RecordView]
    mode: Mode
    at: datetime
    references: bool = False
    details: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def never(_files: Files) -> bool:
    """The claim of a format that has no files of that kind."""
    return False


def aggregate_nothing(
    _scores: Sequence[ScoredRecord], _context: AggregateContext
) -> tuple[ResultSpec, ...]:
    """A format without a suite result of its own: the core's plain means stand alone."""
    return ()


def no_findings(_record: RecordView, _task: TaskSpec) -> tuple[FindingSpec, ...]:
    """A format that asks nothing about records beyond the general checks."""
    return ()


def no_run_findings(_run: RunSpec, _records: Iterable[RecordView]) -> tuple[FindingSpec, ...]:
    """A format that asks nothing about whole runs beyond the general checks."""
    return ()


def show_context(task: TaskSpec) -> Mapping[str, JSON]:
    """What the agent is shown: prompt and context."""
    return {"prompt": task.prompt, "context": task.context}


def show_nothing(_task: TaskSpec) -> Mapping[str, JSON]:
    """A rater sees nothing sealed."""
    return MappingProxyType({})


def no_routing(_record: RecordView, _task: TaskSpec) -> Mapping[str, JSON]:
    """A format whose runs do not record how they routed the work."""
    return MappingProxyType({})


def no_boards(_suite: SuiteSpec) -> tuple[BoardPolicy, ...]:
    """A format that proposes no board."""
    return ()


def no_plans(_suite: SuiteSpec) -> tuple[PlanSpec, ...]:
    """A format whose suites are executed whole, without a plan."""
    return ()


def no_gate(_task: TaskSpec) -> GateAnswers:
    """A format for which no answers can be made."""
    return GateAnswers(reason="this format declares no null, shotgun or oracle answers")


def no_agreement(_keys: Sequence[JSON]) -> Mapping[str, JSON]:
    """A format whose keys do not say how far several people agreed."""
    return MappingProxyType({})


def no_schemas() -> Mapping[str, JSON]:
    """A format that publishes no JSON Schema of its own."""
    return MappingProxyType({})


def no_consensus(_key: JSON) -> tuple[Mapping[str, JSON], ...]:
    """A format whose keys are never worked out from what several people said."""
    return ()


def no_quantities(_task: TaskSpec) -> tuple[KeyQuantity, ...]:
    """A format whose keys hold no numbers that people could measure."""
    return ()


def no_compatibility(_files: Files) -> tuple[Problem, ...]:
    """A format whose original has no checker of its own."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A plug-in: how the files of one public format are read, scored, shown and written back.

    `claims` and `claims_run` are cheap and never raise. `parse_suite` gives every suite of the
    files or raises FormatError with every bad place; `parse_run(files, suite)` gets the suite the
    run is for, if it is known. `view(raw, task)` opens one stored record. `export_suite(suite,
    blobs)` and `export_run(suite, run, records)` give path -> bytes, losslessly.
    `read_keys(files)` reads a folder of held-out answer keys, and `key_agreement(keys)` gives named
    figures of how far the people agreed who made keys, or nothing where nobody measured twice.
    `key_consensus(key)` gives the parts of a key that were worked out from several raters, each
    with `item`, `unit`, `value`, `values` and `by`; a person confirms them before they count.
    `rater_view(task)` gives the sealed parts by the names that criteria ask for. Where criteria on
    the scale "fit" ask for "routing", that part has `table_revision`, `rows` (of each `criterion`,
    `skill`, `listed` as "selected", "skipped" or "unnamed", `reason`, and the table's `row`),
    `phases`, `gates` and `warnings`; `run_routing(record, task)` is the same of what a run recorded
    of itself, and empty where it recorded none.
    `key_quantities(task)` names the numbers that people measure for a task's key, without values,
    and `key_of_ratings(task, rated)` is the key that follows from what they measured.
    `compatibility(files)` tells what the original's own checker would say. `report(raws, options)`
    is the original's own report on stored records, such as its comparison of two rounds.

    `read_certificate(document, question)` checks a certificate in the original's form, wherever it
    comes from, and gives None for a document of another form.

    `export_runs(parts)` writes the runs of whole uploads, where a file holds several; without it
    each run is written apart. `export_scores(run)` makes a format a form in which the scored runs
    of every format can be exported. `add_companions(suite, documents)` takes documents that came
    after their suite into it, by path, and `plans(suite)` tells the plans among all of them.
    """

    key: str
    label: str
    summary: str = ""
    claims: Callable[[Files], bool] = never
    parse_suite: Callable[[Files], SuiteUpload] | None = None
    claims_run: Callable[[Files], bool] = never
    parse_run: Callable[[Files, SuiteSpec | None], RunUpload] | None = None
    view: Callable[[bytes, TaskSpec | None], RecordView] | None = None
    export_suite: Callable[[SuiteSpec, Mapping[str, bytes]], Mapping[str, bytes]] | None = None
    export_run: Callable[[SuiteSpec, RunSpec, Iterable[RecordSpec]], Mapping[str, bytes]] | None = (
        None
    )
    scorers: tuple[Scorer, ...] = ()
    aggregate: Callable[[Sequence[ScoredRecord], AggregateContext], tuple[ResultSpec, ...]] = (
        aggregate_nothing
    )
    agent_view: Callable[[TaskSpec], Mapping[str, JSON]] = show_context
    rater_view: Callable[[TaskSpec], Mapping[str, JSON]] = show_nothing
    run_routing: Callable[[RecordView, TaskSpec], Mapping[str, JSON]] = no_routing
    findings: Callable[[RecordView, TaskSpec], tuple[FindingSpec, ...]] = no_findings
    run_findings: Callable[[RunSpec, Iterable[RecordView]], tuple[FindingSpec, ...]] = (
        no_run_findings
    )
    plan: Callable[[SuiteSpec, Mapping[str, JSON]], JSON] | None = None
    board_policies: Callable[[SuiteSpec], tuple[BoardPolicy, ...]] = no_boards
    gate_answers: Callable[[TaskSpec], GateAnswers] = no_gate
    read_keys: Callable[[Files], KeyUpload] | None = None
    key_agreement: Callable[[Sequence[JSON]], Mapping[str, JSON]] = no_agreement
    key_consensus: Callable[[JSON], Sequence[Mapping[str, JSON]]] = no_consensus
    key_quantities: Callable[[TaskSpec], Sequence[KeyQuantity]] = no_quantities
    key_of_ratings: Callable[[TaskSpec, Sequence[RatedQuantity]], JSON] | None = None
    compatibility: Callable[[Files], tuple[Problem, ...]] = no_compatibility
    certificate: Callable[[ResultSpec, Mapping[str, JSON]], Mapping[str, JSON]] | None = None
    read_certificate: Callable[[JSON, CertificateQuestion], CertificateReading | None] | None = None
    reference_tables: Mapping[str, JSON] = field(default_factory=nothing)
    schemas: Callable[[], Mapping[str, JSON]] = no_schemas
    report: Callable[[Iterable[bytes], Mapping[str, JSON]], JSON] | None = None
    export_runs: Callable[[Sequence[StoredRun]], Mapping[str, bytes]] | None = None
    export_scores: Callable[[ScoredRun], Mapping[str, bytes]] | None = None
    add_companions: Callable[[SuiteSpec, Mapping[str, bytes]], SuiteSpec] | None = None
    plans: Callable[[SuiteSpec], tuple[PlanSpec, ...]] = no_plans
