"""What the report on a queue shows, every figure with its n."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from academy import passes
from academy.intervals import wilson
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.reporting import report_on
from tests.adjudication import builders as build
from tests.adjudication.builders import person
from tests.adjudication.reports.asking import DAY, FAILURE_25, doubly, figures, read
from tests.adjudication.reviews import MINUTE, gold_reviews, judged, quiet_queue, reviewed, said

pytestmark = pytest.mark.django_db


def test_the_page_shows_the_agreement_of_failure_25_with_its_note(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(one == "met", two == "met") for one, two in FAILURE_25])
    page = read(client, queue, curator)
    for figure in ("95.0 %", "−0.025", "0.947", "98 % of ratings", "Prevalence: 98%"):
        assert figure in page


def test_one_answer_overall_reads_undefined_on_the_page(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, True)] * 12)
    page = read(client, queue, curator)
    assert "undefined" in page
    assert "Too few to judge: 12 doubly reviewed items" in page


def test_what_counts_as_doubly_reviewed(queue: Queue, curator: Any, anna: Any, bert: Any) -> None:
    carl = build.reviewer("carl")
    doubly(queue, anna, bert, [(True, False)] * 3)
    doubly(queue, anna, bert, [(True, True)] * 5, state="open", decide=False)
    reviewed(queue, [{anna: {"R1": said(True)}}] * 4)
    (third,) = reviewed(queue, [{anna: {"R1": said(True)}}])
    Seat.objects.create(
        item=third, number=2, role="third", state="submitted", holder=bert,
        submitted_at=timezone.now(), verdicts={"R1": said(False)},
    )  # fmt: skip
    (replaced,) = doubly(queue, anna, bert, [(True, False)])
    replaced.seats.filter(holder=bert).update(state="withdrawn", withdrawn_because="slip")
    Seat.objects.create(
        item=replaced, number=3, state="submitted", holder=carl,
        submitted_at=timezone.now(), verdicts={"R1": said(True)},
    )  # fmt: skip
    gold_reviews(queue, anna, [True])
    assert figures(queue, curator).doubly == 4
    (pooled,) = figures(queue, curator).pooled
    assert pooled.report is not None
    assert pooled.report.percent.point == pytest.approx(1 / 4)


def test_equal_criteria_of_several_tasks_are_one_question(
    curator: Any, anna: Any, bert: Any
) -> None:
    queue = quiet_queue(criteria=2)
    reviewed(
        queue,
        [
            {who: {"R1": said(True), "R2": said(who is anna)} for who in (anna, bert)}
            for _ in range(3)
        ],
    )
    listed = figures(queue, curator).agreements
    assert [(one.n, one.report and one.report.percent.point) for one in listed] == [
        (3, 0.0),
        (3, 1.0),
    ]


def test_progress_and_age_of_what_waits(
    client: Client, queue: Queue, curator: Any, anna: Any
) -> None:
    items = reviewed(queue, [{anna: {"R1": said(True)}}] * 6)
    now = timezone.now()
    for item, state, age in zip(
        items,
        ["open", "open", "open", "decided", "closed", "resolved"],
        [0, 2, 40, 5, 1, 1],
        strict=True,
    ):
        ReviewItem.objects.filter(pk=item.pk).update(state=state, created_at=now - age * DAY)
    report = report_on(queue, reader=curator, at=now)
    assert (report.progress.resolved, report.progress.wanted) == (1, 5)
    waiting = {row.state: row for row in report.waiting}
    assert waiting["open"].n == 3
    assert dict(waiting["open"].ages) == {
        "under a day": 1, "1 to 3 days": 1, "3 to 7 days": 0, "1 to 4 weeks": 0, "over 4 weeks": 1,
    }  # fmt: skip
    assert waiting["open"].oldest == now - 40 * DAY
    assert abs((waiting["open"].median_at or now) - (now - 2 * DAY)) < timedelta(seconds=1)
    assert waiting["decided"].n == 1
    assert "1 of 5 items" in read(client, queue, curator)


def test_throughput_is_counted_by_day_with_days_on_which_nothing_came(
    queue: Queue, curator: Any, anna: Any
) -> None:
    now = datetime(2026, 3, 10, 12, tzinfo=UTC)
    reviewed(queue, [{anna: {"R1": said(True)}}] * 3, at=now - 2 * DAY)
    reviewed(queue, [{anna: {"R1": said(True)}}] * 2, at=now)
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now - 200 * DAY)
    days = report_on(queue, reader=curator, at=now).days
    assert [(day.submitted, day.resolved) for day in days[-4:]] == [(0, 0), (3, 3), (0, 0), (2, 2)]
    assert len(days) == 30
    assert sum(day.submitted for day in days) == 5


def test_time_per_item_is_a_median_without_breaks(
    client: Client, queue: Queue, curator: Any, anna: Any
) -> None:
    for minutes in (1, 2, 9, 45):
        reviewed(queue, [{anna: {"R1": said(True)}}], took=minutes * MINUTE)
    times = report_on(queue, reader=curator).times
    assert (times.n, times.breaks, times.median) == (3, 1, 120)
    page = read(client, queue, curator)
    assert "With a break 1, left out" in page
    assert "2.0 min" in page


def test_gold_and_drift_stand_beside_each_reviewer(
    client: Client, queue: Queue, curator: Any, anna: Any
) -> None:
    gold_reviews(queue, anna, [True] * 30 + [False] * 20)
    (row,) = report_on(queue, reader=curator).reviewers
    assert (row.name, row.gold.n, row.gold.word) == ("anna", 50, "lower than before")
    interval = wilson(30, 50)
    page = read(client, queue, curator)
    assert f"60.0 % {100 * (interval.low or 0):.1f} to {100 * (interval.high or 0):.1f}" in page
    assert "lower than before" in page


def test_judges_stand_against_people_with_entrants_by_name_only_for_curators_and_auditors(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    items = doubly(queue, anna, bert, [(True, True)] * 6 + [(False, False)] * 6 + [(True, False)])
    judged(items, [True] * 5 + [False] + [False] * 6 + [True])
    judged(items, [True] * 12 + ["cannot_tell"], version="2")
    judged(items, [True] * 13, digest="b" * 64)
    judges = figures(queue, curator).judges
    assert [(one.judge.version, one.judge.digest[0]) for one in judges] == [
        ("1", "a"),
        ("1", "b"),
        ("2", "a"),
    ]
    first, _second, third = judges
    assert (first.pairs, first.unsettled) == (12, 1)
    assert first.report.pooled_errors.false_fail == 1
    assert third.unsaid == 1
    page = read(client, queue, curator)
    assert page.count("example-judge") >= 3
    assert "sha256 aaaa" in page and "sha256 bbbb" in page
    assert "Example" in page.split("Judges against people")[1]
    assert "Too few to judge: 12 doubly reviewed items" in page
    assert "Refused" in page
    masked = read(client, queue, person("ada", "adjudicator"))
    assert "Entrant 1" in masked.split("Judges against people")[1]
    assert "Example" not in masked.split("Judges against people")[1].split("Reviewers in the")[0]


def test_sampled_records_are_weighted_by_one_over_their_chance(
    queue: Queue, curator: Any, anna: Any
) -> None:
    sure = reviewed(queue, [{anna: {"R1": said(one)}} for one in [True, False] * 10])
    drawn = reviewed(
        queue,
        [{anna: {"R1": said(True)}} for _ in range(10)],
        probability=0.1,
        chosen_because="drawn for the audit",
    )
    judged(sure, [True, False] * 10)
    judged(drawn, [True] * 5 + [False] * 5)
    (found,) = figures(queue, curator).judges
    q1, q0 = (10 + 50) / (10 + 100), 1.0
    assert found.report.pooled_rate.point == pytest.approx((0.5 + q0 - 1) / (q0 + q1 - 1))


def test_reasons_of_selection_are_counted_apart_with_their_chances(
    client: Client, queue: Queue, curator: Any, anna: Any
) -> None:
    reviewed(queue, [{anna: {"R1": said(True)}}] * 3)
    reviewed(
        queue, [{anna: {"R1": said(True)}}] * 2, probability=0.25, chosen_because="drawn by lot"
    )
    reasons = report_on(queue, reader=curator).reasons
    assert [(one.because, one.items, one.lowest) for one in reasons] == [
        ("waits for a person", 3, 1.0),
        ("drawn by lot", 2, 0.25),
    ]
    assert "drawn by lot 2 0 0 2 0 0.25" in read(client, queue, curator)


def test_defective_criteria_come_with_faults_and_the_state_of_the_vote(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    reviewed(
        queue,
        [
            {
                anna: {"R1": said("defective", fault="ambiguous")},
                bert: {"R1": said("defective", fault="stale")},
            },
            {anna: {"R1": said("defective", fault="ambiguous")}, bert: {"R1": said(True)}},
        ],
    )
    (found,) = report_on(queue, reader=curator).defects
    assert (found.people, found.items) == (2, 2)
    assert found.faults == (("ambiguous", 2), ("stale", 1))
    assert found.vote is None
    assert "no vote is open" in read(client, queue, curator)
    criterion = queue.version.tasks.get().criteria.get(key="R1")
    votes = Queue.objects.create(version=queue.version, kind="defects", title="Defects")
    item = ReviewItem.objects.create(queue=votes, criterion=criterion)
    Seat.objects.create(item=item, number=1, state="submitted", holder=anna)
    (found,) = report_on(queue, reader=curator).defects
    assert found.vote is not None
    assert (found.vote.state, found.vote.votes) == ("Open", 1)
    passes.stage(queue.version, reason="people found it defective", strike=[criterion.pk])
    assert "struck in a staged pass pass 2" in read(client, queue, curator)
