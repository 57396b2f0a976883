"""Upheld appeals lead to keys, criteria and versions that correct what was wrong."""

from __future__ import annotations

import pytest
from django.test import Client

from academy import carrying, keying, passes, publishing
from academy.errors import AcademyError
from academy.models import AuditEvent, ScoringPass, SuiteVersion
from adjudication import appealing, correcting, deciding
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import subjects
from tests.adjudication.appeal_making import contested, decided, with_key

pytestmark = pytest.mark.django_db


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
