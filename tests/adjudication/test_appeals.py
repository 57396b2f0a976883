"""Appeals: who may open one, who decides it, what follows, and what the public reads."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from academy import carrying, keying, passes, publishing
from academy.errors import AcademyError
from academy.models import (
    AuditEvent,
    Criterion,
    Decision,
    InstanceRecord,
    ScoringPass,
    SuiteVersion,
)
from adjudication import appealing, claiming, correcting, deciding
from adjudication.models import Appeal, Queue, ReviewItem
from adjudication.policies import Policy
from adjudication.remaining import NothingFree
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import subjects

pytestmark = pytest.mark.django_db
TEXT = "The step is in the log."


def contested(**facts: Any) -> tuple[InstanceRecord, Queue, Any]:
    """A decided record, the queue in which it was decided, and its entrant."""
    queue, record, _reviewer = subjects.decided_record(**facts)
    return record, queue, subjects.entrant_of(record.run)


def with_key() -> tuple[SuiteVersion, InstanceRecord, Any]:
    """A scored record of an open takeoff version, and its entrant."""
    version = make.takeoff_version(2)
    run = make.takeoff_run(version)
    make.score_all()
    return version, run.records.order_by("id")[0], subjects.entrant_of(run)


def decided(appeal: Appeal, code: str, reason: str = "as said") -> ReviewItem:
    """Let an adjudicator decide an appeal."""
    person = subjects.adjudicator()
    assert appeal.record is not None
    queue = subjects.queue_for(appeal.record.run.version, "appeals")
    item = subjects.say(subjects.take(queue, person), person, code, reason)
    appeal.refresh_from_db()
    return item


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


def test_a_wrong_key_keeps_the_appeal_open_until_its_pass_is_named(client: Client) -> None:
    version, record, entrant = with_key()
    appeal, _appeals = subjects.appeal_by(entrant, record)
    decided(appeal, "key", "the sheet says 120")
    assert (appeal.state, appeal.consequence) == ("open", "key")
    page = f"/review/appeals/{appeal.pk}/"
    curator = subjects.curator()
    client.force_login(curator)
    told = client.get(page).content.decode()
    assert f"/suites/{version.suite.slug}/{version.name}/keys/" in told
    assert "No pass was made since" in told
    refused = client.post(f"{page}pass/", {"pass": "1"})
    assert refused.status_code == 422
    assert "uses revision 1 of this task" in refused.content.decode()
    keying.revise(
        version,
        {"t-0": {"quantities": [{"item": "t-0", "value": 120, "unit": "sf"}]}},
        reason="misread",
    )
    staged = passes.staged_pass(version)
    assert staged is not None
    assert client.post(f"{page}pass/", {"pass": str(staged.number)}).status_code == 302
    appeal.refresh_from_db()
    assert (appeal.state, appeal.consequence) == ("upheld", "key")
    assert appeal.scoring_pass == staged
    client.logout()
    told = client.get(page).content.decode()
    assert "the sheet says 120" in told
    assert f"Pass {staged.number} is staged; it counts once it is published." in told


def test_another_pass_is_named_until_the_one_named_is_published(client: Client) -> None:
    version, record, entrant = with_key()
    appeal, _appeals = subjects.appeal_by(entrant, record)
    decided(appeal, "key", "the sheet says 120")
    curator = subjects.curator()
    first = revised(version, 121)
    correcting.name_pass(appeal, first.number, by=curator)
    second = revised(version, 120)
    page = f"/review/appeals/{appeal.pk}/"
    told = client.get(page).content.decode()
    assert "was replaced before it counted; a curator names another." in told
    client.force_login(curator)
    assert "Name this pass instead" in client.get(page).content.decode()
    form = {"pass": str(second.number), "why": "121 was a slip of the pen"}
    assert client.post(f"{page}pass/", form).status_code == 302
    appeal.refresh_from_db()
    assert appeal.scoring_pass == second
    assert "121 was a slip of the pen" in client.get(page).content.decode()
    passes.publish(second, reason="corrected")
    assert "Name this pass instead" not in client.get(page).content.decode()
    third = revised(version, 119)
    late = client.post(f"{page}pass/", {"pass": str(third.number), "why": "again"})
    assert late.status_code == 422
    assert "is published, so it stands." in late.content.decode()


def revised(version: SuiteVersion, value: int) -> ScoringPass:
    """The pass that a new value in the key of the first task stages, scored."""
    key = {"quantities": [{"item": "t-0", "value": value, "unit": "sf"}]}
    keying.revise(version, {"t-0": key}, reason=f"it says {value}")
    build.do_work()
    staged = passes.staged_pass(version)
    assert staged is not None
    return staged


def test_only_curators_name_the_pass(client: Client) -> None:
    _version, record, entrant = with_key()
    appeal, _appeals = subjects.appeal_by(entrant, record)
    decided(appeal, "key")
    client.force_login(entrant)
    assert client.post(f"/review/appeals/{appeal.pk}/pass/", {"pass": "1"}).status_code == 404
    with pytest.raises(AcademyError, match="cannot be taken back"):
        appealing.withdraw(appeal, by=entrant)


def test_an_upheld_appeal_puts_a_criterion_to_the_vote_and_tells_how_it_ended(
    client: Client,
) -> None:
    record, _queue, entrant = contested()
    criterion = record.task.criteria.order_by("ordinal")[0]
    appeal, _appeals = subjects.appeal_by(entrant, record, criterion=criterion)
    decided(appeal, "criterion", "it asks for what the task forbids")
    assert (appeal.state, appeal.consequence) == ("upheld", "criterion")
    page = f"/review/appeals/{appeal.pk}/"
    assert "Two people vote" in client.get(page).content.decode()
    defects = subjects.queue_for(record.run.version, "defects")
    for _number in range(2):
        person = build.reviewer()
        subjects.say(subjects.take(defects, person), person, "upheld")
    appeal.refresh_from_db()
    assert appeal.scoring_pass == passes.staged_pass(record.run.version)
    assert "is struck in pass 2" in client.get(page).content.decode()


def test_a_wrong_task_keeps_the_appeal_open_until_the_version_that_corrects_it_is_named(
    client: Client,
) -> None:
    version, record, entrant = with_key()
    appeal, _appeals = subjects.appeal_by(entrant, record)
    decided(appeal, "version", "the sheet is of another floor")
    assert (appeal.state, appeal.consequence) == ("open", "version")
    page = f"/review/appeals/{appeal.pk}/"
    told = client.get(page).content.decode()
    assert "Upheld: a new version corrects it." in told
    assert "the sheet is of another floor" in told
    assert "upheld, waits for a new version" in client.get("/review/appeals/").content.decode()
    client.force_login(subjects.curator())
    assert "The suite has no other version yet." in client.get(page).content.decode()
    same = edition("same")
    wrong = client.post(f"{page}version/", {"version": str(same.pk)})
    assert wrong.status_code == 422
    assert "asks task t-0 just as" in wrong.content.decode()
    assert client.post(f"{page}version/", {"version": str(version.pk)}).status_code == 422
    corrected = edition("corrected", prompt="Measure the second floor.")
    assert f"{corrected}, draft" in client.get(page).content.decode()
    done = client.post(f"{page}version/", {"version": str(corrected.pk)}, follow=True)
    assert "a draft that only curators and auditors see" in done.content.decode()
    appeal.refresh_from_db()
    assert (appeal.state, appeal.version) == ("upheld", corrected)
    client.logout()
    told = client.get(page).content.decode()
    assert "The version that corrects it is not published yet." in told
    assert str(corrected) not in told
    publishing.publish_version(corrected, reason="corrected")
    told = client.get(page).content.decode()
    assert f"/suites/{version.suite.slug}/corrected/" in told
    assert "This run was not carried over to it." in told
    carried = carrying.carry_run(record.run, corrected, reason="corrected").run
    assert f'judged again as <a href="/runs/{carried.pk}/">' in client.get(page).content.decode()


def test_another_version_is_named_until_the_run_is_judged_again(client: Client) -> None:
    _version, record, entrant = with_key()
    appeal, _appeals = subjects.appeal_by(entrant, record)
    decided(appeal, "version", "the sheet is of another floor")
    wrong = edition("wrong", prompt="Measure the third floor.")
    right = edition("right", prompt="Measure the second floor.")
    curator = subjects.curator()
    correcting.name_version(appeal, wrong.pk, by=curator)
    closed_at = appeal.closed_at
    page, address = f"/review/appeals/{appeal.pk}/", f"/review/appeals/{appeal.pk}/version/"
    client.force_login(curator)
    for form, told in (
        ({"version": str(right.pk), "why": " "}, "Say why another is named"),
        ({"version": str(wrong.pk), "why": "again"}, "This is what is named already."),
        ({"version": str(right.pk), "why": "x" * 2_001}, "at most 2,000 are kept"),
        ({"version": "9" * 30, "why": "canary"}, "Choose another version of the same suite"),
    ):
        refused = client.post(address, form)
        assert refused.status_code == 422
        assert told in refused.content.decode()
        assert form["why"] in refused.content.decode()
    appeal.refresh_from_db()
    assert (appeal.version, appeal.renamed_at) == (wrong, None)
    form = {"version": str(right.pk), "why": "the floors were\x00 mixed up"}
    told = client.post(address, form, follow=True).content.decode()
    assert f"{right} corrects it." in told
    appeal.refresh_from_db()
    assert (appeal.version, appeal.outcome_reason) == (right, "the sheet is of another floor")
    assert (appeal.closed_at, appeal.closed_by) == (closed_at, curator)
    noted = AuditEvent.objects.get(act="appeal.rename", subject=f"appeal:{appeal.pk}")
    assert (noted.actor, noted.details) == (curator, {"before": str(wrong), "after": str(right)})
    client.logout()
    assert "floors were" in client.get(page).content.decode()
    publishing.publish_version(right, reason="corrected")
    carrying.carry_run(record.run, right, reason="corrected")
    client.force_login(curator)
    assert "Name this version instead" not in client.get(page).content.decode()
    late = client.post(address, {"version": str(wrong.pk), "why": "back"})
    assert late.status_code == 422
    assert "judged again under the version that was named" in late.content.decode()


def edition(name: str, **changed: str) -> SuiteVersion:
    """A draft of the same suite, of which the first task may be changed."""
    tasks = [make.takeoff_task(f"t-{place}", 100, version=name) for place in range(2)]
    if changed:
        tasks[0] = make.takeoff_task("t-0", 100, version=name, **changed)
    return make.takeoff_version(tasks, version=name, publish=False)


def test_only_curators_name_the_version(client: Client) -> None:
    version, record, entrant = with_key()
    appeal, _appeals = subjects.appeal_by(entrant, record)
    address = f"/review/appeals/{appeal.pk}/version/"
    client.force_login(subjects.curator())
    early = client.post(address, {"version": str(version.pk)})
    assert early.status_code == 422
    assert "waits for no new version" in early.content.decode()
    decided(appeal, "version")
    for who in (entrant, build.person("auditor", "auditor")):
        client.force_login(who)
        assert client.post(address, {"version": str(version.pk)}).status_code == 404
    assert appeal.state == "open"


def test_only_what_can_follow_is_offered() -> None:
    _version, record, entrant = with_key()
    appeal, appeals = subjects.appeal_by(entrant, record)
    item = appeals.items.get()
    codes = [choice.code for choice in deciding.questions_of(item)[0].choices]
    assert codes == ["key", "version", "dismissed"]
    assert appeal.state == "open"


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
