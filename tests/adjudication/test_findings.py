"""Findings go to people: upheld, dismissed, or asked of the entrant, who answers on a page."""

from __future__ import annotations

import pytest
from django.test import Client

from academy.errors import AcademyError
from academy.models import AuditEvent, Decision, Finding, Run
from adjudication import answering, assigning
from adjudication.models import Queue, ReviewItem
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import subjects

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    """A closed run on an open version, scored, without findings of its own."""
    made = build.rubric_run(build.rubric_version(2, notes=False))
    build.do_work()
    made.findings.all().delete()
    return made


def filled(run: Run) -> Queue:
    """The queue of findings after the version was looked at."""
    assigning.fill_queue(run.version)
    return subjects.queue_for(run.version, "findings")


def test_open_findings_that_matter_become_items_once(run: Run) -> None:
    finding = subjects.finding_on(run)
    subjects.finding_on(run, "of-note", severity="info")
    queue = filled(run)
    assigning.fill_queue(run.version)
    item = queue.items.get()
    assert item.finding == finding
    assert "answers-without-steps" in item.chosen_because


def test_a_version_without_findings_has_no_queue_for_them(run: Run) -> None:
    assigning.fill_queue(run.version)
    assert not run.version.queues.filter(kind="findings").exists()


@pytest.mark.parametrize("outcome", ["upheld", "dismissed"])
def test_a_finding_takes_the_state_that_people_came_to(run: Run, outcome: str) -> None:
    finding = subjects.finding_on(run)
    reviewer = build.reviewer()
    item = subjects.say(subjects.take(filled(run), reviewer), reviewer, outcome, "it says so")
    assert item.state == ReviewItem.State.RESOLVED
    finding.refresh_from_db()
    assert finding.state == outcome
    decision = Decision.objects.get(part=f"finding:{finding.pk}")
    assert (decision.kind, decision.run, decision.value) == ("run", run, outcome)
    assert AuditEvent.objects.filter(act=f"finding.{outcome}").exists()


def test_the_page_of_the_run_tells_state_and_reason(run: Run, client: Client) -> None:
    subjects.finding_on(run)
    reviewer = build.reviewer("hidden-name")
    seat = subjects.take(filled(run), reviewer)
    page = f"/runs/{run.pk}/"
    assert "1 open" in client.get(page).content.decode()
    subjects.say(seat, reviewer, "dismissed", "the trace was cut on the way")
    told = client.get(page).content.decode()
    assert "1 dismissed" in told
    assert "the trace was cut on the way" in told
    assert "hidden-name" not in told
    assert Run.objects.get(pk=run.pk).state == "closed"


def test_reviewers_see_the_finding_and_not_who_entered_the_run(run: Run, client: Client) -> None:
    finding = subjects.finding_on(run)
    Finding.objects.filter(pk=finding.pk).update(sentence="Example measured nothing.")
    reviewer = build.reviewer()
    client.force_login(reviewer)
    client.post(f"/review/queues/{filled(run).pk}/claim/")
    seat = reviewer.seats.get()
    page = client.get(f"/review/seats/{seat.pk}/").content.decode()
    assert "measured nothing" in page
    assert "Needs the entrant" in page


def test_a_finding_that_needs_an_answer_lets_the_entrant_give_one(run: Run, client: Client) -> None:
    finding = subjects.finding_on(run)
    entrant = subjects.entrant_of(run)
    reviewer, third = build.reviewer(), subjects.adjudicator()
    queue = filled(run)
    subjects.say(subjects.take(queue, reviewer), reviewer, "asked", "which tool was it?")
    client.force_login(entrant)
    assert f"/review/findings/{finding.pk}/" in client.get(f"/runs/{run.pk}/").content.decode()
    page = client.get(f"/review/findings/{finding.pk}/").content.decode()
    assert "which tool was it?" in page
    empty = client.post(f"/review/findings/{finding.pk}/", {"text": "  "})
    assert empty.status_code == 422
    assert "Write an answer." in empty.content.decode()
    sent = client.post(f"/review/findings/{finding.pk}/", {"text": "An export cut the steps."})
    assert sent.status_code == 302
    finding.refresh_from_db()
    assert finding.state == "answered"
    assert queue.items.get().state == ReviewItem.State.DECIDED

    seat = subjects.take(queue, third, third=True)
    client.force_login(third)
    assert "An export cut the steps." in client.get(f"/review/seats/{seat.pk}/").content.decode()
    subjects.say(seat, third, "dismissed", "the export explains it")
    finding.refresh_from_db()
    assert finding.state == "dismissed"
    assert "the export explains it" in client.get(f"/runs/{run.pk}/").content.decode()
    again = Decision.objects.get(part=f"finding:{finding.pk}", source="resolution", current=True)
    assert again.person == third


def test_an_entrant_may_be_asked_a_second_time(run: Run) -> None:
    finding = subjects.finding_on(run)
    entrant = subjects.entrant_of(run)
    queue = filled(run)
    first = build.reviewer()
    subjects.say(subjects.take(queue, first), first, "asked")
    answering.answer(finding, text="See the log.", by=entrant)
    second = subjects.adjudicator()
    subjects.say(subjects.take(queue, second, third=True), second, "asked", "which log?")
    finding.refresh_from_db()
    assert finding.state == "asked"
    answering.answer(finding, text="The second one.", by=entrant)
    last = subjects.adjudicator()
    subjects.say(subjects.take(queue, last, third=True), last, "upheld")
    finding.refresh_from_db()
    assert finding.state == "upheld"
    assert queue.items.get().answers.count() == 2


def test_only_the_entrant_answers_and_only_when_asked(run: Run, client: Client) -> None:
    finding = subjects.finding_on(run)
    entrant = subjects.entrant_of(run)
    filled(run)
    with pytest.raises(AcademyError, match="waits for no answer"):
        answering.answer(finding, text="Here.", by=entrant)
    stranger = build.person("stranger")
    with pytest.raises(AcademyError, match="Only those who entered the run"):
        answering.answer(finding, text="Here.", by=stranger)
    for who, status in ((stranger, 404), (build.reviewer(), 404), (subjects.curator(), 200)):
        client.force_login(who)
        assert client.get(f"/review/findings/{finding.pk}/").status_code == status


def test_a_verdict_on_a_finding_opens_no_judges_verdict_to_reviewers(client: Client) -> None:
    """The finding is about the record, and says nothing of its criteria."""
    version = make.version_of(
        make.import_files(
            {make.rubrics.BUCKET: [make.rubric_task("q-0", _world_notes=None)]},
            rename=("judged", "1"),
            publish=True,
        )
    )
    run = build.rubric_run(version, make.judged("q-0", True, True))
    build.do_work()
    record = run.records.get()
    client.force_login(build.reviewer())
    page = f"/records/{record.pk}/"
    assert "Verdicts are sealed" in client.get(page).content.decode()
    Finding.objects.create(run=run, record=record, code="c", sentence="s", severity="high")
    other = build.reviewer()
    subjects.say(subjects.take(filled(run), other), other, "dismissed")
    assert Decision.objects.get(part__startswith="finding:").record == record
    assert "Verdicts are sealed" in client.get(page).content.decode()
