"""Blindness, roles, the third person, routing and the page of queues, by the pages themselves."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from academy.models import Decision, Exposure
from adjudication import assigning, claiming, context, deciding
from adjudication.models import Draft, Queue, Seat, Skip
from adjudication.policies import Policy
from adjudication.questions import COMMENT
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import example_suites as examples
from tests.adjudication.test_review_pages import sentences, text_of, url_of

pytestmark = pytest.mark.django_db
MADE = b"a,b\n"
ENTRANT = {"name": "Grey Heron", "model": "acme/heron-5", "harness": "fishing-rod"}


def signed_in(client: Client, user: Any) -> Any:
    client.force_login(user)
    return user


def talkative_queue(*, judge: str = "", seats: int = 1, **facts: Any) -> Queue:
    """One record that names its maker everywhere; a judge has its say on the first criterion."""
    version = build.rubric_version(1, notes=False)
    line = make.judged("q-0", *([True] if judge else []), judge=judge or "nobody")
    line |= {
        "answer": "I am Heron 5 of acme.",
        "messages": [
            {"role": "assistant", "content": "grey_heron here, run by fishing-rod"},
            {"role": "assistant", "tool_calls": [{"name": "heron5", "arguments": "{}"}]},
        ],
        "artifacts": [{"path": "out/heron-5.csv", "sha256": make.sha256(MADE)}],
    }
    made = make.line_run(line, suite="rubrics@1", run_id="r-talk", entrant=ENTRANT)
    make.record_files({**made, "out/heron-5.csv": MADE}, version)
    queue = build.queue_of(version, **facts)
    if seats > 1:
        build.add_seats(queue, seats)
    return queue


@pytest.mark.parametrize("page", ["seat", "raw", "evidence"])
def test_names_are_masked_in_all_that_a_reviewer_reads_before_the_verdict(
    client: Client, page: str
) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    seat = build.claimed(talkative_queue(), anna)
    answer = client.get(url_of(seat, page))
    assert answer.status_code == 200
    assert not re.search(r"heron|fishing|acme", text_of(answer), re.IGNORECASE)
    if page == "seat":
        told = re.search(r"blind, (\d+) names masked", sentences(answer))
        assert told is not None
        assert int(told[1]) >= 5
        assert "out/" in text_of(answer)


def test_a_queue_that_is_not_blind_masks_nothing_and_says_nothing_of_it(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = talkative_queue(policy=Policy(is_blind=False).as_json())
    page = client.get(url_of(build.claimed(queue, anna)))
    assert "I am Heron 5 of acme." in text_of(page)
    assert "names masked" not in sentences(page)


def test_what_a_judge_said_is_sealed_unless_the_queue_opens_it_and_that_is_kept(
    client: Client,
) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = talkative_queue(judge="canary-judge")
    seat = build.claimed(queue, anna)
    for page in ("seat", "raw", "evidence"):
        assert "canary-judge" not in text_of(client.get(url_of(seat, page)))
    refused = client.post(url_of(seat, "suggestion"), follow=True)
    assert "stays sealed until your verdict is in" in text_of(refused)
    assert "canary-judge" not in text_of(refused)

    Queue.objects.update(policy=Policy(suggestion="open").as_json())
    assert "canary-judge" not in text_of(client.get(url_of(seat)))
    words = build.posted(seat.item, "", reason="half a thought")
    opened = client.post(url_of(seat, "suggestion"), words, follow=True)
    assert "canary-judge" in text_of(opened)
    assert "half a thought" in text_of(opened)
    client.post(url_of(seat, "submit"), build.posted(seat.item, True, True, revision=1))
    seat.refresh_from_db()
    assert seat.final_at is not None
    assert "canary-judge" not in text_of(client.get(url_of(seat)))
    assert deciding.finalise(seat.pk, at=seat.final_at)
    assert "canary-judge" in text_of(client.get(url_of(seat)))
    assert Decision.objects.filter(source="person", suggestion_seen=True).count() == 2


def test_where_no_judge_was_asked_there_is_nothing_to_look_at(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = build.waiting_queue(1, policy=Policy(suggestion="open").as_json())
    seat = build.claimed(queue, anna)
    page = client.get(url_of(seat))
    assert "No judge was asked about this record." in sentences(page)
    assert "Show what the judge said" not in text_of(page)
    refused = client.post(url_of(seat, "suggestion"), follow=True)
    assert "there is nothing to show" in text_of(refused)
    seat.refresh_from_db()
    assert not seat.suggestion_seen


def test_comments_and_verdicts_of_others_are_sealed_until_the_item_is_decided(
    client: Client,
) -> None:
    queue = talkative_queue(seats=2)
    ada, bea = build.reviewer("canary-ada"), build.reviewer("bea")
    first = build.claimed(queue, ada)
    signed_in(client, ada)
    sent = {**build.posted(first.item, False, reason="canary-reason"), "m-item": "canary-comment"}
    client.post(url_of(first, "submit"), sent)
    first.refresh_from_db()
    assert first.final_at is not None
    assert deciding.finalise(first.pk, at=first.final_at)

    signed_in(client, bea)
    second = build.claimed(queue, bea)
    seen = [text_of(client.get(url_of(second, page))) for page in ("seat", "raw", "evidence")]
    seen.append(text_of(client.get(reverse("adjudication:queues"))))
    client.post(url_of(second, "submit"), build.posted(second.item, True))
    seen.append(text_of(client.get(url_of(second))))
    assert not any("canary" in page for page in seen)
    second.refresh_from_db()
    assert second.final_at is not None
    assert deciding.finalise(second.pk, at=second.final_at)
    assert "canary" not in text_of(client.get(url_of(second)))

    otto = signed_in(client, build.person("otto", "adjudicator"))
    third = build.claimed(queue, otto, role="third")
    page = text_of(client.get(url_of(third)))
    assert "canary-reason" in page
    assert "canary-comment" in page
    assert ">canary-ada<" not in page
    assert ">bea<" not in page
    client.post(url_of(third, "submit"), build.posted(third.item, False, "", reason="decided"))
    third.refresh_from_db()
    assert third.final_at is not None
    assert ">canary-ada<" not in text_of(client.get(url_of(third)))
    assert deciding.finalise(third.pk, at=third.final_at)
    assert ">canary-ada<" in text_of(client.get(url_of(third)))

    signed_in(client, bea)
    page = text_of(client.get(url_of(second)))
    assert "canary-comment" in page
    assert "Reviewer A" in page
    assert ">canary-ada<" not in page
    assert ">otto<" not in page


def test_a_seat_that_goes_from_hand_to_hand_tells_nothing_of_who_held_it(client: Client) -> None:
    anna, bea = build.reviewer("anna"), build.reviewer("bea")
    queue = talkative_queue(judge="canary-judge")
    Queue.objects.update(policy=Policy(suggestion="open").as_json())
    queue.refresh_from_db()
    seat = left_behind(client, queue, anna, "canary-anna")
    signed_in(client, bea)
    assert build.claimed(queue, bea).pk == seat.pk
    page = text_of(client.get(url_of(seat)))
    assert "canary" not in page
    assert "you reported" not in page
    assert "Show what the judge said" in page
    seat.refresh_from_db()
    assert (seat.suggestion_seen, seat.not_blind, seat.undone) == (False, "", 0)
    left_behind(client, queue, bea, "canary-bea")

    signed_in(client, anna)
    assert build.claimed(queue, anna).pk == seat.pk
    page = text_of(client.get(url_of(seat)))
    assert "canary-anna" in page
    assert "canary-judge" in page
    assert "you reported" in page
    assert "canary-bea" not in page
    claiming.release(seat, user=anna)
    signed_in(client, bea)
    build.claimed(queue, bea)
    client.post(url_of(seat, "suggestion"))
    client.post(url_of(seat, "submit"), {**build.posted(seat.item, revision=9), "m-item": "canary"})
    signed_in(client, anna)
    assert "canary-bea" not in text_of(client.get(url_of(seat)))


def left_behind(client: Client, queue: Queue, user: Any, words: str) -> Seat:
    """A seat on which somebody looked, commented and reported, that was submitted, undone, left."""
    signed_in(client, user)
    seat = build.claimed(queue, user)
    client.post(url_of(seat, "suggestion"))
    client.post(url_of(seat, "not-blind"), {"text": words})
    client.post(url_of(seat, "submit"), {**build.posted(seat.item, revision=9), "m-item": words})
    client.post(url_of(seat, "undo"))
    client.post(url_of(seat, "release"))
    seat.refresh_from_db()
    assert seat.state == "free"
    return seat


def test_a_comment_comes_back_with_the_draft_and_after_an_undo(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    seat = build.claimed(build.waiting_queue(1), anna)
    client.post(url_of(seat, "draft"), {**build.posted(seat.item), "m-item": "first words"})
    assert Draft.objects.get().content[COMMENT]["reason"] == "first words"
    assert "first words" in text_of(client.get(url_of(seat)))
    sent = {**build.posted(seat.item, revision=1), "m-item": "last words"}
    client.post(url_of(seat, "submit"), sent)
    assert Seat.objects.get().comment == "last words"
    assert "last words" in text_of(client.post(url_of(seat, "undo"), follow=True))


def test_an_auditor_reads_all_of_review_and_finds_no_form_and_no_key(client: Client) -> None:
    version = make.version_of(
        make.import_files(examples.rated_suite(), rename=("rated", "1"), publish=True)
    )
    make.record_files(examples.answered_run("rated@1", examples.FIXTURE, 1), version)
    build.do_work()
    assigning.fill_queue(version)
    queue = version.queues.get(kind="ratings")
    item = queue.items.get()
    signed_in(client, build.person("aud", "auditor"))
    pages = [
        client.get(reverse("adjudication:queues")),
        client.get(reverse("adjudication:queue", args=[queue.pk])),
        client.get(reverse("adjudication:item", args=[item.pk])),
    ]
    for page in pages:
        assert page.status_code == 200
        text = text_of(page)
        assert examples.TRUTH not in text
        assert examples.NOTE not in text
        assert 'id="verdict"' not in text
        assert "Next item" not in text
    assert "Seat 1" in sentences(pages[2])
    for address in ("practice", "history"):
        assert client.get(reverse(f"adjudication:{address}")).status_code == 404
    assert not Exposure.objects.exists()


def test_an_undecided_item_is_sealed_for_whoever_could_still_decide_it(client: Client) -> None:
    queue = talkative_queue(seats=2)
    ada = build.reviewer("ada")
    build.decide(build.claimed(queue, ada), ada, False, reason="canary-reason")
    item = queue.items.get()
    url = reverse("adjudication:item", args=[item.pk])
    signed_in(client, build.person("otto", "adjudicator", "curator"))
    page = client.get(url)
    assert "What others said is sealed." in sentences(page)
    assert "canary-reason" not in text_of(page)
    assert "heron" not in text_of(page).lower()
    signed_in(client, build.person("cat", "curator"))
    assert "canary-reason" in text_of(client.get(url))
    signed_in(client, build.reviewer("cal"))
    assert client.get(url).status_code == 404


def test_a_reviewer_sees_only_the_sealed_parts_that_the_asked_criteria_name(
    client: Client,
) -> None:
    version = make.version_of(
        make.import_files(examples.routed_suite(), rename=("routed", "1"), publish=True)
    )
    make.record_files(examples.routed_run("routed@1", 1), version)
    build.do_work()
    assigning.fill_queue(version)
    anna = signed_in(client, build.reviewer("anna"))
    queue = version.queues.get(kind="ratings")
    ratings = build.claimed(queue, anna)
    page = text_of(client.get(url_of(ratings)))
    assert "terminal state: merged" in page
    assert "no server code touched" not in page
    assert Exposure.objects.get(why=f"seat:{ratings.pk}").what == "expectation"


def routing_seat(user: Any, *, of_run: bool) -> Seat:
    """The seat at the routing of the task, or at that of the run."""
    version = make.version_of(
        make.import_files(examples.routed_suite(), rename=("routed", "1"), publish=True)
    )
    make.record_files(examples.routed_run("routed@1", 1), version)
    build.do_work()
    assigning.fill_queue(version)
    build.do_work()
    queue = version.queues.get(kind="routing")
    return build.claimed(queue, user, prefer=queue.items.get(record__isnull=not of_run).pk)


def answers_of(seat: Seat) -> dict[str, str]:
    """A form with a fitting answer for every row."""
    form = {"revision": "0", "v-overall": "holds", "r-overall": "read"}
    for asked in deciding.questions_of(seat.item):
        if asked.scale == "fit":
            form[f"v-{asked.field}"] = asked.choices[0].code
    return form


@pytest.mark.parametrize("of_run", [False, True])
def test_each_routing_verdict_is_stored_with_the_revision_of_its_table(
    client: Client, of_run: bool
) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    seat = routing_seat(anna, of_run=of_run)
    asked = deciding.questions_of(seat.item)
    assert len(asked) == examples.ROWS + 2
    listed = [question.section for question in asked]
    named = (2, 1) if of_run else (3, 2)
    assert (listed.count("selected"), listed.count("skipped")) == named
    client.post(url_of(seat, "submit"), answers_of(seat))
    seat.refresh_from_db()
    assert seat.final_at is not None
    assert deciding.finalise(seat.pk, at=seat.final_at)
    rows = Decision.objects.filter(source="person")
    assert {row.kind for row in rows} == {"record" if of_run else "task"}
    assert len(rows) == examples.ROWS + 2
    whole = rows.get(part="routing")
    assert whole.value["verdict"] == "holds"
    table = whole.value["table_revision"]
    assert {given["table"] for given in seat.verdicts.values()} == {table}
    assert {row.criterion.extra["table_revision"] for row in rows if row.criterion} == {table}
    assert rows.filter(part="routing:plumbing").exists() == of_run


def test_rows_that_are_named_are_asked_otherwise_than_rows_that_are_not(client: Client) -> None:
    anna = build.reviewer("anna")
    by_key = {q.key: q for q in deciding.questions_of(routing_seat(anna, of_run=False).item)}
    labels = {
        key: [choice.label for choice in by_key[key].choices]
        for key in ("routing:qa-methodology", "routing:product-discovery", "routing:overall")
    }
    assert labels == {
        "routing:qa-methodology": ["Fits", "Does not fit", "Cannot tell", "Not in the table"],
        "routing:product-discovery": ["Rightly left out", "Wrongly left out", "Cannot tell"],
        "routing:overall": ["Routing holds", "Routing is wrong", "Cannot tell"],
    }


def test_the_button_for_silent_rows_leaves_what_was_answered(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    seat = routing_seat(anna, of_run=False)
    wrong = next(q for q in deciding.questions_of(seat.item) if q.section == "unnamed")
    sent = {"revision": "0", f"v-{wrong.field}": "wrongly-left-out"}
    client.post(url_of(seat, "draft"), {**sent, "mark": "unnamed:rightly-left-out"})
    content = Draft.objects.get().content
    values = [given.get("value") for given in content.values()]
    assert content[wrong.key]["value"] == "wrongly left out"
    assert values.count("rightly left out") == examples.ROWS - 4 - 1
    strange = client.post(url_of(seat, "draft"), {"revision": "1", "mark": "unnamed:fits"})
    assert strange.status_code == 302
    assert not any(given.get("value") for given in Draft.objects.get().content.values())


def test_a_queue_with_a_conflict_of_interest_stands_last_and_says_why(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    version = build.rubric_version(1, slug="competing")
    build.rubric_run(version, account=anna)
    build.queue_of(version)
    build.waiting_queue(2)
    page = client.get(reverse("adjudication:queues"))
    told = "closed to you: You submitted a run on this version"
    assert told in sentences(page)
    assert text_of(page).count("Next item") == 1
    assert context.waiting_for(anna) == 2
    assert "Review 2" in sentences(page)


def test_the_number_in_the_navigation_costs_one_query_on_pages_that_show_it(
    client: Client,
) -> None:
    build.waiting_queue(2)
    anna = build.reviewer("anna")
    claiming.has_role(anna, "reviewer")
    with CaptureQueriesContext(connection) as seen:
        assert context.waiting_for(anna) == 2
    assert len(seen) == 1
    with CaptureQueriesContext(connection) as seen:
        assert context.waiting_for(AnonymousUser()) == 0
    assert len(seen) == 0
    stranger = text_of(client.get("/"))
    assert "items wait" not in stranger


def test_the_tabs_list_ones_own_drafts_submissions_and_what_one_passed_over(
    client: Client,
) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = build.waiting_queue(5)
    for act, field in (("skip", "why"), ("defer", "defer_why"), ("escalate", "escalate_why")):
        seat = build.claimed(queue, anna)
        client.post(url_of(seat, act), {field: f"{act} it"})
    seat = build.claimed(queue, anna)
    client.post(url_of(seat, "submit"), build.posted(seat.item))
    seat = build.claimed(queue, anna)
    client.post(url_of(seat, "draft"), build.posted(seat.item, False, reason="mine"))
    listed = {
        tab: sentences(client.get(reverse("adjudication:queues"), {"s": tab}))
        for tab in ("all", "pending", "draft", "submitted", "skipped", "escalated", "strange")
    }
    assert re.search(r"Draft 1 Submitted 1 Skipped 2 Escalated 1", listed["all"])
    assert "q-4" in listed["draft"]
    assert "2 met" in listed["submitted"]
    assert "skip it" in listed["skipped"]
    assert "defer it" in listed["skipped"]
    assert "escalate it" in listed["escalated"]
    assert "Queue Form Pending" in listed["strange"]
    assert Skip.objects.count() == 3


def test_the_tabs_ask_as_often_for_many_items_as_for_few(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = build.waiting_queue(9)
    counts = []
    for items in (2, 4):
        for _item in range(items):
            seat = build.claimed(queue, anna)
            deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item))
        Seat.objects.filter(state="pending").update(state="submitted")
        row = []
        for tab in ("submitted", "draft", "skipped"):
            with CaptureQueriesContext(connection) as seen:
                client.get(reverse("adjudication:queues"), {"s": tab})
            row.append(len(seen))
        with CaptureQueriesContext(connection) as seen:
            client.get(reverse("adjudication:history"))
        counts.append([*row, len(seen)])
    assert counts[0] == counts[1]


def test_held_items_of_others_name_nobody(client: Client) -> None:
    queue = build.waiting_queue(2)
    other = build.reviewer("canary-name")
    build.claimed(queue, other)
    signed_in(client, build.reviewer("anna"))
    page = client.get(reverse("adjudication:queues"))
    assert "canary-name" not in text_of(page)
    assert re.search(r"Reviewer \d+ .* 30 min left", sentences(page))


def test_withdrawing_before_the_item_is_decided_keeps_the_words_and_opens_a_seat(
    client: Client,
) -> None:
    queue = build.waiting_queue(1, seats=2)
    ada = signed_in(client, build.reviewer("ada"))
    seat = build.claimed(queue, ada)
    build.decide(seat, ada, True)
    assert "Withdraw this review" in text_of(client.get(url_of(seat)))
    empty = client.post(url_of(seat, "withdraw"), {"withdraw_why": " "}, follow=True)
    assert "Say why you withdraw your verdict." in text_of(empty)
    done = client.post(url_of(seat, "withdraw"), {"withdraw_why": "wrong run"}, follow=True)
    assert "It was withdrawn and does not count: wrong run" in html.unescape(sentences(done))
    assert Seat.objects.filter(item=seat.item, state="free").count() == 2


def test_a_third_person_sends_an_escalated_item_back_with_an_answer(client: Client) -> None:
    queue = build.waiting_queue(1)
    ada = signed_in(client, build.reviewer("ada"))
    seat = build.claimed(queue, ada)
    client.post(url_of(seat, "escalate"), {"escalate_why": "is a draft meant?"})
    otto = signed_in(client, build.person("otto", "adjudicator"))
    third = build.claimed(queue, otto, role="third")
    page = sentences(client.get(url_of(third)))
    assert "An escalated item" in page
    assert "is a draft meant?" in page
    client.post(url_of(third, "send-back"), {"back_why": "yes, a draft is meant"})
    signed_in(client, ada)
    again = build.claimed(queue, ada)
    assert "An adjudicator answered: yes, a draft is meant" in sentences(client.get(url_of(again)))


def test_extra_reviews_are_shown_to_the_third_person_as_such(client: Client) -> None:
    queue = build.waiting_queue(1, seats=2)
    late = build.reviewer("late")
    lost = build.claimed(queue, late)
    build.age(lost, minutes=1)
    for name, met in (("ada", True), ("bea", False)):
        person = build.reviewer(name)
        build.decide(build.claimed(queue, person), person, met)
    signed_in(client, late)
    client.post(url_of(lost, "submit"), build.posted(lost.item, False, reason="came too late"))
    otto = signed_in(client, build.person("otto", "adjudicator"))
    page = sentences(client.get(url_of(build.claimed(queue, otto, role="third"))))
    assert "Extra reviews sent after a lost hold; shown to you, never counted" in page
    assert "came too late" in page
    assert "2 reviews differ on 1 of 2" in page


@pytest.mark.parametrize("shown", ["all", "diff", "open", "strange"])
def test_hidden_rows_of_the_third_view_keep_what_was_decided(client: Client, shown: str) -> None:
    queue = build.waiting_queue(1, criteria=3, seats=2)
    for name, met in (("ada", True), ("bea", False)):
        person = build.reviewer(name)
        build.decide(build.claimed(queue, person), person, met, met)
    otto = signed_in(client, build.person("otto", "adjudicator"))
    third = build.claimed(queue, otto, role="third")
    words = build.posted(third.item, True, "", "", reason="")
    first = deciding.questions_of(third.item)[0]
    words[f"r-{first.field}"] = "decided first"
    client.post(url_of(third, "draft"), words)
    page = client.get(url_of(third), {"d": shown}).content.decode()
    assert "decided first" in page
    assert re.search(rf'name="v-{first.field}" value="yes"', page)
