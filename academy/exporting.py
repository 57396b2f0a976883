"""Stored suites and runs are written back as files: in their own form, or scored runs in another.

Whatever is sealed stays out unless keys are asked for, and then the trail notes it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from academy import auditing, leaving_out, piloting, registry, scoring, specs, summing
from academy.bundle import (
    EntrantSpec,
    RecordSpec,
    RecordStatus,
    RecordView,
    ReportedSpec,
    ResultSpec,
    RunSpec,
    SuiteRef,
    SuiteSpec,
    TaskSpec,
)
from academy.downloads import Export, checked
from academy.errors import AcademyError
from academy.formats.base import Format, ScoredRun, StoredRun
from academy.kept_files import StoredFiles, UploadedFiles
from academy.models import (
    InstanceRecord,
    Run,
    RunResult,
    ScoringPass,
    Submission,
    SuiteVersion,
)
from academy.packs import raw_record
from academy.scorers.base import Mode

BATCH = 1000


def is_sealed(version: SuiteVersion) -> bool:
    """Whether a version holds what the public may not see: sealed keys or holdout tasks."""
    return version.sealed or version.tasks.filter(holdout=True).exists()


def export_suite(
    version: SuiteVersion, *, with_keys: bool = False, by: Any = None, why: str = "export"
) -> Export:
    """A version in the files of its own format.

    Without `with_keys` sealed keys and holdout tasks stay out, and are told. Raises AcademyError
    for a format that cannot write a suite without its keys.
    """
    fmt = registry.format_of(version.suite.format)
    if fmt.export_suite is None:
        raise AcademyError(f"The format {fmt.key} writes no suites.")
    sealed = is_sealed(version)
    left_out: list[str] = []
    opened = with_keys or not sealed
    suite = specs.suite_spec(version, keys=specs.latest_keys(version) if opened else None)
    if sealed and not with_keys:
        hidden = [task.external_id for task in suite.tasks if task.holdout]
        # Criteria of a sealed version are as good as its keys.
        shown = [replace(task, criteria=()) for task in suite.tasks if not task.holdout]
        suite = replace(suite, tasks=tuple(shown))
        left_out.append("The answer keys are sealed and left out; --with-keys opens them.")
        if hidden:
            left_out.append(f"{len(hidden)} holdout tasks are left out.")
    files = fmt.export_suite(suite, StoredFiles(version, only_assets=not opened))
    if sealed and with_keys:
        note_exposure(version, by=by, why=why)
    return Export(fmt.key, checked(files), tuple(left_out))


@transaction.atomic
def note_exposure(version: SuiteVersion, *, by: Any, why: str) -> None:
    """Note that the keys of a version were written out, and to whom if that is known."""
    auditing.note(
        "keys.export",
        f"version:{version.pk}",
        by=by,
        reason=why,
        keys=version.tasks.exclude(keys=None).count(),
    )
    if getattr(by, "is_authenticated", False):
        auditing.expose(by, task=None, what=f"answer keys of {version}"[:200], why=why[:200])


def refuse_keys(run: Run, *, with_keys: bool, by: Any) -> None:
    """Raise AcademyError for a run that is made of answer keys unless these are asked for."""
    if run.kind != Run.Kind.ORACLE:
        return
    if not with_keys:
        raise AcademyError(
            f"The answers of run {run.pk} are the answer keys of {run.version}; --with-keys opens "
            "them."
        )
    note_exposure(run.version, by=by, why=f"export of run {run.pk}")


def export_run(run: Run, *, with_keys: bool = False, by: Any = None) -> Export:
    """A run alone in the form in which it came. AcademyError when that form writes no runs, or
    when the run is made of keys and these are not asked for."""
    refuse_keys(run, with_keys=with_keys, by=by)
    files = checked(written([part_of(run)], own_form(run)))
    return Export(own_form(run).key, files, notes_on(run))


def part_of(run: Run) -> StoredRun:
    """A run as a format takes it, with the files of its uploads."""
    submissions = Submission.objects.filter(holds_runs([run.pk])).values_list("pk", flat=True)
    return StoredRun(
        suite=specs.suite_spec(run.version),
        run=run_spec(run),
        records=record_specs(run),
        files=UploadedFiles(submissions),
    )


def written(parts: list[StoredRun], fmt: Format) -> Mapping[str, bytes]:
    """Runs in their own form: together where their format can, else each for itself."""
    if fmt.export_runs is not None:
        return fmt.export_runs(parts)
    assert fmt.export_run is not None
    files: dict[str, bytes] = {}
    for part in parts:
        for path, data in fmt.export_run(part.suite, part.run, part.records).items():
            if files.setdefault(path, data) != data:
                raise AcademyError(f"Two runs of this upload are written as {path!r}.")
    return files


def own_form(run: Run) -> Format:
    """The format in which a run came. Raises AcademyError when it writes no runs."""
    fmt = registry.format_of(run.form)
    if fmt.export_run is None:
        raise AcademyError(f"The format {fmt.key} writes no runs.")
    return fmt


def export_upload(run: Run, *, with_keys: bool = False, by: Any = None) -> Export:
    """A run with all runs that share files with it, so that these files can be written whole."""
    refuse_keys(run, with_keys=with_keys, by=by)
    fmt = own_form(run)
    return Export(fmt.key, checked(written(parts_of_upload(run), fmt)), notes_on(run))


def parts_of_upload(run: Run) -> list[StoredRun]:
    """Every run that came in an upload with this one, and the headers of later pieces."""
    runs = {run.pk}
    submissions: set[int] = set()
    grown = True
    while grown:
        found = Submission.objects.filter(holds_runs(runs)).exclude(pk__in=submissions)
        rows = list(found.order_by("pk"))
        submissions |= {row.pk for row in rows}
        runs |= {pk for row in rows for pk in row.report.get("runs", ())}
        grown = bool(rows)
    listed = Run.objects.filter(pk__in=runs).select_related("entrant", "version__suite")
    parts = []
    files = UploadedFiles(submissions)
    suites: dict[int, SuiteSpec] = {}
    for row in listed.order_by("pk"):
        if row.version_id not in suites:
            suites[row.version_id] = specs.suite_spec(row.version)
        parts.append(
            StoredRun(
                suite=suites[row.version_id],
                run=run_spec(row),
                records=record_specs(row),
                files=files,
            )
        )
    by_run = {row.pk: part for row, part in zip(listed.order_by("pk"), parts, strict=True)}
    for submission in Submission.objects.filter(pk__in=submissions).order_by("pk"):
        for pk, header in submission.report.get("headers", {}).items():
            part = by_run[int(pk)]
            parts.append(replace(part, run=replace(part.run, extra=header), records=()))
    return parts


def holds_runs(runs: Iterable[int]) -> Q:
    """The condition that an upload brought records of one of some runs."""
    condition = Q(runs__in=list(runs))
    for pk in runs:
        condition |= Q(report__runs__contains=[pk])
    return condition


def run_spec(run: Run) -> RunSpec:
    """The header of a stored run as a plain value."""
    entrant = run.entrant
    results = run.results.filter(origin="reported", slice="")
    return RunSpec(
        entrant=EntrantSpec(
            name=entrant.name,
            model=entrant.model,
            developer=entrant.developer,
            harness=entrant.harness,
            settings=entrant.settings,
            aliases=tuple(entrant.aliases.order_by("name").values_list("name", flat=True)),
            weights=entrant.weights,
        ),
        external_id=run.external_id,
        suite=SuiteRef(
            slug=run.version.suite.slug,
            version=run.version.name,
            mode=run.version.mode,
            digest=run.version.digest,
        ),
        arm=run.arm,
        scenario=run.scenario,
        started_at=run.started_at,
        verification=Run.Verification(run.verification).name.lower(),
        limits=run.limits,
        results={
            key: value
            for key, value in results.values_list("metric__key", "value")
            if value is not None
        },
        closed=run.state != Run.State.OPEN,
        extra=run.header,
    )


def record_specs(run: Run, *, only: Container[int] | None = None) -> Iterator[RecordSpec]:
    """The records of a run in the order in which they came, streamed."""
    rows = (
        InstanceRecord.objects.of_run(run.pk)
        .select_related("task")
        .order_by("pack_id", "offset", "id")
    )
    batch: list[InstanceRecord] = []
    for row in rows.iterator(BATCH):
        if only is not None and row.pk not in only:
            continue
        batch.append(row)
        if len(batch) >= BATCH:
            yield from batch_specs(batch)
            batch.clear()
    yield from batch_specs(batch)


def batch_specs(rows: list[InstanceRecord]) -> Iterator[RecordSpec]:
    """Some records as plain values, with the scores that came with them."""
    reported = scoring.reported_of(rows)
    for row in rows:
        yield RecordSpec(
            task_id=row.task.external_id,
            raw=raw_record(row),
            replicate=row.replicate,
            variant=row.variant,
            status=RecordStatus(row.status),
            steps=row.steps,
            wall_ms=row.wall_ms,
            tokens_in=row.tokens_in,
            tokens_out=row.tokens_out,
            cost=None if row.cost_micros is None else row.cost_micros / 1e6,
            reported=tuple(
                ReportedSpec(
                    metric=one.metric,
                    value=one.value,
                    correct=one.correct,
                    line=one.line,
                    note=one.note,
                )
                for one in reported.get(row.pk, ())
            ),
            content_digest=bytes(row.content_digest).hex(),
        )


def export_scores(
    run: Run,
    *,
    form: str,
    at: datetime,
    mode: Mode = Mode.STRICT,
    with_keys: bool = False,
    only: Container[int] | None = None,
    by: Any = None,
) -> Export:
    """A run of any format with its scores, in a form that takes such.

    `only` are the ids of records that whoever asks may see one by one; results are of all.
    Raises AcademyError for a form that takes none, and for a run that is not scored yet.
    """
    forms = registry.score_forms()
    if form not in forms:
        known = ", ".join(forms) or "none"
        raise AcademyError(f"No scores can be exported as {form!r}; forms that take them: {known}.")
    refuse_keys(run, with_keys=with_keys, by=by)
    chosen = published_pass(run)
    suite = specs.suite_spec(run.version, keys=keys_for(run.version, with_keys=with_keys))
    scores = summing.with_missing(suite, summing.read_scores(run, chosen, mode))
    scored = ScoredRun(
        suite=suite,
        run=run_spec(run),
        records=record_specs(run, only=only),
        scores=scores,
        results=results_of(run, chosen, mode),
        view=view_by(run),
        mode=mode,
        at=at,
        references=with_keys,
        details=details_of(run, chosen),
    )
    export = forms[form].export_scores
    assert export is not None
    files = export(scored)
    if with_keys and is_sealed(run.version):
        note_exposure(run.version, by=by, why=f"export of run {run.pk}")
    return Export(form, checked(files), notes_on(run))


def published_pass(run: Run) -> ScoringPass:
    """The pass whose scores are public. Raises AcademyError while it lacks scores of the run."""
    chosen = run.version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    if chosen is None or not run.summaries.filter(scoring_pass=chosen).exists():
        raise AcademyError(f"Run {run.pk} is not scored yet; export it when it is.")
    found: ScoringPass = chosen
    return found


def keys_for(version: SuiteVersion, *, with_keys: bool) -> Mapping[int, Any] | None:
    """The answer keys of a version where they are asked for."""
    return specs.latest_keys(version) if with_keys else None


def view_by(run: Run) -> Any:
    """How records of a run are opened."""

    def view(raw: bytes, task: TaskSpec | None) -> RecordView:
        return registry.open_record(run.form, raw, task)

    return view


def results_of(run: Run, chosen: ScoringPass, mode: Mode) -> tuple[ResultSpec, ...]:
    """The computed results of a run in one mode, as plain values."""
    rows = RunResult.objects.filter(
        run=run, scoring_pass=chosen, mode=str(mode), origin="computed"
    ).select_related("metric")
    return tuple(
        ResultSpec(
            metric=row.metric.key,
            value=row.value,
            slice=row.slice,
            low=row.low,
            high=row.high,
            method=row.method,
            n=row.n,
            waiting=row.waiting,
            missing=row.missing,
            unscorable=row.unscorable,
            note=row.note,
            details=row.details,
        )
        for row in rows.order_by("metric__ordinal", "slice", "pk")
    )


def notes_on(run: Run) -> tuple[str, ...]:
    """In sentences, what whoever reads an export of a run must know beside its files."""
    told = [piloting.sentence_on(run.version), leaving_out.sentence_on(run.left_out)]
    return tuple(filter(None, told))


def details_of(run: Run, chosen: ScoringPass) -> dict[str, str]:
    """By what a reader of an export finds the run, its pass and its version again."""
    return {
        "run": str(run.pk),
        "run_digest": run.digest,
        "version": str(run.version),
        "version_digest": run.version.digest,
        "scoring_pass": str(chosen.number),
        "scoring_pass_digest": chosen.digest,
        "step": run.get_verification_display(),
        **({"pilot": told} if (told := piloting.sentence_on(run.version)) else {}),
        **({"left_out": sentence} if (sentence := leaving_out.sentence_on(run.left_out)) else {}),
    }
