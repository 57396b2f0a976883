"""Run values become rows: streamed through packs and a staging table, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from academy import auditing, deciding, leaving_out, limiting, recognising, scheduling, tasks
from academy.bundle import FileReport, RunSpec, RunUpload
from academy.entering import find_entrant, resolve_version
from academy.errors import AcademyError, Problem
from academy.fitting import fitting
from academy.formats.reading import Files
from academy.models import (
    Decision,
    Entrant,
    InstanceRecord,
    Metric,
    Run,
    RunEvent,
    RunResult,
    Submission,
    SubmissionFile,
    SuiteVersion,
)
from academy.packs import KeptFile, RecordWriter, keep_file
from academy.staging import Target, insert_staged, refuse_conflicts, stage


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What became of one run of an upload: created, extended or unchanged."""

    run: int | None
    entrant: str
    version: str
    outcome: str
    records: int
    new_records: int
    decisions: int
    attempt: int

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class RecordingReport:
    """All that an import of runs did, or in a dry run would do."""

    form: str
    runs: tuple[RunOutcome, ...]
    files: tuple[FileReport, ...]
    notices: tuple[Problem, ...]
    left_out: tuple[str, ...] = ()
    dry_run: bool = False

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "format": self.form,
            "dry_run": self.dry_run,
            "runs": [run.as_json() for run in self.runs],
            "left_out": list(self.left_out),
            "files": [
                {"path": f.path, "status": str(f.status), "reason": f.reason} for f in self.files
            ],
            "findings": [notice.as_row() for notice in self.notices],
            "ok": True,
        }


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """How runs are stored. `unknown` says what happens to records of tasks the version lacks:
    "refuse", or "leave_out", which lists them and counts them nowhere."""

    version: SuiteVersion | None = None
    entrant: str = ""
    account: Any = None
    kind: str = Run.Kind.ENTRANT
    unknown: str = "refuse"
    dry_run: bool = False
    is_example: bool = False
    idempotency_key: str | None = None
    name: str = ""


class _DryRunError(Exception):
    """Rolls the transaction of a dry run back."""


def record_runs(
    upload: RunUpload,
    *,
    form: str,
    files: Files,
    source_digest: str,
    options: RecordingOptions,
) -> RecordingReport:
    """Store all runs of an upload, or nothing; then ask the workers to score them.

    The same bytes again change nothing and say so. Raises AcademyError for runs of unknown
    versions and FormatError for records that are doubled, changed or of unknown tasks.
    """
    if not upload.runs:
        raise AcademyError("These files hold no run.")
    outcomes: list[RunOutcome] = []
    left_out: list[str] = []
    try:
        with transaction.atomic():
            outcomes, left_out = _store(upload, form, files, source_digest, options)
            if options.dry_run:
                raise _DryRunError
            tasks.nudge()
    except _DryRunError:
        pass
    return RecordingReport(
        form, tuple(outcomes), upload.files, upload.notices, tuple(left_out), options.dry_run
    )


def _store(
    upload: RunUpload, form: str, files: Files, source_digest: str, options: RecordingOptions
) -> tuple[list[RunOutcome], list[str]]:
    before = _runs_of_source(source_digest)
    targets: list[Target] = []
    for spec in upload.runs:
        taken = [target.run.pk for target in targets]
        targets.append(_target(spec, form, options, before=before, taken=taken))
    known = [target for target in targets if target.outcome == "unchanged"]
    if targets and len(known) == len(targets):
        return [_outcome(target) for target in targets], _left_out_of_source(source_digest)
    submission = _submission(form, source_digest, options)
    kept = _keep(submission, upload, files)
    left_out = stage(upload, targets, kept, options.unknown)
    refuse_conflicts()
    for target in targets:
        _recognise(target)
    limiting.check(submission, [target.run for target in targets if target.outcome == "created"])
    # Later pieces of a run belong to submissions of their own; this is how they are known again.
    submission.report = {
        "runs": [target.run.pk for target in targets],
        "headers": {
            str(target.run.pk): _plain(target.spec.extra)
            for target in targets
            if target.outcome == "extended"
        },
        "left_out": leaving_out.kept([one for target in targets for one in target.left_out]),
    }
    submission.save(update_fields=["report"])
    for target in targets:
        if target.run.submission_id is None:
            target.run.submission = submission
            target.run.save(update_fields=["submission"])
    insert_staged(targets)
    for target in targets:
        _gain(target)
        _close(target, options)
    if all(target.outcome == "unchanged" for target in targets):
        submission.delete()
    return [_outcome(target) for target in targets], left_out


