"""Whatever was imported is exported from the database without loss, and is known when it returns.

One test for each sample of each format; the real files are in tests/conformance/test_real_files.py.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from academy import exporting, importing, intake
from academy.bundle import (
    CriterionSpec,
    Direction,
    MetricKind,
    MetricSpec,
    SuiteSpec,
    SuiteUpload,
    TaskSpec,
)
from academy.formats.reading import Files
from academy.importing import ImportOptions
from academy.models import Run, SuiteVersion
from academy.recording import RecordingOptions, RecordingReport
from academy.registry import format_of
from tests import factories as make
from tests.academy.test_formats import ACCEPTED, LINES, Sample, parse_run, values_of

pytestmark = pytest.mark.django_db
SUITES = [sample for sample in ACCEPTED if sample.has_suite()]
RUNS = [sample for sample in ACCEPTED if sample.has_run()]
# Formats whose README promises the very bytes.
SAME_BYTES = {"every_eval_ever", "neckbeard"}


def import_sample(sample: Sample, files: Files | None = None) -> list[SuiteVersion]:
    """The stored versions of a suite sample."""
    report = intake.import_suite_files(
        files or sample.files(),
        digest=make.digest_of(files or sample.files()),
        fmt=sample.plugin(),
        options=ImportOptions(publish=True),
    )
    return [make.version_of(report, place) for place in range(len(report.suites))]


def assert_same(written: Mapping[str, bytes], originals: Mapping[str, bytes], form: str) -> None:
    """Every written file was in the upload, with equal values, or equal bytes where promised."""
    assert written
    for name, data in written.items():
        # A file may get the run's own name, but its content was in the upload.
        sources = [name] if name in originals else list(originals)
        found = [originals[path] for path in sources]
        assert values_of(name, data) in [values_of(path, originals[path]) for path in sources], name
        if form in SAME_BYTES:
            assert data in found, name
        if form == "academy_run":
            # The header is a value; the executions are kept byte for byte.
            lines = data.split(b"\n")[1:]
            assert lines in [held.split(b"\n")[1:] for held in found], name


@pytest.mark.parametrize("sample", SUITES, ids=str)
def test_a_stored_suite_is_exported_without_loss_and_known_again(sample: Sample) -> None:
    originals = {str(path): data for path, data in sample.files().items()}
    for version in import_sample(sample):
        export = exporting.export_suite(version, with_keys=True)
        assert export.form == sample.format
        assert export.left_out == ()
        assert_same(export.files, originals, sample.format)
        before = make.whole_database()
        again = intake.import_suite_files(
            Files.of(dict(export.files)),
            digest="0" * 64,
            fmt=sample.plugin(),
            options=ImportOptions(publish=True),
        )
        outcomes = {f"{one.suite}@{one.version}": one.outcome for one in again.suites}
        assert outcomes[str(version)] == "unchanged"
        assert make.changed_tables(before) == []


def version_for(sample: Sample) -> SuiteVersion | None:
    """The version that the runs of a sample are on: its own suite, or one made up to fit."""
    named = sample.folder.with_name(f"{sample.folder.name}.suite")
    if named.exists():
        suite = Sample(sample.format, sample.folder.with_name(named.read_text("utf-8").strip()))
        return import_sample(suite)[0]
    if sample.has_suite():
        return None
    records = list(parse_run(sample).records())
    tasks = dict.fromkeys(record.task_id for record in records)
    criteria = dict.fromkeys(one.criterion for record in records for one in record.decisions)
    spec = SuiteSpec(
        slug="made-up",
        version="1",
        title="Made up",
        format=sample.format,
        tasks=tuple(
            TaskSpec(
                external_id=task,
                prompt="Example",
                criteria=tuple(CriterionSpec(key=key, text=key) for key in criteria),
            )
            for task in tasks
        ),
        metrics=tuple(
            MetricSpec(key=key, label=key, direction=Direction.UP, kind=MetricKind.GRADED)
            for key in parse_run(sample).runs[0].results
        ),
    )
    report = importing.import_suites(
        SuiteUpload(suites=(spec,), files=()),
        files=Files.of({}),
        source_digest="0" * 64,
        options=ImportOptions(publish=True),
    )
    return make.version_of(report)


def record(files: Files, sample: Sample, version: SuiteVersion | None) -> RecordingReport:
    return intake.import_run_files(
        files,
        digest=make.digest_of(files),
        fmt=sample.plugin(),
        options=RecordingOptions(version=version),
    )


@pytest.mark.parametrize("sample", RUNS, ids=str)
def test_a_stored_run_is_exported_without_loss_and_known_again(sample: Sample) -> None:
    originals = {str(path): data for path, data in sample.files().items()}
    version = version_for(sample)
    report = record(sample.files(), sample, version)
    runs = [Run.objects.get(pk=one.run) for one in report.runs]
    assert runs
    for run in runs:
        export = exporting.export_upload(run)
        assert_same(export.files, originals, sample.format)
        before = make.whole_database()
        beside = (
            {path: data for path, data in originals.items() if path not in export.files}
            if sample.format == "academy_run"
            else {}
        )
        again = record(Files.of({**beside, **export.files}), sample, version)
        assert {one.outcome for one in again.runs} == {"unchanged"}
        assert run.pk in {one.run for one in again.runs}
        assert make.changed_tables(before) == []


@pytest.mark.parametrize("sample", RUNS, ids=str)
def test_a_run_of_an_upload_is_exported_alone_and_known_again(sample: Sample) -> None:
    version = version_for(sample)
    report = record(sample.files(), sample, version)
    for outcome in report.runs:
        run = Run.objects.get(pk=outcome.run)
        export = exporting.export_run(run)
        assert export.files
        before = make.whole_database()
        artifacts = (
            {str(path): data for path, data in sample.files().items() if path.suffix not in LINES}
            if sample.format == "academy_run"
            else {}
        )
        again = record(Files.of({**artifacts, **export.files}), sample, version)
        assert [(one.run, one.outcome) for one in again.runs] == [(run.pk, "unchanged")]
        assert make.changed_tables(before) == []


@pytest.mark.parametrize("sample", SUITES, ids=str)
def test_what_is_sealed_stays_out_of_an_export_without_keys(sample: Sample) -> None:
    from academy.errors import AcademyError
    from academy.models import AuditEvent

    for version in import_sample(sample):
        if not exporting.is_sealed(version):
            continue
        holdouts = list(version.tasks.filter(holdout=True).values_list("prompt", flat=True))
        try:
            export = exporting.export_suite(version)
        except AcademyError as error:
            assert "key" in str(error)
            continue
        assert "--with-keys" in export.left_out[0]
        everything = b"".join(export.files.values()).decode()
        assert not any(prompt in everything for prompt in holdouts)
        assert not AuditEvent.objects.filter(act="keys.export").exists()
        exporting.export_suite(version, with_keys=True, why="tests")
        assert AuditEvent.objects.get(act="keys.export").subject == f"version:{version.pk}"


def test_every_format_that_reads_also_writes() -> None:
    for sample in ACCEPTED:
        fmt = format_of(sample.format)
        assert (fmt.parse_suite is None) == (fmt.export_suite is None)
        assert (fmt.parse_run is None) == (fmt.export_run is None)
