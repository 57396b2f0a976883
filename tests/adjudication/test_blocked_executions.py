"""Every doc-bridge execution that is not blocked gets semantic correctness; a blocked one none."""

from __future__ import annotations

from typing import Any

import pytest

from academy import ending
from academy.formats.doc_bridge.hashing import sealed
from academy.models import Decision, Run, Score, SuiteVersion
from adjudication import appeal_kind, assigning, deciding
from adjudication.models import Appeal, Queue
from adjudication.policies import Policy, Sampling
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import example_suites as examples
from tests.adjudication import subjects

pytestmark = pytest.mark.django_db
BLOCKED = "tide-tables-architecture"
ASKED = {"tide-tables-discovery", "tide-tables-documentation", "tide-tables-implementation"}
JUDGED = {
    "status": "automated", "actor": "example-judge", "method": "independent-rubric-v1",
    "outcome": "partial", "confidence": 0.7, "reasonCodes": ["one-part-missing"],
    "configurationHash": "e" * 64,
}  # fmt: skip


def observations(*, judged: bool) -> dict[str, Any]:
    """A ledger with one execution that ran out of time; a judge may have spoken of it."""
    [(name, ledger)] = examples.judged_run().items()
    listed = [
        sealed(unsealed(one) | {"adjudication": JUDGED})
        if judged and one["task"]["taskId"] == BLOCKED
        else one
        for one in ledger["observations"]
    ]
    return {name: sealed(unsealed(ledger) | {"observations": listed})}


def unsealed(artifact: dict[str, Any]) -> dict[str, Any]:
    """An artifact without its hash."""
    return {key: value for key, value in artifact.items() if not key.startswith("contentHash")}


def filled(*, judged: bool = False, policy: Policy | None = None) -> Queue:
    """The queue of criteria after suite and observations were imported and scored."""
    version = make.version_of(make.import_files(examples.judged_suite(), publish=True))
    assert make.record_files(observations(judged=judged), version).runs
    for run in Run.objects.filter(version=version, state="open"):
        ending.close_run(run, reason="all observations are there")
    if policy is not None:
        assigning.make_queue(version, "criteria", preset="one")
        Queue.objects.filter(version=version).update(policy=policy.as_json())
    return build.queue_of(version)


def asked_about(queue: Queue) -> set[str]:
    return set(queue.items.values_list("record__task__external_id", flat=True))


def test_semantic_correctness_is_asked_of_each_execution_that_is_not_blocked() -> None:
    queue = filled()
    assert asked_about(queue) == ASKED
    for item in queue.items.select_related("record__task", "queue"):
        keys = [question.key for question in deciding.questions_of(item)]
        assert "semantic-correctness" in keys, item.record
    score = human_score(queue.version)
    assert (score.status, score.measures["outcome"]) == ("scored", "blocked")


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(everything=True),
        Sampling(share=1.0, seed="all"),
        Sampling(differing=True),
        Sampling(flagged=True),
    ],
    ids=["all", "share", "differing", "flagged"],
)
def test_a_blocked_execution_is_not_asked_about_even_where_a_judge_spoke_of_it(
    sampling: Sampling,
) -> None:
    queue = filled(judged=True, policy=Policy(sampling=sampling))
    said = Decision.objects.filter(record__task__external_id=BLOCKED, source="judge")
    assert said.count() == 1, "what the judge said is kept"
    assert BLOCKED not in asked_about(queue)
    assert human_score(queue.version).measures["outcome"] == "blocked"


def test_an_appeal_against_a_blocked_execution_offers_no_second_look_of_people() -> None:
    queue = filled()
    record = human_score(queue.version).record
    appeal = Appeal(record=record, opened_by=subjects.entrant_of(record.run), text="it ran")
    codes = [choice.code for choice in appeal_kind.choices_for(appeal)]
    assert "redecide" not in codes
    assert "dismissed" in codes


def human_score(version: SuiteVersion) -> Score:
    """What people's metric says of the blocked execution."""
    found: Score = Score.objects.get(
        record__task__external_id=BLOCKED, record__run__version=version, mode="strict",
        current=True, scorer="doc_bridge_human",
    )  # fmt: skip
    return found