def _recognise(target: Target) -> None:
    """Give a new run up that is a known one in other bytes. Its verdicts go to the known run."""
    if target.outcome != "created":
        return
    known = recognising.same_run(target.run)
    if known is not None:
        target.decisions = [
            (recognising.record_in(known, record_id), spec) for record_id, spec in target.decisions
        ]
        recognising.give_up(target.run)
        target.run, target.outcome = known, "unchanged"


def _outcome(target: Target) -> RunOutcome:
    return RunOutcome(
        run=target.run.pk,
        entrant=target.run.entrant.slug,
        version=str(target.run.version),
        outcome=target.outcome,
        records=target.records,
        new_records=target.new_records,
        decisions=sum(len(spec.decisions) for _id, spec in target.decisions),
        attempt=target.run.attempt,
    )


def _submission(form: str, source_digest: str, options: RecordingOptions) -> Submission:
    account = options.account if getattr(options.account, "is_authenticated", False) else None
    return Submission.objects.create(
        account=account,
        form=form,
        name=options.name,
        source_digest=source_digest,
        idempotency_key=options.idempotency_key,
        state=Submission.State.IMPORTED,
    )


def _keep(submission: Submission, upload: RunUpload, files: Files) -> dict[str, KeptFile]:
    """Keep every file of the upload as it is; gives where the bytes of each are."""
    kept = {}
    for report in upload.files:
        row = SubmissionFile.objects.create(
            submission=submission,
            path=report.path,
            status=report.status,
            reason=report.reason,
            sha256="",
            size=0,
        )
        with files.open(report.path) as stream:
            kept[report.path] = keep_file(row, stream)
    return kept


def _target(
    spec: RunSpec,
    form: str,
    options: RecordingOptions,
    *,
    before: Sequence[int],
    taken: Sequence[int],
) -> Target:
    """The run that a header means: one that these bytes filled before, one that is open, or a
    new one. Runs in `taken` are meant by other headers of the upload already.
    """
    version = options.version or resolve_version(spec)
    entrant = find_entrant(spec.entrant, slug=options.entrant, is_example=options.is_example)
    entrant = Entrant.objects.select_for_update().get(pk=entrant.pk)
    same = (
        Run.objects.filter(
            version=version,
            entrant=entrant,
            kind=options.kind,
            external_id=spec.external_id,
            arm=spec.arm,
            scenario=spec.scenario,
        )
        .exclude(pk__in=taken)
        # A run that failed through us may be entered again, in the same bytes too.
        .exclude(state=Run.State.FAILED)
        .select_related("entrant", "version__suite")
        .order_by("pk")
    )
    run = same.filter(pk__in=before).first()
    outcome = "unchanged"
    if run is None:
        run = recognising.duplicate_of(
            spec, version=version, entrant=entrant, kind=options.kind, taken=taken
        )
    if run is None:
        run = same.filter(state=Run.State.OPEN).first()
        outcome = "extended"
    if run is None:
        run = _new_run(spec, form, version, entrant, options)
        outcome = "created"
    ids = {
        external_id: (pk, ordinal)
        for external_id, pk, ordinal in version.tasks.values_list("external_id", "pk", "ordinal")
    }
    return Target(run, spec, RecordWriter(run, run.packs.count() + 1), ids, outcome)


def _runs_of_source(source_digest: str) -> list[int]:
    """The runs to which an upload of these bytes has given records before."""
    reports = Submission.objects.filter(source_digest=source_digest).values_list(
        "report", flat=True
    )
    return [run for report in reports for run in report.get("runs", ())]


