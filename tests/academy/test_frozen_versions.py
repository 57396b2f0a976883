"""What is published, sealed or noted does not change in the database; the rest may."""

from __future__ import annotations

import pytest

from academy.models import AnswerKey, Blob, Metric, SuiteVersion
from tests import factories as make
from tests.academy.triggers import refused_by_trigger

pytestmark = pytest.mark.django_db
FROZEN = [
    "UPDATE academy_task SET prompt = 'other' WHERE version_id = %s",
    "UPDATE academy_task SET holdout = true WHERE version_id = %s",
    "DELETE FROM academy_task WHERE version_id = %s",
    "INSERT INTO academy_task (version_id, ordinal, external_id, title, kind, prompt, context,"
    " gradings, attributes, extra, source, holdout, digest)"
    " VALUES (%s, 99, 'new', '', '', '', '{}', '[]', '{}', '{}', '', false, '')",
    "UPDATE academy_metric SET missing = 0 WHERE version_id = %s",
    "DELETE FROM academy_metric WHERE version_id = %s",
    "UPDATE academy_criterion SET weight = 2"
    " WHERE task_id IN (SELECT id FROM academy_task WHERE version_id = %s)",
    "DELETE FROM academy_criterion"
    " WHERE task_id IN (SELECT id FROM academy_task WHERE version_id = %s)",
    "INSERT INTO academy_criterion (task_id, ordinal, key, text, weight, scale, decided_by,"
    " anchors, allows_na, needs, extra, digest) SELECT id, 99, 'new', '', 1, 'met', 'judge',"
    " '[]', false, '[]', '{}', '' FROM academy_task WHERE version_id = %s",
    "UPDATE academy_suiteversion SET digest = 'other' WHERE id = %s",
    "UPDATE academy_suiteversion SET name = 'other' WHERE id = %s",
    "UPDATE academy_suiteversion SET mode = 'practice' WHERE id = %s",
    "UPDATE academy_suiteversion SET sealed = NOT sealed WHERE id = %s",
    "UPDATE academy_suiteversion SET thresholds = '{\"a\": 1}' WHERE id = %s",
    "UPDATE academy_suiteversion SET limits = '{\"a\": 1}' WHERE id = %s",
    "UPDATE academy_suiteversion SET published_at = now() + '1 day' WHERE id = %s",
    "UPDATE academy_suiteversion SET state = 'draft', published_at = NULL WHERE id = %s",
    "UPDATE academy_scoringpass SET digest = 'other' WHERE version_id = %s",
    "UPDATE academy_scoringpass SET evidence = '{}' WHERE version_id = %s",
]


@pytest.mark.parametrize("statement", FROZEN)
def test_a_published_version_is_frozen_in_the_database(statement: str) -> None:
    version = make.rubric_version(2)
    refused_by_trigger(statement, version.pk)


@pytest.mark.parametrize("column", ["content", "salt", "commitment", "revision"])
def test_an_answer_key_never_changes(column: str) -> None:
    version = make.takeoff_version(1, publish=False)
    key = AnswerKey.objects.get(task__version=version)
    value = {"content": "'{}'", "revision": "2"}.get(column, "'other'")
    refused_by_trigger(f"UPDATE academy_answerkey SET {column} = {value} WHERE id = %s", key.pk)


def test_kept_bytes_never_change() -> None:
    make.takeoff_version(1, publish=False)
    blob = Blob.objects.first()
    assert blob is not None
    refused_by_trigger("UPDATE academy_blob SET content = '' WHERE digest = %s", blob.digest)


def test_the_trail_is_append_only() -> None:
    make.takeoff_version(1)
    for statement in (
        "UPDATE academy_auditevent SET reason = 'other' WHERE true",
        "DELETE FROM academy_auditevent WHERE true",
    ):
        refused_by_trigger(statement)


def test_a_draft_may_still_change() -> None:
    version = make.takeoff_version(2, publish=False)
    assert version.tasks.update(prompt="Measure it again.") == 2
    assert Metric.objects.filter(version=version).update(missing=50) == 1


def test_a_published_version_still_retires() -> None:
    version = make.takeoff_version(1)
    assert SuiteVersion.objects.filter(pk=version.pk).update(state="retired") == 1
