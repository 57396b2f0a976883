"""Appeals: who opens, withdraws, decides and reads them, and how a record is decided again."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from academy.errors import AcademyError
from academy.models import Criterion, Decision
from adjudication import appealing, claiming
from adjudication.models import Appeal, ReviewItem
from adjudication.policies import Policy
from adjudication.remaining import NothingFree
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import subjects
from tests.adjudication.appeal_making import TEXT, contested, decided

pytestmark = pytest.mark.django_db


def test_the_entrant_opens_an_appeal_by_the_page_of_the_record(client: Client) -> None:
    _queue, record, _reviewer = subjects.decided_record()
    entrant = subjects.entrant_of(record.run, "jane-of-the-team")
    client.force_login(entrant)
    form = f"/review/records/{record.pk}/appeal/"
    assert form in client.get(f"/records/{record.pk}/").content.decode()
    assert "The record as a whole" in client.get(form).content.decode()
    sent = client.post(form, {"text": TEXT, "criterion": ""})
    appeal = Appeal.objects.get()
    assert sent.headers["Location"] == f"/review/appeals/{appeal.pk}/"
    assert (appeal.opened_as, appeal.state, appeal.text) == ("entrant", "open", TEXT)
    item = appeal.items.get()
    assert item.queue.kind == "appeals"
    client.logout()
    shown = client.get(f"/review/appeals/{appeal.pk}/").content.decode()
    assert TEXT in shown
    listed = client.get("/review/appeals/").content.decode()
    assert "jane-of-the-team" not in shown + listed
    assert f"/review/appeals/{appeal.pk}/" in listed
    assert "by the entrant" in listed
    assert TEXT not in listed


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"text": "  "}, "Say what is wrong"),
        ({"text": "x" * 10_001}, "at most 10,000 are kept"),
        ({"text": TEXT, "criterion": "999999"}, "Choose one of the criteria"),
        ({"text": TEXT, "criterion": "R1"}, "Choose one of the criteria"),
    ],
)
def test_wrong_forms_say_what_is_wrong_and_keep_the_words(
    client: Client, sent: dict[str, str], told: str
) -> None:
    record, _queue, entrant = contested()
    client.force_login(entrant)
    answer = client.post(f"/review/records/{record.pk}/appeal/", sent)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert told in page
    assert sent["text"].strip() in page
    assert not Appeal.objects.exists()


def test_one_open_appeal_by_person_and_subject() -> None:
    record, _queue, entrant = contested()
    criterion = record.task.criteria.order_by("ordinal")[0]
    subjects.appeal_by(entrant, record)
    subjects.appeal_by(entrant, record, criterion=criterion)
    for criterion_again in (None, criterion):
        with pytest.raises(AcademyError, match="open appeal against this already"):
            appealing.open_appeal(record, criterion=criterion_again, text=TEXT, by=entrant)
    assert Appeal.objects.count() == 2


def test_readers_appeal_only_where_a_queue_lets_them(client: Client) -> None:
    record, queue, _entrant = contested()
    reader = build.person("reader")
    client.force_login(reader)
    form = f"/review/records/{record.pk}/appeal/"
    assert "You do not speak for its entrant" in client.get(form).content.decode()
    assert client.post(form, {"text": TEXT}).status_code == 422
    queue.policy = Policy(appeals_by="readers").as_json()
    queue.save()
    assert client.post(form, {"text": TEXT}).status_code == 302
    assert Appeal.objects.get().opened_as == "reader"


def test_somebody_without_an_account_is_sent_to_sign_in(client: Client) -> None:
    record, _queue, _entrant = contested()
    answer = client.post(f"/review/records/{record.pk}/appeal/", {"text": TEXT})
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/login/")


def test_what_waits_for_people_cannot_be_contested_yet() -> None:
    queue = build.waiting_queue(1, notes=False)
    record = build.records_of(queue)[0]
    entrant = subjects.entrant_of(record.run)
    with pytest.raises(AcademyError, match="still waits for people"):
        appealing.open_appeal(record, text=TEXT, by=entrant)


def test_an_open_appeal_is_taken_back_by_whoever_opened_it(client: Client) -> None:
    record, _queue, entrant = contested()
    appeal, _appeals = subjects.appeal_by(entrant, record)
    act = f"/review/appeals/{appeal.pk}/withdraw/"
    client.force_login(build.person("somebody"))
    assert client.post(act).status_code == 422
    client.force_login(entrant)
    assert client.post(act).status_code == 302
    appeal.refresh_from_db()
    assert appeal.state == "withdrawn"
    assert appeal.items.get().state == ReviewItem.State.CLOSED
    assert client.post(act).status_code == 422
    subjects.appeal_by(entrant, record)


def test_nobody_with_a_part_in_it_decides_an_appeal() -> None:
    queue, record, reviewer = subjects.decided_record()
    entrant = subjects.entrant_of(record.run)
    _appeal, appeals = subjects.appeal_by(entrant, record)
    for role in ("adjudicator", "reviewer"):
        reviewer.memberships.get_or_create(
            organization=reviewer.memberships.get(role="reviewer").organization, role=role
        )
    entrant.memberships.create(organization=entrant.memberships.get().organization,
                               role="adjudicator")  # fmt: skip
    for somebody in (reviewer, entrant):
        somebody = type(somebody).objects.get(pk=somebody.pk)
        assert isinstance(claiming.claim_next(appeals, user=somebody), NothingFree)
    with pytest.raises(AcademyError, match="adjudicators take these"):
        claiming.claim_next(appeals, user=build.reviewer())
    assert subjects.take(appeals, subjects.adjudicator()).item.appeal == _appeal
    assert queue.kind == "criteria"


def test_a_dismissed_appeal_is_public_with_its_reason(client: Client) -> None:
    record, _queue, entrant = contested()
    appeal, _appeals = subjects.appeal_by(entrant, record)
    decided(appeal, "dismissed", "the log was looked at")
    assert (appeal.state, appeal.consequence) == ("dismissed", "")
    page = client.get(f"/review/appeals/{appeal.pk}/").content.decode()
    assert "Dismissed." in page
    assert "the log was looked at" in page
    assert ReviewItem.objects.get(record=record).state == ReviewItem.State.RESOLVED


def test_an_upheld_appeal_has_the_record_decided_again_by_another_person(client: Client) -> None:
    record, queue, entrant = contested()
    criterion = record.task.criteria.order_by("ordinal")[0]
    appeal, appeals = subjects.appeal_by(entrant, record, criterion=criterion)
    judge_of_appeal = subjects.adjudicator()
    subjects.say(subjects.take(appeals, judge_of_appeal), judge_of_appeal, "redecide", "look again")
    appeal.refresh_from_db()
    assert (appeal.state, appeal.consequence) == ("upheld", "redecide")
    item = ReviewItem.objects.get(record=record)
    assert item.state == ReviewItem.State.DECIDED
    assert item.contested == [criterion.key]
    nothing = claiming.claim_next(queue, user=judge_of_appeal, role="third")
    assert isinstance(nothing, NothingFree), "who decided the appeal has seen too much"
    third = subjects.adjudicator()
    seat = subjects.take(queue, third, third=True)
    subjects.hand_in(seat, third, {criterion.key: build.given(value=True, reason="it is there")})
    said = Decision.objects.get(record=record, source="resolution", criterion=criterion)
    assert (said.value, said.person) == (True, third)
    assert Decision.objects.filter(record=record, source="person", criterion=criterion).exists()
    page = client.get(f"/review/appeals/{appeal.pk}/").content.decode()
    assert "was decided again by somebody who had no part in it" in page


def test_a_record_that_no_person_decided_gets_an_item_of_its_own() -> None:
    version = make.rubric_version(1)
    run = make.run_of(make.record_files(make.line_run(make.judged("q-0", True, True)), version))
    build.do_work()
    ReviewItem.objects.filter(record__run=run).delete()
    record = run.records.get()
    entrant = subjects.entrant_of(run)
    appeal, _appeals = subjects.appeal_by(entrant, record)
    decided(appeal, "redecide", "a person should look")
    item = ReviewItem.objects.get(record=record)
    assert (item.state, item.queue.kind) == (ReviewItem.State.OPEN, "criteria")
    assert item.chosen_because == f"appeal {appeal.pk}"


def test_the_page_of_an_appeal_on_a_sealed_version_leaks_nothing(client: Client) -> None:
    """Its entrant contests a record by the task's name, and the public reads outcome and reason."""
    queue, record, _reviewer = subjects.decided_record(sealed=True)
    version = queue.version
    entrant = subjects.entrant_of(record.run)
    criterion: Criterion = record.task.criteria.order_by("ordinal")[0]
    client.force_login(entrant)
    assert client.get(f"/records/{record.pk}/").status_code == 404
    found = client.get(f"/review/runs/{record.run_id}/appeals/?task={record.task.external_id}")
    form = f"/review/records/{record.pk}/appeal/"
    assert form in found.content.decode()
    page = client.get(form).content.decode()
    assert criterion.text not in page
    assert client.post(form, {"text": "I said 4711.", "criterion": criterion.pk}).status_code == 422
    assert client.post(form, {"text": "I said 4711."}).status_code == 302
    appeal = Appeal.objects.get()
    own = client.get(f"/review/appeals/{appeal.pk}/").content.decode()
    assert "I said 4711." in own
    decided(appeal, "dismissed", "the record shows another end")
    for who in (None, build.person("somebody"), build.person("auditor", "auditor")):
        client.logout()
        if who is not None:
            client.force_login(who)
        told = client.get(f"/review/appeals/{appeal.pk}/").content.decode()
        assert "4711" not in told
        assert criterion.text not in told
        assert f"/records/{record.pk}/" not in told
        assert "the record shows another end" in told
        assert client.get(form).status_code == 404
    client.force_login(subjects.curator())
    assert "4711" in client.get(f"/review/appeals/{appeal.pk}/").content.decode()
    assert version.sealed


def test_the_list_asks_the_database_as_often_for_many_as_for_few(client: Client) -> None:
    record, _queue, entrant = contested()
    counts = []
    for number in (1, 4):
        while Appeal.objects.count() < number:
            Appeal.objects.create(record=record, opened_by=entrant, text=TEXT, state="withdrawn")
        with CaptureQueriesContext(connection) as asked:
            client.get("/review/appeals/")
        counts.append(len(asked))
    assert counts[0] == counts[1]
