"""Decisions are append-only in the database: what was said stays, whoever asks."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from academy import deciding, ending
from academy.models import Decision
from tests import factories as make

pytestmark = pytest.mark.django_db
MOVES = {"current"}
OTHER = {
    "id": "id + 1000000",
    "kind": "'run'",
    "run_id": "1",
    "task_id": "1",
    "record_id": "record_id + 1",
    "criterion_id": "criterion_id + 1",
    "source": "'machine'",
    "state": "'na'",
    "value": "'false'",
    "seat": "5",
    "person_id": "5",
    "confidence": "0.5",
    "probability": "0.5",
    "suggestion_seen": "NOT suggestion_seen",
    "counts": "NOT counts",
    "supersedes_id": "id",
    "made_at": "made_at + interval '1 day'",
    "created_at": "created_at + interval '1 day'",
}


@pytest.fixture
def decision() -> Decision:
    """What a judge said of one criterion."""
    version = make.rubric_version(1)
    make.record_files(make.line_run(make.judged("q-0", True)), version)
    return Decision.objects.order_by("pk")[0]


def refused(statement: str) -> None:
    with (
        pytest.raises(IntegrityError, match=r"does not change once written|append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def test_no_column_of_a_decision_changes_but_whether_it_stands(decision: Decision) -> None:
    columns = {field.column for field in Decision._meta.concrete_fields} - MOVES
    for column in sorted(columns):
        refused(
            f"UPDATE academy_decision SET {column} = {OTHER.get(column, repr('other'))}"
            f" WHERE id = {decision.pk}"
        )
    assert Decision.objects.filter(pk=decision.pk).update(current=False) == 1
    refused(f"UPDATE academy_decision SET current = true WHERE id = {decision.pk}")


def test_a_decision_is_not_deleted_nor_is_what_it_is_about(decision: Decision) -> None:
    refused(f"DELETE FROM academy_decision WHERE id = {decision.pk}")
    assert decision.record is not None
    for row in (decision, decision.record):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            row.delete()
    assert Decision.objects.filter(pk=decision.pk).exists()


def test_a_withdrawn_run_keeps_its_decisions(decision: Decision) -> None:
    assert decision.record is not None
    before = Decision.objects.count()
    ending.withdraw_run(decision.record.run, reason="not ours", by=None)
    assert Decision.objects.count() == before


def test_another_verdict_of_the_same_judge_supersedes_the_first(decision: Decision) -> None:
    assert decision.record is not None and decision.criterion is not None
    (made,) = deciding.record_decisions(
        decision.record,
        [deciding.Verdict(criterion=decision.criterion, value=not decision.value)],
        source=decision.source,
        author=decision.author,
        author_version=decision.author_version,
        author_digest=decision.author_digest,
    )
    decision.refresh_from_db()
    assert (decision.current, made.supersedes) == (False, decision)