def _left_out_of_source(source_digest: str) -> list[str]:
    """The tasks of the records that an upload of these bytes left out before."""
    reports = Submission.objects.filter(source_digest=source_digest).order_by("pk")
    held = reports.values_list("report", flat=True).last() or {}
    return leaving_out.task_ids(held.get("left_out", {}))


def _new_run(
    spec: RunSpec, form: str, version: SuiteVersion, entrant: Entrant, options: RecordingOptions
) -> Run:
    earlier = Run.objects.filter(version=version, entrant=entrant, kind=options.kind)
    attempt = (earlier.order_by("-attempt").values_list("attempt", flat=True).first() or 0) + 1
    run = Run(
        version=version,
        entrant=entrant,
        kind=options.kind,
        form=form,
        external_id=spec.external_id,
        attempt=attempt,
        arm=spec.arm,
        scenario=spec.scenario,
        verification=Run.Verification[spec.verification.upper()],
        limits=_plain(spec.limits),
        header=_plain(spec.extra),
        duplicate_digest=spec.duplicate_digest,
        started_at=spec.started_at,
    )
    fitting(run, "The header of the run").save()
    RunEvent.objects.create(run=run, state="open", reason="received", actor=_actor(options))
    return run


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _actor(options: RecordingOptions) -> Any:
    return options.account if getattr(options.account, "is_authenticated", False) else None


def _gain(target: Target) -> None:
    """Store the verdicts that came along, and say whether the run has gained anything."""
    gained = target.new_records
    if target.decisions:
        held = Decision.objects.filter(record__in=InstanceRecord.objects.of_run(target.run.pk))
        before = held.count()
        deciding.record_imported(target.run, target.decisions)
        gained += held.count() - before
    if target.outcome == "extended" and not gained and not target.spec.closed:
        target.outcome = "unchanged"
    elif target.outcome == "unchanged" and gained:
        target.outcome = "extended"
    if not target.new_records and target.writer.has_written:
        # What was packed before it turned out to be known.
        used = InstanceRecord.objects.of_run(target.run.pk).values("pack_id")
        target.run.packs.exclude(pk__in=used).delete()


def _close(target: Target, options: RecordingOptions) -> None:
    """Note what came, store reported results, and owe the scoring."""
    run, spec = target.run, target.spec
    if target.outcome == "unchanged":
        return
    leaving_out.note(run, target.left_out)
    run.records_expected = InstanceRecord.objects.of_run(run.pk).count()
    run.digest = recognising.run_digest(run)
    if spec.closed and run.state == Run.State.OPEN:
        run.state = Run.State.CLOSED
        run.closed_at = timezone.now()
        RunEvent.objects.create(
            run=run,
            state="closed",
            reason=f"{run.records_expected} records received",
            actor=_actor(options),
        )
    run.save(update_fields=["records_expected", "left_out", "digest", "state", "closed_at"])
    _store_reported(run, spec)
    auditing.note("run.import", f"run:{run.pk}", by=options.account, records=run.records_expected)
    scheduling.schedule_run(run)


def _store_reported(run: Run, spec: RunSpec) -> None:
    """Keep the numbers that the upload reports for the run as a whole."""
    metrics = {metric.key: metric for metric in Metric.objects.filter(version=run.version)}
    facts = {"run": run, "mode": "reference", "scoring_pass": None, "slice": ""}
    held = RunResult.objects.filter(**facts, origin="reported")
    known = {row.metric_id: row for row in held}
    fresh = []
    for key, value in spec.results.items():
        row = known.get(metrics[key].pk) if key in metrics else None
        if row is not None:
            row.value = value
            row.save(update_fields=["value"])
        elif key in metrics:
            fresh.append(
                RunResult(
                    **facts,
                    metric=metrics[key],
                    origin="reported",
                    value=value,
                    n=0,
                    method="as reported",
                )
            )
    RunResult.objects.bulk_create(fresh)
