"""Keys come in revisions, each committed to; nobody edits one, and none is ever printed."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction

from academy import confirming, keying, publishing, specs
from academy.commitments import key_commitment
from academy.errors import AcademyError
from academy.models import AnswerKey, AuditEvent, SuiteVersion
from tests import factories as make

pytestmark = pytest.mark.django_db
SECRET = 31415926


def key_file(task_id: str, *values: float, **changes: Any) -> dict[str, Any]:
    quantity: dict[str, Any] = {"item": task_id, "unit": "sf"}
    if len(values) == 1:
        quantity["value"] = values[0]
    else:
        quantity["raters"] = [{"by": f"rater {n}", "value": v} for n, v in enumerate(values)]
    return {"taskId": task_id, "quantities": [quantity], **changes}


def folder(tmp_path: Path, *documents: dict[str, Any]) -> Path:
    for document in documents:
        place = tmp_path / f"{document['taskId']}.groundtruth.json"
        place.write_text(json.dumps(document))
    return tmp_path


@pytest.fixture
def keyless() -> SuiteVersion:
    tasks = [make.takeoff_task(f"t-{n}", slug="held", groundTruth=None) for n in range(2)]
    files = make.takeoff_files(tasks, slug="held", keys="withheld")
    return make.version_of(make.import_files(files))


def test_a_draft_that_gets_all_its_keys_can_be_published(
    keyless: SuiteVersion, tmp_path: Path
) -> None:
    with pytest.raises(AcademyError, match="has no answer key for t-0, t-1"):
        publishing.publish_version(keyless, reason="too early")
    report = keying.load_key_path(
        keyless, folder(tmp_path, key_file("t-0", 10), key_file("t-1", 20, 22, 24))
    )
    assert [(key.task, key.outcome) for key in report.keys] == [("t-0", "new"), ("t-1", "new")]
    assert report.missing == ()
    assert report.agreement is not None
    assert report.agreement["raters"] == 3
    assert report.agreement["items"] == 1
    with pytest.raises(AcademyError, match="t-1 in held@1.0 are a consensus"):
        publishing.publish_version(keyless, reason="all keys are here")
    made = [AnswerKey.objects.get(task__external_id="t-1")]
    confirming.confirm(made, by=make.person("carol", "curator"), reason="measured it too")
    publishing.publish_version(keyless, reason="all keys are here")
    keyless.refresh_from_db()
    assert keyless.state == "published"
    assert AnswerKey.objects.get(task__external_id="t-1").content["quantities"][0]["value"] == 22


def test_every_revision_has_its_own_salt_and_commitment(keyless: SuiteVersion) -> None:
    content = {"quantities": [{"item": "t-0", "value": 10, "unit": "sf"}]}
    other = {"quantities": [{"item": "t-0", "value": 11, "unit": "sf"}]}
    for revision in (content, other, content):
        keying.revise(keyless, {"t-0": revision}, reason="first")
    keys = list(AnswerKey.objects.filter(task__external_id="t-0").order_by("revision"))
    assert [key.revision for key in keys] == [1, 2, 3]
    assert len({key.salt for key in keys}) == len({key.commitment for key in keys}) == 3
    for key in keys:
        assert key.commitment == key_commitment(key.salt, key.content)
    with pytest.raises(DatabaseError), transaction.atomic():
        AnswerKey.objects.filter(pk=keys[0].pk).update(content=other)


def test_the_same_keys_again_change_nothing(keyless: SuiteVersion, tmp_path: Path) -> None:
    path = folder(tmp_path, key_file("t-0", 10), key_file("t-1", 20))
    keying.load_key_path(keyless, path)
    before = make.whole_database()
    report = keying.load_key_path(keyless, path)
    assert {key.outcome for key in report.keys} == {"unchanged"}
    assert make.changed_tables(before) == []


def test_a_dry_run_reports_and_changes_nothing_and_no_key_is_printed(
    keyless: SuiteVersion, tmp_path: Path
) -> None:
    path = folder(tmp_path, key_file("t-0", SECRET), key_file("elsewhere", 1))
    before = make.whole_database()
    out = StringIO()
    call_command("load_keys", str(keyless), str(path), "--dry-run", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert make.changed_tables(before) == []
    assert (told["dry_run"], told["missing"]) == (True, ["t-1"])
    assert [f["status"] for f in told["files"]] == ["recognised", "imported"]
    call_command("load_keys", str(keyless), str(path), stdout=out)
    assert str(SECRET) not in out.getvalue()
    events = AuditEvent.objects.filter(act="keys.revise").values_list("details", flat=True)
    assert str(SECRET) not in str(list(events))


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"t-9": {"quantities": []}}, "no task 't-9'"),
        ({"t-0": {"quantities": [{"item": "x", "unit": "sf"}]}}, "key-without-use"),
    ],
)
def test_a_key_that_fits_nothing_is_refused(
    keyless: SuiteVersion, contents: dict[str, Any], message: str
) -> None:
    with pytest.raises(AcademyError, match=message):
        keying.revise(keyless, contents, reason="wrong")
    assert not AnswerKey.objects.exists()


def test_a_format_without_held_out_keys_says_so(tmp_path: Path) -> None:
    version = make.rubric_version(1)
    with pytest.raises(AcademyError, match="has no held-out answer keys"):
        keying.load_key_path(version, folder(tmp_path, key_file("q-0", 1)))


def test_the_source_of_a_corrected_key_is_still_known() -> None:
    contents = make.takeoff_files(2)
    version = make.version_of(make.import_files(contents, publish=True))
    first = version.passes.get(state="published")
    corrected = AnswerKey.objects.get(task__version=version, task__external_id="t-0").content
    corrected["quantities"][0]["value"] = 101
    keying.revise(version, {"t-0": corrected}, reason="measured again")
    before = make.whole_database()
    assert make.import_files(contents).suites[0].outcome == "unchanged"
    assert make.changed_tables(before) == []
    task = version.tasks.get(external_id="t-0")
    assert specs.keys_in(first)[task.pk].revision == 1
    assert specs.latest_keys(version)[task.pk].revision == 2
