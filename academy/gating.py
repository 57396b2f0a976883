"""The gate before a ranked version: blind answers stay under the bars, the key is perfect.

Null, shotgun and oracle answers are stored as runs of their own kind, scored at once, and drawn on
the boards. Where people or judges decide, only the empty run is tested. Nothing here decides for
a person or a judge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from academy import recording, registry, scoring, specs, work
from academy.bundle import EntrantSpec, RecordSpec, RunSpec, RunUpload, SuiteRef, SuiteSpec
from academy.errors import AcademyError
from academy.formats.base import Format, GateAnswers
from academy.formats.reading import Files
from academy.models import Run, RunEvent, Score, ScoringPass, SuiteVersion
from academy.recording import RecordingOptions
from academy.scorers.base import Mode

KINDS = (Run.Kind.NULL, Run.Kind.SHOTGUN, Run.Kind.ORACLE)
NAMES = {
    Run.Kind.NULL: "Null baseline",
    Run.Kind.SHOTGUN: "Shotgun baseline",
    Run.Kind.ORACLE: "Oracle baseline",
}
SHOWN_ITEMS = 20
BAR = 0.5


@dataclass(frozen=True, slots=True)
class GateItem:
    """One task and metric whose gate answer did not come out as it must."""

    task: str
    run: str
    metric: str
    problem: str

    def as_json(self) -> dict[str, str]:
        """The item as plain values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """How the gate came out in one pass. `notes` say which answers do not apply, and why."""

    version: str
    number: int
    applies: bool
    items: tuple[GateItem, ...] = ()
    notes: tuple[str, ...] = ()
    runs: dict[str, int] = field(default_factory=dict)
    machine: tuple[str, ...] = ()
    people: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether nothing stands against publishing."""
        return not self.items

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "ok": self.is_open,
            "version": self.version,
            "pass": self.number,
            "applies": self.applies,
            "machine_decided": list(self.machine),
            "decided_by_people_or_judges": list(self.people),
            "runs": self.runs,
            "items": [item.as_json() for item in self.items],
            "notes": list(self.notes),
        }

    def refusal(self) -> str:
        """Why the gate stays shut, with the items up to a cap."""
        listed = "; ".join(
            f"{item.task} ({item.run}, {item.metric}): {item.problem}"
            for item in self.items[:SHOWN_ITEMS]
        )
        rest = len(self.items) - SHOWN_ITEMS
        more = f"; and {rest} more" if rest > 0 else ""
        return f"The gate of {self.version} stays shut: {listed}{more}."


@work.owing()
def hold_gate(
    version: SuiteVersion, *, by: Any = None, scoring_pass: ScoringPass | None = None
) -> GateReport:
    """Make and score the gate runs of a ranked version in a pass, and judge how they came out.

    Only ranked versions have a gate. The same answers again use the runs that are there.
    """
    chosen = scoring_pass or version.passes.get(state=ScoringPass.State.PUBLISHED)
    if version.mode != SuiteVersion.Mode.RANKED:
        return GateReport(version=str(version), number=chosen.number, applies=False)
    fmt = registry.format_of(version.suite.format)
    suite = specs.suite_spec(version, keys=specs.keys_in(chosen))
    answers = {task.external_id: fmt.gate_answers(task) for task in suite.tasks}
    runs = {
        kind: _gate_run(version, fmt, suite, kind, answers, by)
        for kind in KINDS
        if fmt.view is not None and any(_raw(given, kind) is not None for given in answers.values())
    }
    for run in runs.values():
        _score_now(run, chosen)
    machine, people = deciders(suite)
    return GateReport(
        version=str(version),
        number=chosen.number,
        applies=True,
        items=tuple(_judged(version, suite, chosen, runs, answers)),
        notes=tuple(dict.fromkeys(given.reason for given in answers.values() if given.reason)),
        runs={str(kind): run.pk for kind, run in runs.items()},
        machine=tuple(machine),
        people=tuple(people),
    )


def _raw(given: GateAnswers, kind: str) -> bytes | None:
    raw: bytes | None = getattr(given, kind)
    return raw


def deciders(suite: SuiteSpec) -> tuple[list[str], list[str]]:
    """The metrics of a suite that a machine decides, and those that people or judges decide."""
    machine: dict[str, None] = {}
    people: dict[str, None] = {}
    for task in suite.tasks:
        for grading in task.gradings:
            (machine if is_machine_decided(grading.scorer) else people)[grading.metric] = None
    return list(machine), list(people)


def is_machine_decided(key: str) -> bool:
    """Whether a scorer goes without decisions of people or judges."""
    return all(
        not scorer.needs_decisions for mode in Mode if (scorer := registry.scorer_of(key, mode))
    )


def _gate_run(
    version: SuiteVersion,
    fmt: Format,
    suite: SuiteSpec,
    kind: Run.Kind,
    answers: dict[str, GateAnswers],
    by: Any,
) -> Run:
    """The run of one kind of gate answers; one with other answers is put aside."""
    raws = {name: raw for name, given in answers.items() if (raw := _raw(given, kind)) is not None}
    hashed = hashlib.sha256(f"{version.pk} {kind}\n".encode())
    for name, raw in raws.items():
        hashed.update(f"{name} {hashlib.sha256(raw).hexdigest()}\n".encode())
    content = hashed.hexdigest()
    earlier = Run.objects.filter(version=version, kind=kind)
    old = list(earlier.filter(state=Run.State.CLOSED).exclude(external_id=f"gate {content}"))
    for run in old:
        put_aside(run, "replaced by the gate run of another key")
    known: Run | None = (
        earlier.filter(external_id=f"gate {content}")
        .select_related("version__suite", "entrant")
        .first()
    )
    if known is not None:
        take_back(known)
        return known
    tasks = {task.external_id: task for task in suite.tasks}

    def records() -> Iterator[RecordSpec]:
        for name, raw in raws.items():
            assert fmt.view is not None
            status = fmt.view(raw, tasks[name]).status
            yield RecordSpec(task_id=name, raw=raw, status=status)

    spec = RunSpec(
        entrant=EntrantSpec(name=NAMES[kind]),
        external_id=f"gate {content}",
        suite=SuiteRef(slug=suite.slug, version=suite.version),
    )
    report = recording.record_runs(
        RunUpload(runs=(spec,), records=records, files=()),
        form=fmt.key,
        files=Files.of({}),
        source_digest=content,
        options=RecordingOptions(
            version=version, entrant=f"baseline-{kind}", account=by, kind=kind, name=f"{kind} gate"
        ),
    )
    made: Run = Run.objects.select_related("version__suite", "entrant").get(pk=report.runs[0].run)
    return made


def put_aside(run: Run, reason: str) -> None:
    """Withdraw a gate run whose answers are no longer those of the keys in use."""
    Run.objects.filter(pk=run.pk).update(state=Run.State.WITHDRAWN, reason=reason)
    RunEvent.objects.create(run=run, state="withdrawn", reason=reason)


def take_back(run: Run) -> None:
    """Let a gate run stand again whose answers are those of the keys in use once more."""
    if run.state == Run.State.WITHDRAWN:
        run.state, run.reason = Run.State.CLOSED, ""
        run.save(update_fields=["state", "reason"])
        RunEvent.objects.create(run=run, state="closed", reason="its answers are in use again")


def _score_now(run: Run, chosen: ScoringPass) -> None:
    """Score a gate run in one pass at once: whoever publishes waits for the answer."""
    first, last = run.pk << 39, ((run.pk + 1) << 39) - 1
    payload = {"pass": chosen.pk, "run": run.pk, "first": first, "last": last}
    scoring.score_unit(payload)()
    scoring.aggregate_run(payload)()
    work.disown(lambda unit: unit.run_id == run.pk and unit.payload.get("pass") == chosen.pk)


def _judged(
    version: SuiteVersion,
    suite: SuiteSpec,
    chosen: ScoringPass,
    runs: dict[Run.Kind, Run],
    answers: dict[str, GateAnswers],
) -> Iterator[GateItem]:
    """What did not come out as it must, in task order."""
    found = {
        (score.record.run_id, score.record.task.external_id, score.metric.key): score
        for score in Score.objects.filter(
            record__run__in=list(runs.values()), scoring_pass=chosen, mode="strict", current=True
        ).select_related("record__task", "metric")
    }
    for task in suite.tasks:
        for grading in task.gradings:
            machine = is_machine_decided(grading.scorer)
            for kind in KINDS if machine else KINDS[:1]:
                run = runs.get(kind)
                score = found.get((run.pk, task.external_id, grading.metric)) if run else None
                problem = _problem(kind, machine, score, answers[task.external_id])
                if problem:
                    yield GateItem(task.external_id, str(kind), grading.metric, problem)


def _problem(kind: Run.Kind, machine: bool, score: Score | None, given: GateAnswers) -> str:
    """Why a gate answer did not come out as it must, or ""."""
    if score is None:
        if machine and (kind == Run.Kind.ORACLE or not given.reason):
            return f"there is no such answer: {given.reason or 'the format makes none'}"
        return ""
    if kind == Run.Kind.ORACLE:
        return "" if is_perfect(score) else f"the answer key itself {told(score)}"
    if score.status == "scored":
        return f"it {told(score)}, which is above the bar" if is_above_bar(score) else ""
    if machine:
        return f"it came out {score.status}: {score.note}"
    return "" if score.status == "needs_human" else f"it came out {score.status}: {score.note}"


def is_perfect(score: Score) -> bool:
    """Whether a score is the best there is, by credit, by passing, or by the metric's range."""
    if score.status != "scored" or score.passed is False:
        return False
    if score.credit is not None:
        return score.credit == 1.0
    metric = score.metric
    best = metric.high if metric.direction == "up" else (metric.low or 0.0)
    return bool(score.passed) if best is None else score.value == best


def is_above_bar(score: Score) -> bool:
    """Whether an answer made without looking passed, or got half of the credit."""
    if score.passed is not None:
        return bool(score.passed)
    return score.credit is not None and score.credit >= BAR


def told(score: Score) -> str:
    """A score in words."""
    if score.status != "scored":
        return f"came out {score.status}: {score.note}"
    passed = {True: "passed", False: "did not pass", None: "got"}[score.passed]
    return f"{passed} with {score.value:g}"


def pass_gate(
    version: SuiteVersion, *, by: Any = None, scoring_pass: ScoringPass | None = None
) -> GateReport:
    """The gate before something is published. Raises AcademyError with the items it fails on."""
    report = hold_gate(version, by=by, scoring_pass=scoring_pass)
    if not report.is_open:
        raise AcademyError(report.refusal())
    return report
