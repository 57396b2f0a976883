"""Run values become rows: streamed through packs and a staging table, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from academy import auditing, deciding, leaving_out, limiting, recognising, scheduling, tasks, work
from academy.bundle import FileReport, RunUpload
from academy.errors import AcademyError, Problem
from academy.formats.reading import Files
from academy.models import (
    Decision,
    InstanceRecord,
    Metric,
    Run,
    RunEvent,
    RunResult,
    Submission,
    SubmissionFile,
)
from academy.packs import KeptFile, keep_file
from academy.populating import plain
from academy.staging import Target, insert_staged, kept_scores, refuse_conflicts, stage
from academy.targeting import RecordingOptions as RecordingOptions
from academy.targeting import runs_of_source, targets_of


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
    kept: list[Problem] = []
    try:
        with work.owing():
            outcomes, left_out, kept = _store(upload, form, files, source_digest, options)
            if options.dry_run:
                raise _DryRunError
            tasks.nudge()
    except _DryRunError:
        pass
    notices = (*upload.notices, *kept)
    return RecordingReport(
        form, tuple(outcomes), upload.files, notices, tuple(left_out), options.dry_run
    )


def _store(
    upload: RunUpload, form: str, files: Files, source_digest: str, options: RecordingOptions
) -> tuple[list[RunOutcome], list[str], list[Problem]]:
    """What became of the runs, the tasks left out, and a warning for each score that stays."""
    targets = targets_of(upload.runs, form, options, before=runs_of_source(source_digest))
    known = [target for target in targets if target.outcome == "unchanged"]
    if targets and len(known) == len(targets):
        return [_outcome(target) for target in targets], _left_out_of_source(source_digest), []
    submission = _submission(form, source_digest, options)
    kept = _keep(submission, upload, files)
    left_out = stage(upload, targets, kept, options.unknown)
    refuse_conflicts()
    scores = kept_scores()
    for target in targets:
        _recognise(target)
    limiting.check(submission, [target.run for target in targets if target.outcome == "created"])
    # Later pieces of a run belong to submissions of their own; this is how they are known again.
    submission.report = {
        "runs": [target.run.pk for target in targets],
        "headers": {
            str(target.run.pk): plain(target.spec.extra)
            for target in targets
            if target.outcome == "extended"
        },
        "left_out": leaving_out.kept([one for target in targets for one in target.left_out]),
    }
    submission.save(update_fields=["report"])
    fresh = [target.run for target in targets if target.run.submission_id is None]
    for run in fresh:
        run.submission = submission
    Run.objects.filter(pk__in=[run.pk for run in fresh]).update(submission=submission)
    insert_staged(targets)
    for target in targets:
        _gain(target)
    _close([target for target in targets if target.outcome != "unchanged"], options)
    if all(target.outcome == "unchanged" for target in targets):
        submission.delete()
    return [_outcome(target) for target in targets], left_out, scores


def _recognise(target: Target) -> None:
    """Give a new run up that is a known one in other bytes. Its verdicts go to the known run."""
    if target.outcome != "created" or target.run.attempt == 1:
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
    return Submission.objects.create(
        account=options.person,
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


def _left_out_of_source(source_digest: str) -> list[str]:
    """The tasks of the records that an upload of these bytes left out before."""
    reports = Submission.objects.filter(source_digest=source_digest).order_by("pk")
    held = reports.values_list("report", flat=True).last() or {}
    return leaving_out.task_ids(held.get("left_out", {}))


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


def _close(targets: Sequence[Target], options: RecordingOptions) -> None:
    """Note what came, store reported results, and owe the scoring."""
    events = []
    versions = {target.run.version_id for target in targets if target.spec.results}
    metrics = {
        (row.version_id, row.key): row for row in Metric.objects.filter(version__in=versions)
    }
    for target in targets:
        run, spec = target.run, target.spec
        if target.outcome == "created":
            events.append(RunEvent(run=run, state="open", reason="received", actor=options.person))
        leaving_out.note(run, target.left_out)
        run.records_expected = target.all_records
        run.digest = recognising.run_digest(run)
        if spec.closed and run.state == Run.State.OPEN:
            run.state = Run.State.CLOSED
            run.closed_at = timezone.now()
            told = f"{run.records_expected} records received"
            events.append(RunEvent(run=run, state="closed", reason=told, actor=options.person))
        run.save(update_fields=["records_expected", "left_out", "digest", "state", "closed_at"])
        _store_reported(target, metrics)
        count = run.records_expected
        auditing.note("run.import", f"run:{run.pk}", by=options.account, records=count)
    RunEvent.objects.bulk_create(events)
    scheduling.schedule_runs([target.run for target in targets])


def _store_reported(target: Target, metrics: Mapping[tuple[int, str], Metric]) -> None:
    """Keep the numbers that the upload reports for the run as a whole."""
    run = target.run
    facts = {"run": run, "mode": "reference", "scoring_pass": None, "slice": ""}
    known = {}
    if target.spec.results and target.outcome != "created":
        held = RunResult.objects.filter(**facts, origin="reported")
        known = {row.metric_id: row for row in held}
    fresh = []
    for key, value in target.spec.results.items():
        metric = metrics.get((run.version_id, key))
        if metric is None:
            continue
        row = known.get(metric.pk)
        if row is None:
            made = {"origin": "reported", "value": value, "n": 0, "method": "as reported"}
            fresh.append(RunResult(**facts, **made, metric=metric))
        else:
            row.value = value
            row.save(update_fields=["value"])
    RunResult.objects.bulk_create(fresh)
