"""Suites are stored whole or not at all, once, under names that keep their content."""

from __future__ import annotations

import re
from typing import Any

import pytest

from academy import importing, publishing, specs
from academy.errors import AcademyError, FormatError
from academy.models import (
    AnswerKey,
    AuditEvent,
    Criterion,
    ScoringPass,
    Suite,
    SuiteFile,
    SuiteVersion,
)
from tests import factories as make

pytestmark = pytest.mark.django_db


def test_a_new_suite_is_stored_with_tasks_keys_metrics_files_and_a_first_pass() -> None:
    report = make.import_files(make.takeoff_files(3))
    (outcome,) = report.suites
    assert (outcome.suite, outcome.version, outcome.outcome) == ("example", "1.0", "created")
    assert (outcome.tasks, outcome.new_tasks, outcome.state) == (3, 3, "draft")
    version = make.version_of(report)
    assert list(version.tasks.order_by("ordinal").values_list("ordinal", "external_id")) == [
        (0, "t-0"),
        (1, "t-1"),
        (2, "t-2"),
    ]
    assert AnswerKey.objects.filter(task__version=version, revision=1).count() == 3
    assert list(version.metrics.values_list("key", flat=True)) == ["ape"]
    assert set(version.files.values_list("path", flat=True)) >= {"suite.json", "0.task.json"}
    assert version.passes.get().state == ScoringPass.State.PUBLISHED
    assert AuditEvent.objects.get(act="suite.import").subject == f"version:{version.pk}"


def test_criteria_are_stored_with_their_tasks() -> None:
    version = make.rubric_version(2, criteria=3, publish=False)
    assert Criterion.objects.filter(task__version=version).count() == 6


def test_an_unnamed_edition_is_named_after_its_content() -> None:
    contents = {make.rubrics.BUCKET: [make.rubric_task("q-0")]}
    version = make.version_of(make.import_files(contents))
    assert re.fullmatch(r"d-[0-9a-f]{12}", version.name)
    assert version.name == f"d-{version.digest[:12]}"


def test_a_stored_version_gives_back_the_values_it_was_made_from() -> None:
    version = make.takeoff_version(3)
    stored = specs.suite_spec(version, keys=specs.latest_keys(version))
    assert specs.suite_digest(stored) == version.digest
    assert stored.tasks[1].key == {"quantities": [{"item": "t-1", "value": 100, "unit": "sf"}]}


def test_the_same_bytes_again_change_nothing() -> None:
    contents = make.takeoff_files(3)
    first = make.import_files(contents, publish=True)
    before = make.whole_database()
    second = make.import_files(contents, publish=True)
    assert make.changed_tables(before) == []
    assert second.suites[0].outcome == "unchanged"
    assert second.suites[0].new_tasks == 0
    assert second.suites[0].digest == first.suites[0].digest


def test_the_same_bytes_again_may_publish_a_draft() -> None:
    contents = make.takeoff_files(1)
    make.import_files(contents)
    report = make.import_files(contents, publish=True)
    assert (report.suites[0].outcome, report.suites[0].state) == ("unchanged", "published")


def test_a_known_name_with_other_content_is_refused_with_what_differs() -> None:
    make.import_files(make.takeoff_files(2))
    tasks = [
        make.takeoff_task("t-0", 100, prompt="Measure something else."),
        make.takeoff_task("t-2", 100),
    ]
    before = make.whole_database()
    with pytest.raises(AcademyError) as refused:
        make.import_files(make.takeoff_files(tasks))
    message = str(refused.value)
    assert "example@1.0 is known with other content" in message
    assert "task t-0 changed" in message
    assert "task t-1 is gone" in message
    assert "task t-2 is new" in message
    assert "--as SUITE@VERSION" in message
    assert make.changed_tables(before) == []


def test_a_known_name_with_another_key_is_refused_without_showing_a_key() -> None:
    make.import_files(make.takeoff_files([make.takeoff_task("t-0", 100)]))
    before = make.whole_database()
    with pytest.raises(AcademyError, match="other answer keys for t-0") as refused:
        make.import_files(make.takeoff_files([make.takeoff_task("t-0", 70123)]))
    assert "70123" not in str(refused.value)
    assert make.changed_tables(before) == []


def test_other_content_goes_under_another_version() -> None:
    make.import_files(make.takeoff_files(1))
    other = make.takeoff_files([make.takeoff_task("t-0", prompt="Measure the other one.")])
    report = make.import_files(other, rename=("example", "2.0"))
    assert (report.suites[0].version, report.suites[0].outcome) == ("2.0", "created")
    assert Suite.objects.get().versions.count() == 2


def test_another_format_does_not_take_over_a_suite() -> None:
    make.import_files(make.takeoff_files(1))
    before = make.whole_database()
    contents = {make.rubrics.BUCKET: [make.rubric_task("q-0")]}
    with pytest.raises(AcademyError, match="import these files under another name"):
        make.import_files(contents, rename=("example", "3.0"))
    assert make.changed_tables(before) == []


