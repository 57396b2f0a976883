"""Run values become rows: streamed through packs and a staging table, all or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import connection, transaction
from django.utils import timezone
from django.utils.text import slugify

from academy import auditing, deciding, scoring, tasks
from academy.bundle import EntrantSpec, FileReport, RecordSpec, RunSpec, RunUpload
from academy.canonical import digest
from academy.errors import AcademyError, FormatError, Problem, Problems
from academy.fitting import fitting, too_great
from academy.formats.reading import Files
from academy.identity import pack_record_id
from academy.models import (
    Entrant,
    EntrantAlias,
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

COLUMNS = (
    "id",
    "run_id",
    "task_id",
    "replicate",
    "variant",
    "status",
    "pack_id",
    '"offset"',
    "length",
    "content_digest",
    "steps",
    "wall_ms",
    "tokens_in",
    "tokens_out",
    "cost_micros",
)
STAGE = f"""
CREATE TEMP TABLE staged_records ON COMMIT DROP AS
SELECT {", ".join(COLUMNS)}, ''::text AS place FROM academy_instancerecord WITH NO DATA
"""
REPORTED = "record_id, metric, value, correct, line, note"
LONGEST_METRIC = 200
STAGE_REPORTED = f"""
CREATE TEMP TABLE staged_reported ON COMMIT DROP AS
SELECT {REPORTED} FROM academy_reportedscore WITH NO DATA
"""
INSERT_REPORTED = f"""
INSERT INTO academy_reportedscore ({REPORTED})
SELECT {REPORTED} FROM staged_reported ON CONFLICT (record_id, metric) DO NOTHING
"""
TWICE = """
SELECT min(place), max(place), count(DISTINCT content_digest) FROM staged_records
GROUP BY id HAVING count(*) > 1 ORDER BY min(place) LIMIT 50
"""
CONFLICTS = """
SELECT s.place, t.external_id FROM staged_records s
JOIN academy_instancerecord r ON r.id = s.id JOIN academy_task t ON t.id = r.task_id
WHERE r.content_digest <> s.content_digest ORDER BY s.place LIMIT 50
"""
INSERT = f"""
INSERT INTO academy_instancerecord ({", ".join(COLUMNS)})
SELECT {", ".join(COLUMNS)} FROM staged_records ON CONFLICT (id) DO NOTHING
"""


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


@dataclass(slots=True)
class _Target:
    """A run that is being filled."""

    run: Run
    spec: RunSpec
    writer: RecordWriter
    task_ids: Mapping[str, tuple[int, int]]
    outcome: str
    records: int = 0
    new_records: int = 0
    decisions: list[tuple[int, RecordSpec]] = field(default_factory=list)


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
    targets: list[_Target] = []
    for spec in upload.runs:
        taken = [target.run.pk for target in targets]
        targets.append(_target(spec, form, options, before=before, taken=taken))
    known = [target for target in targets if target.outcome == "unchanged"]
    if targets and len(known) == len(targets):
        return [_outcome(target) for target in targets], []
    submission = _submission(form, source_digest, options)
    kept = _keep(submission, upload, files)
    # Later pieces of a run belong to submissions of their own; this is how they are known again.
    submission.report = {"runs": [target.run.pk for target in targets]}
    submission.save(update_fields=["report"])
    for target in targets:
        if target.run.submission_id is None:
            target.run.submission = submission
            target.run.save(update_fields=["submission"])
    left_out = _stage(upload, targets, kept, options.unknown)
    _refuse_conflicts()
    _insert(targets)
    for target in targets:
        _close(target, options)
    return [_outcome(target) for target in targets], left_out


def _outcome(target: _Target) -> RunOutcome:
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


def resolve_version(spec: RunSpec) -> SuiteVersion:
    """The stored version that a run names. Raises AcademyError when there is none or several."""
    named = spec.suite
    parts = {
        "suite__slug": slugify(named.slug),
        "name": named.version,
        "digest": named.digest,
    }
    said = {name: part for name, part in parts.items() if part}
    if not said.keys() & {"suite__slug", "digest"}:
        raise AcademyError("The run names no suite; name the version it was run on.")
    found = SuiteVersion.objects.filter(**said).select_related("suite")
    versions = list(found.order_by("pk")[:2])
    if len(versions) == 1:
        found_one: SuiteVersion = versions[0]
        return found_one
    name = f"{named.slug}@{named.version or '?'}" if named.slug else f"digest {named.digest[:12]}"
    if not versions:
        raise AcademyError(
            f"The run names the suite {name}, which is not here. "
            "Import the suite first, or name the version it was run on."
        )
    raise AcademyError(f"The run names {name}, and there are several; name one version.")


def find_entrant(spec: EntrantSpec, *, slug: str = "", is_example: bool = False) -> Entrant:
    """The entrant of a run by slug, name or alias; a new one is made when there is none."""
    wanted = slug or slugify(spec.name)[:100]
    if not wanted:
        raise AcademyError("The run names no entrant; say which with --entrant SLUG.")
    found = Entrant.objects.filter(slug=wanted).first()
    if found is None:
        alias = EntrantAlias.objects.filter(name=spec.name).select_related("entrant").first()
        found = alias.entrant if alias and not slug else None
    if found is not None:
        return found
    if slugify(wanted) != wanted:
        raise AcademyError(f"{wanted!r} is no slug: lower-case letters, digits, - and _ only.")
    made = Entrant(
        slug=wanted,
        name=spec.name or wanted,
        model=spec.model,
        developer=spec.developer,
        harness=spec.harness,
        settings=_plain(spec.settings),
        is_example=is_example,
    )
    fitting(made, "The entrant of the run").save()
    names = {spec.name, *spec.aliases} - {""}
    EntrantAlias.objects.bulk_create(
        [
            fitting(EntrantAlias(entrant=made, name=name), "An alias of the entrant")
            for name in sorted(names)
        ]
    )
    return made


def _target(
    spec: RunSpec,
    form: str,
    options: RecordingOptions,
    *,
    before: Sequence[int],
    taken: Sequence[int],
) -> _Target:
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
        .select_related("entrant", "version__suite")
        .order_by("pk")
    )
    run = same.filter(pk__in=before).first()
    outcome = "unchanged"
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
    return _Target(run, spec, RecordWriter(run, run.packs.count() + 1), ids, outcome)


def _runs_of_source(source_digest: str) -> list[int]:
    """The runs to which an upload of these bytes has given records before."""
    reports = Submission.objects.filter(source_digest=source_digest).values_list(
        "report", flat=True
    )
    return [run for report in reports for run in report.get("runs", ())]


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


def _stage(
    upload: RunUpload, targets: list[_Target], kept: Mapping[str, KeptFile], unknown: str
) -> list[str]:
    """Write packs and staged rows while the records stream by; gives the ids left out."""
    problems = Problems()
    left_out: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(STAGE)
        cursor.execute(STAGE_REPORTED)
        columns = ", ".join((*COLUMNS, "place"))
        for batch in _batches(upload.records(), 1000):
            rows: list[tuple[Any, ...]] = []
            reported: list[tuple[Any, ...]] = []
            for spec in batch:
                target = targets[spec.run]
                place = target.task_ids.get(spec.task_id)
                if place is None:
                    left_out.append(spec.task_id)
                    problems.error(
                        spec.file,
                        "unknown-task",
                        f"task {spec.task_id!r} is not in {target.run.version}",
                        line=spec.line,
                    )
                    continue
                row = _row(spec, target, kept, *place)
                rows.append(row)
                reported += _reported_rows(row[0], spec)
            _copy(cursor, f"COPY staged_records ({columns}) FROM STDIN", rows)
            _copy(cursor, f"COPY staged_reported ({REPORTED}) FROM STDIN", reported)
    for target in targets:
        target.writer.flush()
    if unknown == "refuse":
        problems.raise_if_any()
    return left_out


def _copy(cursor: Any, statement: str, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        with cursor.cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


def _reported_rows(record_id: int, spec: RecordSpec) -> list[tuple[Any, ...]]:
    for score in spec.reported:
        if len(score.metric) > LONGEST_METRIC:
            raise FormatError.at(
                spec.file,
                "metric-name",
                f"a reported metric's name is longer than {LONGEST_METRIC} characters",
                line=score.line or spec.line,
            )
    return [
        (record_id, score.metric, score.value, score.correct, score.line, score.note[:300])
        for score in spec.reported
    ]


def _batches(records: Iterator[RecordSpec], size: int) -> Iterator[list[RecordSpec]]:
    batch: list[RecordSpec] = []
    for record in records:
        batch.append(record)
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def _row(
    spec: RecordSpec,
    target: _Target,
    kept: Mapping[str, KeptFile],
    task_id: int,
    ordinal: int,
) -> tuple[Any, ...]:
    try:
        record_id = pack_record_id(target.run.pk, ordinal, spec.replicate, spec.variant)
    except ValueError as error:
        raise FormatError.at(spec.file, "record-identity", str(error), line=spec.line) from None
    counts = {
        "steps": spec.steps,
        "wall_ms": spec.wall_ms,
        "tokens_in": spec.tokens_in,
        "tokens_out": spec.tokens_out,
        "cost_micros": None if spec.cost is None else round(spec.cost * 1e6),
    }
    if name := too_great(InstanceRecord, counts):
        raise FormatError.at(
            spec.file,
            "number-range",
            f"the {name} of task {spec.task_id!r} is too great to be kept: {counts[name]}",
            line=spec.line,
        )
    if spec.offset is None:
        pack_id, offset, length = target.writer.write(spec.raw)
    else:
        pack_id, offset = kept[spec.file].place(spec.offset)
        length = len(spec.raw)
    target.records += 1
    if spec.decisions:
        # The bytes are packed by now; a run's verdicts must not hold all of them in memory.
        target.decisions.append((record_id, replace(spec, raw=b"")))
    content = spec.content_digest or hashlib.sha256(spec.raw).hexdigest()
    where = f"{spec.file}:{spec.line:09d}" if spec.line else f"{spec.file}#{target.records}"
    return (
        record_id,
        target.run.pk,
        task_id,
        spec.replicate,
        spec.variant,
        str(spec.status),
        pack_id,
        offset,
        length,
        bytes.fromhex(content),
        *counts.values(),
        where,
    )


def _refuse_conflicts() -> None:
    """Refuse identities that come twice, or again with other content, naming both places."""
    problems = Problems()
    with connection.cursor() as cursor:
        cursor.execute(TWICE)
        for first, second, contents in cursor.fetchall():
            said = "with different content" if contents > 1 else "with the same content"
            file, line = _split(second)
            problems.error(
                file,
                "double-record",
                f"two records of one execution, at {_place(first)} and {_place(second)}, {said}; "
                "a repetition needs a replicate number of its own",
                line=line,
            )
        cursor.execute(CONFLICTS)
        for where, task in cursor.fetchall():
            file, line = _split(where)
            problems.error(
                file,
                "changed-record",
                f"{_place(where)}: this execution of task {task} is already stored with other "
                "content; records never change",
                line=line,
            )
    problems.raise_if_any()


def _split(where: str) -> tuple[str, int | None]:
    file, colon, line = where.rpartition(":")
    return (file, int(line)) if colon and line.isdigit() else (where.rpartition("#")[0], None)


def _place(where: str) -> str:
    file, line = _split(where)
    return f"{file} line {line}" if line else f"{file} entry {where.rpartition('#')[2]}"


def _insert(targets: list[_Target]) -> None:
    before = {t.run.pk: InstanceRecord.objects.of_run(t.run.pk).count() for t in targets}
    with connection.cursor() as cursor:
        cursor.execute(INSERT)
        cursor.execute(INSERT_REPORTED)
        # A caller may record twice in one transaction, at whose end the table would go.
        cursor.execute("DROP TABLE staged_records, staged_reported")
    for target in targets:
        target.new_records = (
            InstanceRecord.objects.of_run(target.run.pk).count() - before[target.run.pk]
        )
        if target.decisions:
            deciding.record_imported(target.run, target.decisions)


def _close(target: _Target, options: RecordingOptions) -> None:
    """Note what came, store reported results, and owe the scoring."""
    run, spec = target.run, target.spec
    if target.outcome == "unchanged":
        return
    run.records_expected = InstanceRecord.objects.of_run(run.pk).count()
    run.digest = run_digest(run)
    if spec.closed:
        run.state = Run.State.CLOSED
        run.closed_at = timezone.now()
        RunEvent.objects.create(
            run=run,
            state="closed",
            reason=f"{run.records_expected} records received",
            actor=_actor(options),
        )
    run.save(update_fields=["records_expected", "digest", "state", "closed_at"])
    _store_reported(run, spec)
    auditing.note("run.import", f"run:{run.pk}", by=options.account, records=run.records_expected)
    scoring.schedule_run(run)


def run_digest(run: Run) -> str:
    """A digest over the header and every record's identity and content, in order of identity."""
    hashed = hashlib.sha256(digest({"header": run.header, "limits": run.limits}).encode())
    rows = InstanceRecord.objects.of_run(run.pk).order_by("id")
    for record_id, content in rows.values_list("id", "content_digest").iterator(5000):
        hashed.update((record_id & (1 << 39) - 1).to_bytes(8, "big") + bytes(content))
    return hashed.hexdigest()


def _store_reported(run: Run, spec: RunSpec) -> None:
    metrics = {metric.key: metric for metric in Metric.objects.filter(version=run.version)}
    for key, value in spec.results.items():
        if key in metrics:
            RunResult.objects.update_or_create(
                run=run,
                metric=metrics[key],
                mode="reference",
                scoring_pass=None,
                slice="",
                origin="reported",
                defaults={"value": value, "n": 0, "method": "as reported"},
            )
