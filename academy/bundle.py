"""Plain values between files and rows: suites, tasks, runs and records, whatever the format.

Longer than other modules because it is the one vocabulary that every format is written in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from academy.errors import Problem

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
NOTHING: Mapping[str, JSON] = MappingProxyType({})


def nothing() -> Mapping[str, JSON]:
    """The default of mappings in values; shared, since it cannot change."""
    return NOTHING


class Direction(StrEnum):
    """Which way a metric is better."""

    UP = "up"
    DOWN = "down"


class MetricKind(StrEnum):
    """What the values of a metric are."""

    PASS = "pass"
    GRADED = "graded"
    ERROR = "error"
    RATING = "rating"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """A metric of a suite. `missing` is what an item without an answer counts; None ranks nobody.

    `run_aggregation` is "mean", "median", "sum" or "none" (never summed up).
    """

    key: str
    label: str
    direction: Direction
    kind: MetricKind
    unit: str = ""
    low: float | None = None
    high: float | None = None
    item_aggregation: str = "mean"
    run_aggregation: str = "mean"
    missing: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionSpec:
    """One thing about a task that a machine, a judge or a person decides.

    `scale` names the answers: "met" (met / not met), "outcome" (success, partial, incorrect,
    incomplete, blocked), "rating" (integers `low`..`high` with `anchors`), "fit" (routing).
    `decided_by` is "machine", "judge" or "person"; `needs` names the parts of `rater_view` that
    whoever decides may see.
    """

    key: str
    text: str
    weight: float = 1.0
    scale: str = "met"
    decided_by: str = "judge"
    low: int | None = None
    high: int | None = None
    anchors: tuple[str, ...] = ()
    allows_na: bool = False
    needs: tuple[str, ...] = ()
    extra: Mapping[str, JSON] = field(default_factory=nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """How one metric of a task is scored: the scorer's key and its explicit parameters."""

    metric: str
    scorer: str
    params: Mapping[str, JSON] = field(default_factory=nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetSpec:
    """A file that a task refers to. `path` is the member of the upload that holds it, if there."""

    ref: str
    sha256: str = ""
    path: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """One task. `key` is sealed truth; `extra` is kept as provenance and never shown to the public.

    `prompt` and `context` are what the agent is shown, `attributes` cut the suite into slices.
    """

    external_id: str
    prompt: str
    title: str = ""
    kind: str = ""
    context: Mapping[str, JSON] = field(default_factory=nothing)
    gradings: tuple[Grading, ...] = ()
    criteria: tuple[CriterionSpec, ...] = ()
    key: JSON = None
    attributes: Mapping[str, JSON] = field(default_factory=nothing)
    holdout: bool = False
    assets: tuple[AssetSpec, ...] = ()
    extra: Mapping[str, JSON] = field(default_factory=nothing)
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSpec:
    """One edition of a suite. `mode` is "practice", "ranked" or "collection".

    An empty `version` is named after the content by the importing service. `sealed` says that the
    answer keys are withheld from the public. `extra` keeps what only a lossless export needs.
    """

    slug: str
    title: str
    format: str
    tasks: tuple[TaskSpec, ...]
    metrics: tuple[MetricSpec, ...]
    version: str = ""
    description: str = ""
    mode: str = "practice"
    sealed: bool = False
    thresholds: Mapping[str, JSON] = field(default_factory=nothing)
    limits: Mapping[str, JSON] = field(default_factory=nothing)
    attributes: Mapping[str, JSON] = field(default_factory=nothing)
    extra: Mapping[str, JSON] = field(default_factory=nothing)
    sources: tuple[str, ...] = ()

    def task(self, external_id: str) -> TaskSpec | None:
        """The task of that id, if the suite holds it."""
        return next((task for task in self.tasks if task.external_id == external_id), None)


class FileStatus(StrEnum):
    """What became of one file of an upload."""

    IMPORTED = "imported"
    RECOGNISED = "recognised"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file, and why when it was not imported."""

    path: str
    status: FileStatus
    reason: str = ""
    suite: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteUpload:
    """All that was read from files: suites, one report per file, warnings and notes."""

    suites: tuple[SuiteSpec, ...]
    files: tuple[FileReport, ...]
    notices: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyQuantity:
    """A number that a task's answer key gives, as people are asked to measure it: no value."""

    key: str
    label: str
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedQuantity:
    """What raters measured of one quantity, in their order, and the value that was adjudicated.

    A rater who could not tell has None; `value` is None while nobody has adjudicated.
    """

    quantity: KeyQuantity
    values: tuple[float | None, ...]
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUpload:
    """Held-out answer keys by task id, as a suite stores them; `sources` names the file of each."""

    keys: Mapping[str, JSON]
    files: tuple[FileReport, ...]
    notices: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantSpec:
    """The model, harness and settings under test, as an upload names them.

    `weights` are "open", "closed", or "" where the upload does not say.
    """

    name: str
    model: str = ""
    developer: str = ""
    harness: str = ""
    settings: Mapping[str, JSON] = field(default_factory=nothing)
    aliases: tuple[str, ...] = ()
    weights: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRef:
    """Which suite an upload says it ran; empty parts are not said.

    `plan` is the hash of a plan that was followed, by which a suite is found that has this plan.
    """

    slug: str = ""
    version: str = ""
    mode: str = ""
    digest: str = ""
    plan: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """The header of one run.

    `verification` is what the reader could prove: "reported" (no records), "supplied" (records
    came), "reproduced" (recorded by a server whose signature holds); never what the run says of
    itself. `results` are numbers the upload reports for the run as a whole, by metric.
    `closed` is false when more pieces of the run may follow.
    """

    entrant: EntrantSpec
    external_id: str = ""
    suite: SuiteRef = field(default_factory=SuiteRef)
    arm: str = ""
    scenario: str = ""
    started_at: str = ""
    verification: str = "supplied"
    limits: Mapping[str, JSON] = field(default_factory=nothing)
    results: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    closed: bool = True
    extra: Mapping[str, JSON] = field(default_factory=nothing)
    duplicate_digest: str = ""


class RecordStatus(StrEnum):
    """How an execution ended, before anybody scores it."""

    ANSWERED = "answered"
    MISSING = "missing"
    ERROR = "error"
    REFUSED = "refused"
    OVER_BUDGET = "over_budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSpec:
    """A score that came with a record: a claim of the upload, not ours."""

    metric: str
    value: float | None
    correct: bool | None = None
    line: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionSpec:
    """A verdict that came with a record. `value` is on the criterion's scale.

    `state` is "value", "na" (not applicable), "cannot_tell", "defective" or "call_error".
    """

    criterion: str
    value: JSON
    state: str = "value"
    source: str = "judge"
    author: str = ""
    author_version: str = ""
    author_digest: str = ""
    reason: str = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSpec:
    """One execution of one task.

    `raw` is the record in the upload's own form (one JSON document, UTF-8); it is kept as it is
    and `Format.view` opens it again. `run` is the position of its run in `RunUpload.runs`.
    `file` and `line` say where it came from; with `offset`, `raw` is exactly the bytes of that
    file from there on, and is not kept a second time. Times are milliseconds, cost is US dollars.
    """

    task_id: str
    raw: bytes
    run: int = 0
    replicate: int = 1
    variant: int = 0
    status: RecordStatus = RecordStatus.ANSWERED
    steps: int | None = None
    wall_ms: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    reported: tuple[ReportedSpec, ...] = ()
    decisions: tuple[DecisionSpec, ...] = ()
    content_digest: str = ""
    file: str = ""
    line: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUpload:
    """Runs read from files. `records()` may be called again and streams all records in order."""

    runs: tuple[RunSpec, ...]
    records: Callable[[], Iterator[RecordSpec]]
    files: tuple[FileReport, ...]
    notices: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of a transcript, as the viewer shows it.

    `kind` is "message", "thought", "tool_call", "tool_result", "action", "observation" or "error";
    `failed` marks a result that says of itself that it is an error. `offset_ms` counts from the
    first step, `duration_ms` is the step's own; `doubt` says in words why a time that was given
    cannot be taken. `images` are data: addresses, or paths or addresses as they were written.
    `source` is the JSON pointer of what it was read from in the stored record, "" if unknown.
    """

    seq: int
    kind: str
    title: str = ""
    text: str = ""
    data: JSON = None
    role: str = ""
    tool: str = ""
    offset_ms: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    images: tuple[str, ...] = ()
    duration_ms: int | None = None
    doubt: str = ""
    failed: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordView:
    """A record as scorers, findings and pages see it.

    `telemetry` has the columns of RecordSpec by name, `reported` the values by metric,
    `evidence` whatever else a scorer of this format needs.
    """

    answer: JSON
    status: RecordStatus = RecordStatus.ANSWERED
    telemetry: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))
    events: tuple[Event, ...] = ()
    reported: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))
    evidence: JSON = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSpec:
    """A question to the team about a record or a run; never an accusation.

    `severity` is "info", "low", "medium" or "high"; `steps` are sequence numbers of events.
    """

    code: str
    sentence: str
    severity: str = "medium"
    steps: tuple[int, ...] = ()
    evidence: JSON = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRecord:
    """A stored score as `Format.aggregate` sees it; `status` as in Verdict, `""` = no record."""

    task_id: str
    metric: str
    status: str
    replicate: int = 1
    variant: int = 0
    value: float | None = None
    credit: float | None = None
    passed: bool | None = None
    measures: Mapping[str, JSON] = field(default_factory=nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSpec:
    """A result of a whole run: one metric in one slice ("" = all items).

    `low` and `high` are None where no interval can be said, with the reason in `note`.
    """

    metric: str
    value: float | None
    slice: str = ""
    low: float | None = None
    high: float | None = None
    method: str = ""
    n: int = 0
    waiting: int = 0
    missing: int = 0
    unscorable: int = 0
    note: str = ""
    details: Mapping[str, JSON] = field(default_factory=nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingSpec:
    """A verification run that vouches for the state which a plan names, by hashes."""

    verification_run: str
    hashes: Mapping[str, JSON] = field(default_factory=nothing)
    content: JSON = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSpec:
    """What a study wants to be executed, and the hashes it rests on; `content` is the document.

    `sample` is how many executions are wanted of `population`; None wants all of them.
    """

    name: str
    plan_hash: str
    suite_hash: str = ""
    protocol_hash: str = ""
    source_revision: str = ""
    configuration_hash: str = ""
    seed: str = ""
    strategy: str = ""
    sample: int | None = None
    population: int = 0
    is_pilot: bool = False
    content: JSON = None
    bindings: tuple[BindingSpec, ...] = ()