BAD: dict[str, dict[str, Any]] = {
    "a-task-that-breaks-the-schema": {
        **make.takeoff_files(2),
        "1.task.json": {"taskVersion": "1.0"},
    },
    "a-file-that-is-cut-off": {**make.takeoff_files(1), "0.task.json": b'{"taskVersion": "1.0"'},
    "a-number-that-is-none": {
        **make.takeoff_files(1),
        "0.task.json": make.as_files({"t.json": make.takeoff_task("t-0")})["t.json"].replace(
            b"240", b"NaN"
        ),
    },
    "a-double-key": {**make.takeoff_files(1), "suite.json": b'{"id": "a", "id": "b"}'},
    "bytes-that-are-no-text": {**make.takeoff_files(1), "0.task.json": b"\xff\xfe\x00"},
    "no-suite-at-all": {"hall.svg": make.takeoff.DRAWING},
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_changes_nothing(name: str) -> None:
    make.import_files(make.takeoff_files(2, slug="other"), publish=True)
    before = make.whole_database()
    with pytest.raises(AcademyError):
        make.import_files(BAD[name])
    assert make.changed_tables(before) == []


def test_one_bad_suite_of_an_upload_keeps_the_good_one_out() -> None:
    make.import_files(make.takeoff_files(1, slug="second"))
    good = make.takeoff_files(1, slug="first")
    bad = make.takeoff_files(2, slug="second")
    both = {f"a/{path}": held for path, held in good.items()}
    both |= {f"b/{path}": held for path, held in bad.items()}
    before = make.whole_database()
    with pytest.raises(AcademyError, match=r"second@1\.0 is known with other content"):
        make.import_files(both)
    assert make.changed_tables(before) == []


def test_every_bad_place_is_named_at_once() -> None:
    contents = {
        **make.takeoff_files(2),
        "0.task.json": make.takeoff_task("t-0", title=None),
        "1.task.json": make.takeoff_task("t-1", prompt=7),
    }
    with pytest.raises(FormatError) as refused:
        make.import_files(contents)
    assert {problem.file for problem in refused.value.problems} == {"0.task.json", "1.task.json"}


@pytest.mark.parametrize("publish", [False, True])
def test_a_dry_run_reports_what_the_import_does_and_changes_nothing(publish: bool) -> None:
    contents = make.takeoff_files(3)
    before = make.whole_database()
    dry = make.import_files(contents, dry_run=True, publish=publish)
    assert make.changed_tables(before) == []
    wet = make.import_files(contents, publish=publish)
    assert dry.as_json() == {**wet.as_json(), "dry_run": True}


def test_a_dry_run_refuses_what_the_import_refuses() -> None:
    make.import_files(make.takeoff_files(2))
    changed = make.takeoff_files(3)
    with pytest.raises(AcademyError) as dry:
        make.import_files(changed, dry_run=True)
    with pytest.raises(AcademyError) as wet:
        make.import_files(changed)
    assert str(dry.value) == str(wet.value)


def test_a_suite_goes_under_the_name_that_is_asked_for() -> None:
    report = make.import_files(make.takeoff_files(1), rename=importing.parse_name("other@2026.1"))
    assert str(make.version_of(report)) == "other@2026.1"


def test_one_name_does_not_fit_two_suites() -> None:
    both = {f"a/{path}": held for path, held in make.takeoff_files(1, slug="one").items()}
    both |= {f"b/{path}": held for path, held in make.takeoff_files(1, slug="two").items()}
    with pytest.raises(AcademyError, match="one, two"):
        make.import_files(both, rename=("three", "1"))
    assert not Suite.objects.exists()


@pytest.mark.parametrize(
    "name", ["example", "Example@1", "a b@1", "@1", "example@", "example@-1", "example@a/b"]
)
def test_a_name_that_is_no_suite_at_version_is_refused(name: str) -> None:
    with pytest.raises(AcademyError, match="is not SUITE@VERSION"):
        importing.parse_name(name)


def test_publishing_on_import_makes_the_version_public() -> None:
    version = make.takeoff_version(2, publish=True)
    assert version.state == SuiteVersion.State.PUBLISHED
    assert version.published_at is not None


def test_a_ranked_version_without_keys_stays_a_draft_and_says_why() -> None:
    tasks = [make.takeoff_task("t-0", 100), make.takeoff_task("t-1", groundTruth=None)]
    report = make.import_files(make.takeoff_files(tasks), publish=True)
    assert report.suites[0].state == "draft"
    assert "stays a draft" in report.suites[0].note
    assert "has no answer key for t-1" in report.suites[0].note
    with pytest.raises(AcademyError, match="has no answer key for t-1"):
        publishing.publish_version(make.version_of(report), reason="again")
    assert make.version_of(report).published_at is None


def test_a_version_without_tasks_is_not_published() -> None:
    report = make.import_files(make.takeoff_files(0), publish=True)
    assert "holds no task" in report.suites[0].note


def test_publishing_twice_changes_nothing() -> None:
    version = make.takeoff_version(1)
    before = make.whole_database()
    publishing.publish_version(version, reason="again")
    assert make.changed_tables(before) == []


def test_every_key_has_a_salt_and_a_commitment_of_its_own() -> None:
    version = make.takeoff_version(3)
    keys = list(AnswerKey.objects.filter(task__version=version))
    assert len({key.salt for key in keys}) == 3
    assert len({key.commitment for key in keys}) == 3
    assert all(len(key.salt) == 64 for key in keys)


def test_a_source_file_is_kept_with_its_bytes() -> None:
    from academy import blobs

    contents = make.as_files(make.takeoff_files(1))
    version = make.version_of(make.import_files(contents))
    for kept in SuiteFile.objects.filter(version=version).select_related("blob"):
        assert blobs.open_blob(kept.blob) == contents[kept.path]


TOO_LONG = {
    "title of a suite": make.takeoff_files(1, title="T" * 301),
    "title of a task": make.takeoff_files([make.takeoff_task("t-0", title="T" * 501)]),
    "id of a task": make.takeoff_files([make.takeoff_task("t" * 301)]),
    "id of a suite": make.takeoff_files(1, slug="s" * 101),
}


@pytest.mark.parametrize("what", sorted(TOO_LONG))
def test_a_text_that_no_column_keeps_is_refused_with_its_place(what: str) -> None:
    before = make.whole_database()
    with pytest.raises(AcademyError, match=r"characters|does not have the form"):
        make.import_files(TOO_LONG[what])
    assert make.changed_tables(before) == []
