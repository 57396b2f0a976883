"""What a format is: a constant named FORMAT that says what its folder can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from academy.bundle import (
    JSON,
    FindingSpec,
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

    `attributes` holds facts of the run (attestation, earlier windows, …) as plain values.
    """

    suite: SuiteSpec
    mode: Mode
    attributes: Mapping[str, JSON] = field(default_factory=nothing)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswers:
    """Raw records that must come out at the floor and the ceiling, or the reason there are none."""

    null: bytes | None = None
    shotgun: bytes | None = None
    oracle: bytes | None = None
    reason: str = ""


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


def no_boards(_suite: SuiteSpec) -> tuple[BoardPolicy, ...]:
    """A format that proposes no board."""
    return ()


def no_gate(_task: TaskSpec) -> GateAnswers:
    """A format for which no answers can be made."""
    return GateAnswers(reason="this format declares no null, shotgun or oracle answers")


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
    `compatibility(files)` tells what the original's own checker would say. `report(raws, options)`
    is the original's own report on stored records, such as its comparison of two rounds.
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
    findings: Callable[[RecordView, TaskSpec], tuple[FindingSpec, ...]] = no_findings
    run_findings: Callable[[RunSpec, Iterable[RecordView]], tuple[FindingSpec, ...]] = (
        no_run_findings
    )
    plan: Callable[[SuiteSpec, Mapping[str, JSON]], JSON] | None = None
    board_policies: Callable[[SuiteSpec], tuple[BoardPolicy, ...]] = no_boards
    gate_answers: Callable[[TaskSpec], GateAnswers] = no_gate
    compatibility: Callable[[Files], tuple[Problem, ...]] = no_compatibility
    certificate: Callable[[ResultSpec, Mapping[str, JSON]], Mapping[str, JSON]] | None = None
    reference_tables: Mapping[str, JSON] = field(default_factory=nothing)
    report: Callable[[Iterable[bytes], Mapping[str, JSON]], JSON] | None = None
