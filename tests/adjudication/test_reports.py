"""Reports on queues: every figure with its n, for those who may read it, at a fixed cost."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from academy import passes, work
from academy.intervals import wilson
from academy.judge_matrix import (
    Judge,
    JudgeVerdict,
    PersonVerdict,
    judges_against_people,
    settled,
)
from academy.models import Work
from adjudication import calibration, claiming, concordance, equal_answers, figuring, own_reporting
from adjudication.calibration import GoldResult, gold_figures
from adjudication.concordance import Asked, Unit, agreement_on
from adjudication.figuring import Figures
from adjudication.models import ExtraVerdict, Queue, ReviewItem, Seat
from adjudication.reporting import may_read, report_on
from tests.adjudication import builders as build
from tests.adjudication.builders import person
from tests.adjudication.reviews import (
    MINUTE,
    gold_reviews,
    judged,
    quiet_queue,
    reviewed,
    said,
)

DAY = timedelta(days=1)
MET = Asked("m", "The total is right", "met", ("met", "not met"))
RATING = Asked("r", "Clarity", "rating", (0, 1, 2, 3))
db = pytest.mark.django_db


def pairs(*cells: tuple[str, str, int]) -> list[tuple[str, str]]:
    """Two answers to each item, as often as a table of counts says."""
    return [(first, second) for first, second, count in cells for _ in range(count)]


def units(answers: Any, asked: Asked = MET, inclusion: float = 1.0) -> list[Unit]:
    return [Unit(place, asked, tuple(given), inclusion) for place, given in enumerate(answers)]


FAILURE_25 = pairs(("met", "met", 95), ("met", "not met", 2), ("not met", "met", 3))


def test_one_frequent_answer_gives_high_percent_low_kappa_high_ac1_and_a_note() -> None:
    found = agreement_on(MET, units(FAILURE_25), "queue")
    assert found.n == 100
    assert found.report is not None and found.report.kappa and found.report.ac1
    assert found.report.percent.point == pytest.approx(0.95)
    assert found.report.kappa.point == pytest.approx(-0.0246, abs=5e-5)
    assert found.report.ac1.point == pytest.approx(0.9474, abs=5e-5)
    assert any("Prevalence" in note for note in found.report.notes)


def test_coefficients_of_one_answer_overall_are_undefined_not_one() -> None:
    found = agreement_on(MET, units(pairs(("met", "met", 40))), "queue").report
    assert found is not None and found.kappa and found.ac1
    assert found.percent.point == 1.0
    assert [found.alpha.point, found.kappa.point, found.ac1.point] == [None, None, None]
    assert "undefined" in " ".join(found.notes)


def test_ratings_are_compared_as_ordered_and_near_misses_weigh_less() -> None:
    near = [(0, 1), (1, 2), (2, 3), (3, 2), (1, 0), (0, 0), (2, 2), (3, 3)] * 5
    far = [(0, 3), (1, 3), (2, 0), (3, 0), (1, 3), (0, 0), (2, 2), (3, 3)] * 5
    close, apart = (
        agreement_on(RATING, units(answers, RATING), "q").report for answers in (near, far)
    )
    assert close is not None and apart is not None
    assert close.weighted_kappa is not None and apart.weighted_kappa is not None
    assert close.percent.point == apart.percent.point
    assert (close.weighted_kappa.point or 0) > (apart.weighted_kappa.point or 0) + 0.5
    assert close.alpha.method == "alpha-ordinal"


def test_answers_beside_an_ordered_scale_are_left_out_and_counted() -> None:
    found = agreement_on(RATING, units([(1, 1), (2, "N/A"), ("N/A", "N/A"), (3, 2)], RATING), "q")
    assert (found.n, found.left_out) == (2, 2)


def test_quantities_have_percent_and_alpha_by_distance() -> None:
    asked = Asked("area", "area", "number")
    found = agreement_on(asked, units([(10.0, 10.0), (20.0, 20.5), (30.0, 30.0)], asked), "q")
    assert found.report is not None
    assert found.report.percent.point == pytest.approx(2 / 3)
    assert (found.report.alpha.point or 0) > 0.99


def test_questions_come_with_the_least_agreement_first() -> None:
    other = Asked("o", "The file is named", "met", ("met", "not met"))
    listed = concordance.by_question(
        [*units(pairs(("met", "met", 9))), *units(pairs(("met", "not met", 3)), other)]
    )
    assert [asked.label for asked, _units in listed] == ["The file is named", "The total is right"]


def test_resamples_get_fewer_for_many_items_and_never_below_two_hundred() -> None:
    assert [concordance.rounds_for(n) for n in (0, 30, 1000, 4000, 10**6)] == [
        2000,
        2000,
        2000,
        500,
        200,
    ]


def gold(rights: list[bool]) -> list[GoldResult]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        GoldResult(place, place, 7, start + place * MINUTE, 3 if right else 2, 3)
        for place, right in enumerate(rights)
    ]


def test_gold_accuracy_has_a_wilson_interval_and_drift_compares_the_last_twenty() -> None:
    figures = gold_figures(gold([True] * 30 + [False] * 10 + [True] * 10))
    assert figures.n == 50
    assert (figures.accuracy.low, figures.accuracy.high) == (
        wilson(40, 50).low,
        wilson(40, 50).high,
    )
    assert (figures.recent.point, figures.recent.n) == (0.5, 20)
    assert (figures.before.point, figures.before.n) == (1.0, 30)
    assert figures.word == "lower than before"


def test_gold_items_may_come_in_any_order() -> None:
    listed = gold([True] * 25 + [False] * 5)
    assert gold_figures(listed) == gold_figures(listed[::-1])


def test_no_drift_is_told_without_items_before_the_last_twenty() -> None:
    figures = gold_figures(gold([True, False] * 5))
    assert figures.before.n == 0
    assert figures.drift.point is None
    assert figures.word == "not known yet"


def test_the_difference_of_two_shares_is_newcombes_published_one() -> None:
    found = calibration.difference(wilson(56, 70), wilson(48, 80))
    assert found.point == pytest.approx(0.2)
    assert (found.low, found.high) == (
        pytest.approx(0.0524, abs=5e-5),
        pytest.approx(0.3339, abs=5e-5),
    )


def judge_verdicts(
    judge: Judge, entrant: str, values: list[bool], start: int = 0
) -> list[JudgeVerdict]:
    return [
        JudgeVerdict(judge, entrant, start + place, 1, "met" if value else "not met")
        for place, value in enumerate(values)
    ]


def test_a_judge_is_corrected_by_what_people_found() -> None:
    judge = Judge("example-judge", "1", "a")
    values = [True] * 80 + [False] * 20
    # Of 40 checked passes people uphold 36; of 20 checked fails people pass 4.
    people = {
        (place, 1): concordance_word("met" if place < 36 or place >= 96 else "not met")
        for place in [*range(40), *range(80, 100)]
    }
    (found,) = judges_against_people(judge_verdicts(judge, "A", values), people, "v")
    assert (found.judged, found.pairs, found.unclear) == (100, 60, 0)
    assert (
        found.report.pooled_errors.false_pass,
        found.report.pooled_errors.false_fail,
    ) == (4, 4)
    q1, q0 = 36 / 40, 16 / 20
    assert found.report.pooled_rate.point == pytest.approx((0.8 + q0 - 1) / (q0 + q1 - 1))
    assert found.matrix.counts == ((36, 4), (4, 16))


def concordance_word(said: str) -> Any:
    verdicts = [PersonVerdict(record=0, criterion=1, person=1, said=said)]
    return settled(verdicts)[(0, 1)]


def test_two_judges_under_one_name_are_told_apart_by_version_and_digest() -> None:
    judges = [Judge("example-judge", "1", "a"), Judge("example-judge", "1", "b"),
              Judge("example-judge", "2", "a")]  # fmt: skip
    verdicts = [one for judge in judges for one in judge_verdicts(judge, "A", [True, False])]
    assert [found.judge for found in judges_against_people(verdicts, {}, "v")] == judges


def test_unequal_errors_of_a_judge_over_entrants_are_found() -> None:
    judge = Judge("example-judge", "1", "a")
    verdicts = [
        *judge_verdicts(judge, "Lucky", [True] * 40),
        *judge_verdicts(judge, "Honest", [True] * 20 + [False] * 20, start=100),
    ]
    people = {
        (place, 1): concordance_word("met" if place % 40 < 20 else "not met") for place in range(40)
    } | {
        (100 + place, 1): concordance_word("met" if place < 20 else "not met")
        for place in range(40)
    }
    (found,) = judges_against_people(verdicts, people, "v")
    assert found.report.equal.p is not None and found.report.equal.p < 0.001


def test_persons_who_differ_settle_nothing_until_a_resolution_does() -> None:
    split = [
        PersonVerdict(record=1, criterion=1, person=1, said="met"),
        PersonVerdict(record=1, criterion=1, person=2, said="not met"),
    ]
    assert settled(split) == {(1, 1): None}
    third = PersonVerdict(1, 1, 3, "not met", is_resolution=True, inclusion=0.1)
    word = settled([*split, third])[(1, 1)]
    assert word is not None and word.said == "not met"


@pytest.fixture
def queue() -> Queue:
    return quiet_queue()


@pytest.fixture
def curator() -> Any:
    return person("cora", "curator")


@pytest.fixture
def anna() -> Any:
    return build.reviewer("anna")


@pytest.fixture
def bert() -> Any:
    return build.reviewer("bert")


def url_of(queue: Queue) -> str:
    return reverse("adjudication:report", args=[queue.pk])


def read(client: Client, queue: Queue, user: Any, query: str = "") -> str:
    """What is left to read of a page."""
    client.force_login(user)
    answer = client.get(url_of(queue) + query)
    assert answer.status_code == 200
    text = re.sub(
        r"<(script|style)[^>]*>.*?</\1>|<[^>]+>", " ", answer.content.decode(), flags=re.S
    )
    return " ".join(html.unescape(text).split())


def doubly(
    queue: Queue, anna: Any, bert: Any, answers: list[tuple[Any, Any]], **facts: Any
) -> list[ReviewItem]:
    return reviewed(
        queue, [{anna: {"R1": said(one)}, bert: {"R1": said(two)}} for one, two in answers], **facts
    )


def figures(queue: Queue, reader: Any) -> Figures:
    """What is known of the agreement in a queue."""
    found = report_on(queue, reader=reader).counted.figures
    assert found is not None
    return found


@db
def test_the_page_shows_the_agreement_of_failure_25_with_its_note(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(one == "met", two == "met") for one, two in FAILURE_25])
    page = read(client, queue, curator)
    for figure in ("95.0 %", "−0.025", "0.947", "98 % of ratings", "Prevalence: 98%"):
        assert figure in page


@db
def test_one_answer_overall_reads_undefined_on_the_page(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, True)] * 12)
    page = read(client, queue, curator)
    assert "undefined" in page
    assert "Too few to judge: 12 doubly reviewed items" in page


@db
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


@db
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


@db
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


@db
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


@db
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


@db
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


@db
def test_only_curators_read_names_of_reviewers(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    reviewed(queue, [{bert: {"R1": said(True)}}], at=timezone.now() - DAY)
    reviewed(queue, [{anna: {"R1": said(True)}}])
    assert "anna" in read(client, queue, curator)
    for role in ("auditor", "adjudicator"):
        page = read(client, queue, person(f"the-{role}", role))
        assert "anna" not in page and "bert" not in page
        assert page.index(f"Reviewer {bert.pk}") < page.index(f"Reviewer {anna.pk}")


@db
def test_a_reviewer_reads_their_own_figures_and_nobody_elses(
    client: Client, queue: Queue, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, True), (True, False)])
    reviewed(queue, [{bert: {"R1": said(True)}}] * 5)
    page = read(client, queue, anna)
    assert "Your own part in this queue" in page
    assert "2 in all; median 60.0 s" in page
    assert "50.0 %" in page
    assert "bert" not in page and "Reviewer" not in page
    assert "differ on 1 of 1" in page and "say the same" in page


@db
@pytest.mark.parametrize("roles", [(), ("entrant",)])
def test_strangers_find_no_report(client: Client, queue: Queue, roles: tuple[str, ...]) -> None:
    client.force_login(person("stranger", *roles))
    assert client.get(url_of(queue)).status_code == 404


@db
def test_who_is_not_signed_in_is_asked_to(client: Client, queue: Queue) -> None:
    response = client.get(url_of(queue))
    assert response.status_code == 302
    assert response["Location"] == f"{reverse('login')}?next={url_of(queue)}"


@db
def test_an_empty_queue_says_why_there_is_nothing(
    client: Client, queue: Queue, curator: Any, anna: Any
) -> None:
    assert "Nothing was put to people here yet" in read(client, queue, curator)
    assert "You have handed in nothing here yet" in read(client, queue, anna)


@db
def test_items_without_reviews_explain_each_empty_part(client: Client, curator: Any) -> None:
    page = read(client, build.waiting_queue(2), curator)
    for told in (
        "Nothing was handed in during the last 30 days.",
        "No item was reviewed by two people yet",
        "People have not decided anything here yet",
        "Nobody has taken an item yet.",
        "No criterion was called defective.",
        "No review has a time yet.",
    ):
        assert told in page


@db
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


@db
def test_figures_follow_every_new_review_and_judgement(
    queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    items = doubly(queue, anna, bert, [(True, True), (False, False)])
    assert figures(queue, curator).doubly == 2
    judged(items, [True, False])
    (judge,) = figures(queue, curator).judges
    assert judge.pairs == 2
    (third,) = doubly(queue, anna, bert, [(True, True)])
    judged([third], [True])
    found = figures(queue, curator)
    assert (found.doubly, found.judges[0].pairs) == (3, 3)
    third.seats.filter(holder=bert).update(state="withdrawn")
    assert figures(queue, curator).doubly == 2


@db
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


@db
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


@db
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


@db
def test_what_stands_beside_the_count_is_told_with_texts_only_to_who_may_read_them(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    (first, second) = reviewed(queue, [{anna: {"R1": said(True)}}] * 2)
    first.seats.update(not_blind="It says it is <Example>.")
    second.seats.update(state="withdrawn", withdrawn_because="I misread the total.")
    ExtraVerdict.objects.create(item=first, user=bert, verdicts={}, sent_at=timezone.now())
    report = report_on(queue, reader=curator)
    assert report.counts == {"not_blind": 1, "withdrawn": 1, "extra": 1}
    page = read(client, queue, curator)
    assert "It says it is <Example>." in page and "I misread the total." in page
    hidden = read(client, queue, person("ada", "adjudicator"))
    assert "It says it is" not in hidden and "I misread" not in hidden


@db
def test_what_a_held_out_task_asks_is_on_no_report(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    hidden = quiet_queue()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "UPDATE academy_task SET holdout = true WHERE version_id = %s", [hidden.version_id]
        )
        cursor.execute("SET session_replication_role = DEFAULT")
    pages = []
    for one in (queue, hidden):
        doubly(one, anna, bert, [(True, "defective")])
        pages.append(read(client, one, curator).count(one.version.tasks.get().criteria.get().text))
    assert pages == [2, 0]
    assert "held-out" in read(client, hidden, curator)


@db
def test_figures_of_many_reviews_are_counted_by_the_worker(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, False)] * (equal_answers.MOST_AT_ONCE // 2 + 1), decide=False)
    page = client_page(client, queue, curator)
    assert "These figures are being counted." in page
    assert 'hx-trigger="every 5s"' in page
    assert '<a href="?page=1#agreement">Load the page again</a>' in page
    assert polled(client, queue).status_code == 204
    assert "Agreement" in (row := queue_row(client, queue)) and "%" not in row
    count_once()
    part = polled(client, queue)
    assert part.status_code == 286
    assert 'hx-trigger="every' not in part.content.decode()
    assert re.search(r'id="twice" hx-swap-oob="true">.*?2,001', part.content.decode())
    page = read(client, queue, curator)
    assert "being counted" not in page
    assert "0.0 %" in page
    assert "0.0 %" in queue_row(client, queue)
    assert work.claim("tests") is None
    # The last figures stand while newer ones are counted, at most once a minute.
    doubly(queue, anna, bert, [(True, True)], decide=False)
    assert "being counted" not in read(client, queue, curator)
    held = figuring.last_under(queue, 1, with_names=True)
    cache.set(held, replace(cache.get(held), at=timezone.now() - 2 * MINUTE))
    page = read(client, queue, curator)
    assert "Newer figures are being counted. These are as of" in page
    assert "2,001 items, all seats in" in page
    count_once()
    assert "2,002 items, all seats in" in read(client, queue, curator)


def count_once() -> None:
    """Do the one piece of work that is owed for figures."""
    Work.objects.exclude(kind=figuring.KIND).delete()
    unit = work.claim("tests")
    assert unit is not None
    work.perform(unit)


def client_page(client: Client, queue: Queue, user: Any) -> str:
    """The page of a report as it is sent."""
    client.force_login(user)
    return client.get(url_of(queue)).content.decode()


def polled(client: Client, queue: Queue) -> Any:
    """What htmx gets when it asks for newer figures."""
    return client.get(url_of(queue), headers={"HX-Request": "true"})


def queue_row(client: Client, queue: Queue) -> str:
    """The row of a queue on the list of queues."""
    page = client.get(reverse("adjudication:queues")).content.decode()
    rows = re.findall(r"<tr>.*?</tr>", page, flags=re.S)
    return next(row for row in rows if f"/queues/{queue.pk}/" in row)


@db
def test_the_list_of_queues_and_the_report_say_the_same_of_agreement_and_of_reviewers(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, True)] * 7 + [(True, False)])
    # A third person's answer, and an item of which a seat is out, are no agreement.
    doubly(queue, anna, bert, [(True, False)] * 2, state="open", decide=False)
    ada = person("ada", "adjudicator")
    assert "Equal answers 87.5 %" in read(client, queue, ada)
    assert "87.5 %" in queue_row(client, queue)
    holder = build.reviewer("carl")
    assert isinstance(claiming.claim_next(build.waiting_queue(1), user=holder), Seat)
    number = f"Reviewer {holder.pk}"
    assert number in client.get(reverse("adjudication:queues")).content.decode()
    other = Seat.objects.get(holder=holder).item.queue
    assert number in read(client, other, ada)
    cora = person("both", "curator")
    cora.memberships.create(organization=cora.memberships.get().organization, role="reviewer")
    client.force_login(type(cora).objects.get(pk=cora.pk))
    assert "carl" in client.get(reverse("adjudication:queues")).content.decode()


@db
def test_pages_of_criteria_hold_twenty_five_each(
    client: Client, curator: Any, anna: Any, bert: Any
) -> None:
    queue = quiet_queue(criteria=30)
    answers = {f"R{place}": said(True) for place in range(1, 31)}
    reviewed(queue, [{anna: answers, bert: answers}])
    assert "1–25 of 30" in read(client, queue, curator)
    assert "26–30 of 30" in read(client, queue, curator, "?page=2")
    assert "To the first page." in read(client, queue, curator, "?page=9")
    assert "1–25 of 30" in read(client, queue, curator, "?page=x")


@db
@pytest.mark.parametrize("role", ["curator", "adjudicator", "reviewer"])
def test_the_report_asks_as_often_for_twenty_items_as_for_ten(client: Client, role: str) -> None:
    reader = person("reader", role)
    client.force_login(reader)
    counts = []
    for size in (10, 20):
        queue = quiet_queue(criteria=2)
        people = [reader if role == "reviewer" else build.reviewer(), build.reviewer()]
        answers = {"R1": said("defective", fault="stale"), "R2": said(True)}
        items = reviewed(queue, [dict.fromkeys(people, answers)] * size)
        judged(items, [True] * size, key="R2")
        gold_reviews(queue, people[0], [True] * (size // 5))
        with CaptureQueriesContext(connection) as asked:
            assert client.get(url_of(queue)).status_code == 200
        counts.append(len(asked))
    assert counts[0] == counts[1]


@db
def test_own_gold_is_told_only_after_ten_more_items(queue: Queue, anna: Any) -> None:
    now = timezone.now()
    gold_reviews(queue, anna, [False], end=now - 2 * DAY)
    for place in range(9):
        reviewed(queue, [{anna: {"R1": said(True)}}], at=now - DAY + place * MINUTE)
    assert own_reporting.own_figures(anna).calibration is None
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now)
    figures = own_reporting.own_figures(anna)
    assert figures.calibration is not None
    assert (figures.calibration.n, figures.calibration.accuracy.point) == (1, 0.0)
    (missed,) = figures.missed
    assert (missed.task, missed.right, missed.asked) == ("q-0", 0, 1)


@db
def test_an_adjudicator_who_reviews_reads_their_own_gold_as_late_as_anybody(queue: Queue) -> None:
    ada = person("ada", "adjudicator")
    gold_reviews(queue, ada, [False] * 4)
    (row,) = report_on(queue, reader=ada).reviewers
    assert row.is_reader and row.gold.n == 0


@db
def test_today_counts_from_midnight_with_undone_and_breaks_apart(queue: Queue, anna: Any) -> None:
    now = datetime(2026, 5, 4, 15, tzinfo=UTC)
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now - DAY)
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now, took=3 * MINUTE, seat_facts={"undone": 2})
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now, took=90 * MINUTE)
    today = own_reporting.own_figures(anna, at=now).today
    assert (today.submitted, today.undone) == (2, 2)
    assert (today.times.median, today.times.n, today.times.breaks) == (180, 1, 1)


@db
def test_agreement_with_others_waits_until_all_seats_are_in(
    queue: Queue, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, False)], state="open", decide=False)
    assert own_reporting.own_figures(anna).agreement is None
    doubly(queue, anna, bert, [(True, True), (True, True), (True, False)])
    figures = own_reporting.own_figures(anna)
    assert figures.agreement is not None
    assert figures.agreement.point == pytest.approx(2 / 3)
    assert figures.agreement_items == 3


@db
def test_history_shows_gold_like_any_other_item(queue: Queue, anna: Any, bert: Any) -> None:
    gold_reviews(queue, anna, [False])
    reviewed(queue, [{anna: {"R1": said(False)}}], at=timezone.now() + MINUTE)
    shown, secret = own_reporting.own_history(anna).rows
    assert (shown.state, shown.answers, shown.differing) == (
        secret.state,
        secret.answers,
        secret.differing,
    )


@db
def test_history_comes_in_pages_and_a_page_beyond_is_the_last(queue: Queue, anna: Any) -> None:
    reviewed(queue, [{anna: {"R1": said(True)}}] * 7)
    page = own_reporting.own_history(anna, page=9, size=3)
    assert (page.page, page.pages, page.total, len(page.rows)) == (3, 3, 7, 1)
    assert (page.previous, page.next) == (2, None)


@db
def test_own_figures_ask_as_often_for_twenty_items_as_for_ten(anna: Any, bert: Any) -> None:
    counts = []
    for size in (10, 20):
        queue = quiet_queue()
        doubly(queue, anna, bert, [(True, False)] * size)
        with CaptureQueriesContext(connection) as asked:
            own_reporting.own_figures(anna, queue=queue)
            own_reporting.own_history(anna, queue=queue)
        counts.append(len(asked))
    assert counts[0] == counts[1]


@db
def test_a_real_review_reaches_the_report(
    client: Client, curator: Any, anna: Any, bert: Any
) -> None:
    queue = build.waiting_queue(2, criteria=2, seats=2)
    for user, value in ((anna, True), (bert, False)):
        build.decide(build.claimed(queue, user), user, value)
    assert figures(queue, curator).doubly == 1
    report = report_on(queue, reader=curator)
    assert {row.state: row.n for row in report.waiting} == {"open": 1, "decided": 1}
    assert sum(row.work.submitted for row in report.reviewers) == 2
    assert may_read(curator)
