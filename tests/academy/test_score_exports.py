"""Scored runs of every format, written in every form that takes scores."""

from __future__ import annotations

import pytest

from academy import exporting, registry
from academy.errors import AcademyError
from academy.formats.reading import Files
from academy.models import AuditEvent, Run
from tests import factories as make
from tests.academy.exporting_making import SECRET, some_runs
from tests.academy.test_formats import Sample
from tests.academy.test_round_trips import RUNS, version_for
from tests.academy.test_round_trips import record as record_sample

pytestmark = pytest.mark.django_db


def test_a_run_that_is_not_scored_yet_has_no_scores_to_export() -> None:
    run = make.takeoff_run(make.takeoff_version(1))
    for form in registry.score_forms():
        with pytest.raises(AcademyError, match="not scored yet"):
            exporting.export_scores(run, form=form, at=run.created_at)


def test_scored_runs_of_several_formats_are_exported_in_every_form_that_takes_them() -> None:
    assert registry.score_forms()
    for run in some_runs():
        for form in registry.score_forms():
            export = exporting.export_scores(run, form=form, at=run.created_at)
            assert export.files
            files = Files.of(dict(export.files))
            fmt = registry.format_of(form)
            assert fmt.claims_run(files)
            assert fmt.parse_run is not None
            upload = fmt.parse_run(files, None)
            assert len(upload.runs) == 1
            known = set(run.version.tasks.values_list("external_id", flat=True))
            for exported in upload.records():
                assert any(name in exported.task_id for name in known)


def test_what_waits_is_counted_in_a_pair_and_is_no_row() -> None:
    judged, _measured = some_runs()
    for form in registry.score_forms():
        export = exporting.export_scores(judged, form=form, at=judged.created_at)
        text = b"".join(export.files.values()).decode()
        assert '"waiting": "1"' in text
        assert '"scored": "1"' in text
        assert '"is_correct": true' in text
        assert '"sample_id": "q-0"' in text
        assert '"sample_id": "q-1"' not in text


def test_keys_are_in_a_pair_only_when_asked_for_and_noted() -> None:
    version = make.version_of(make.import_files(make.sealed_files(2, value=SECRET), publish=True))
    run = make.takeoff_run(version)
    make.score_all()
    for form in registry.score_forms():
        closed = exporting.export_scores(run, form=form, at=run.created_at)
        assert b"70123" not in b"".join(closed.files.values())
        assert not AuditEvent.objects.filter(act="keys.export").exists()
        exporting.export_scores(run, form=form, at=run.created_at, with_keys=True)
        assert AuditEvent.objects.filter(act="keys.export").exists()


@pytest.mark.parametrize("sample", RUNS, ids=str)
def test_a_scored_run_of_any_format_is_written_in_every_form_that_takes_scores(
    sample: Sample,
) -> None:
    version = version_for(sample)
    report = record_sample(sample.files(), sample, version)
    make.score_all()
    assert registry.score_forms()
    for outcome in report.runs:
        run = Run.objects.get(pk=outcome.run)
        for form, fmt in registry.score_forms().items():
            export = exporting.export_scores(run, form=form, at=run.created_at)
            files = Files.of(dict(export.files))
            assert fmt.claims_run(files)
            assert fmt.parse_run is not None
            upload = fmt.parse_run(files, None)
            told = {one.path: one.status for one in upload.files}
            assert set(told) == set(export.files)
            wrong = [one for one in fmt.compatibility(files) if one.severity == "error"]
            assert wrong == []
            again = exporting.export_scores(run, form=form, at=run.created_at)
            assert again.files == export.files
