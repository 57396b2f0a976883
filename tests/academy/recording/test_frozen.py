"""Runs and records do not change in the database."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from academy.models import Entrant, InstanceRecord, Submission, SuiteVersion
from tests import factories as make
from tests.academy.recording.making import records_of

pytestmark = pytest.mark.django_db


def test_what_a_run_is_does_not_change_in_the_database(version: SuiteVersion) -> None:
    run = make.takeoff_run(version)
    other = Entrant.objects.create(slug="other", name="Other")
    for column, value in {
        "entrant_id": other.pk,
        "version_id": version.pk + 1,
        "attempt": 7,
        "arm": "other",
        "header": "{}",
    }.items():
        with (
            pytest.raises(IntegrityError, match="does not change"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE academy_run SET {column} = %s WHERE id = %s", [value, run.pk])


@pytest.mark.parametrize("column", ["status", "content_digest", "replicate"])
def test_a_record_does_not_change_in_the_database(version: SuiteVersion, column: str) -> None:
    run = make.takeoff_run(version)
    value = {"content_digest": "'\\x00'::bytea", "replicate": "2"}.get(column, "'error'")
    with (
        pytest.raises(IntegrityError, match="does not change"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            f"UPDATE academy_instancerecord SET {column} = {value} WHERE run_id = %s", [run.pk]
        )


def test_the_database_itself_holds_ids_and_parts_together(version: SuiteVersion) -> None:
    run = make.takeoff_run(version)
    record = records_of(run)[0]
    for changes in (
        {"id": record.pk + 1},
        {"id": record.pk + 2**39},
        {"id": record.pk + 32, "replicate": 0},
        {"id": record.pk, "status": "answered"},
    ):
        copy = InstanceRecord.objects.get(pk=record.pk)
        for name, value in changes.items():
            setattr(copy, name, value)
        with pytest.raises(IntegrityError), transaction.atomic():
            copy.save(force_insert=True)
    assert Submission.objects.count() == 1
