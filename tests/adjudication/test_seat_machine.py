"""Random walks of several people over a few items: what holds whatever they do, in any order."""

from __future__ import annotations

import random
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from academy.errors import AcademyError
from academy.models import Work
from adjudication import claiming, deciding, resolving
from adjudication.deciding import Stale, Submitted
from adjudication.models import Draft, ExtraVerdict, Queue, ReviewItem, Seat, Skip
from tests.adjudication import builders as build
from tests.adjudication import walks

ITEMS = 4
LEASE = 600
UNDO = 10
START = datetime(2026, 3, 2, 12, tzinfo=UTC)
# The last one decides as a third person too.
PEOPLE = 4
people = st.integers(0, PEOPLE - 1)
picks = st.integers(0, 60)
orders = st.permutations(range(PEOPLE))
values = st.sampled_from([True, True, False, "cannot_tell"])
REASON = "Example reason"


class Rollback(Exception):
    """Ends a walk without a trace in the database."""


class SeatWalk(RuleBasedStateMachine):
    """The walk. Time is what `at` says; only `later` moves it."""

    queue: Queue
    users: list[Any]
    curator: Any

    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.now = START
        self.final: dict[int, dict[str, Any]] = {}
        self.sent: list[tuple[Any, ReviewItem, dict[str, Any]]] = []
        self.decisions: dict[int, tuple[Any, ...]] = {}

    def teardown(self) -> None:
        self.transaction.__exit__(Rollback, Rollback(), None)

    def known(self, pick: int) -> tuple[int, Seat] | None:
        """Somebody, and a seat of an item that they have held, in whatever state it is now.

        Mostly it is one that they hold, or have handed in, so that walks get somewhere.
        """
        if pick % 3 == 0 and not Seat.objects.filter(state="held").exists():
            self.claim(pick % PEOPLE, is_third=pick % 2 == 0)
        drafts = Draft.objects.filter(item__queue=self.queue).order_by("item", "user")
        seats = list(Seat.objects.select_related("item__queue__version").order_by("pk"))
        pairs = [
            (self.users.index(draft.user), seat)
            for draft in drafts.select_related("user")
            for seat in seats
            if seat.item_id == draft.item_id
        ]
        own = [(one, seat) for one, seat in pairs if seat.holder == self.users[one]]
        held = [(one, seat) for one, seat in own if seat.state == "held"]
        chosen = (held, own, pairs)[pick % 3] or own or pairs
        return chosen[pick // 3 % len(chosen)] if chosen else None

    def is_held(self, seat: Seat, person: int) -> bool:
        return seat.state == "held" and seat.holder == self.users[person]

    @rule(person=people, is_third=st.booleans())
    def claim(self, person: int, is_third: bool) -> None:
        user = self.users[person]
        role = "third" if is_third and person == PEOPLE - 1 else "reviewer"
        held = claiming.current_seat(user)
        expected = walks.expected_item(self.queue, user, role, self.now)
        got = claiming.claim_next(self.queue, user=user, role=role, at=self.now)
        if held is not None and held.role == role:
            assert isinstance(got, Seat) and got.pk == held.pk
            return
        if expected is None:
            assert not isinstance(got, Seat)
            return
        assert isinstance(got, Seat)
        assert (got.item_id, got.role, got.holder) == (expected, role, user)
        assert got.lease_until == self.now + timedelta(seconds=LEASE)

    @rule(person=people, said=values)
    def claim_and_submit(self, person: int, said: bool | str) -> None:
        self.claim(person, is_third=True)
        seat = claiming.current_seat(self.users[person])
        if seat is not None:
            self.hand_in(person, seat, said)

    @initialize(persons=orders, said=st.lists(values, max_size=4))
    def begin(self, persons: list[int], said: list[bool | str]) -> None:
        self.decide_one_after_the_other(persons, said)

    @rule(persons=orders, said=st.lists(values, min_size=2, max_size=3))
    def decide_one_after_the_other(self, persons: list[int], said: list[bool | str]) -> None:
        """What happens all day, in one step, so that walks come far."""
        for person, value in zip(persons, said, strict=False):
            self.claim_and_submit(person, value)
        self.let_all_windows_end()

    @rule(seconds=st.sampled_from([1, 4, 11, LEASE // 2, LEASE + 1]))
    def later(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(pick=picks)
    def renew(self, pick: int) -> None:
        known = self.known(pick)
        if known is None:
            return
        person, seat = known
        is_mine = self.is_held(seat, person)
        assert claiming.renew(seat, user=self.users[person], at=self.now) == is_mine

    @rule(pick=picks, act=st.sampled_from(["skip", "defer", "release"]))
    def give_back(self, pick: int, act: str) -> None:
        known = self.known(pick)
        if known is None:
            return
        person, seat = known
        user, is_mine = self.users[person], self.is_held(seat, person)
        if act == "skip":
            assert claiming.skip(seat, user=user, reason=REASON) == is_mine
        elif act == "defer":
            assert claiming.defer(seat, user=user) == is_mine
        else:
            assert claiming.release(seat, user=user) == is_mine
        kept = Skip.objects.filter(item=seat.item, user=user, act=act)
        assert not is_mine or act == "release" or kept.exists()

    @rule(pick=picks)
    def escalate(self, pick: int) -> None:
        known = self.known(pick)
        if known is None or known[1].role == "third":
            return
        person, seat = known
        is_mine = self.is_held(seat, person)
        was = seat.item.state
        assert claiming.escalate(seat, user=self.users[person], reason=REASON) == is_mine
        item = ReviewItem.objects.get(pk=seat.item_id)
        if is_mine and was == "open":
            assert item.state == "decided" and item.escalated_at is not None
            assert set(resolving.disputed(item)) == {"R1", "R2"}
        else:
            assert item.state == was

    @rule(pick=picks)
    def send_back(self, pick: int) -> None:
        if pick % 2:
            self.claim(PEOPLE - 1, is_third=True)
        held = Seat.objects.filter(state="held", role="third", holder=self.users[-1])
        seat = held.select_related("item__queue__version", "holder").first()
        known = (PEOPLE - 1, seat) if seat is not None else self.known(pick)
        if known is None:
            return
        person, seat = known
        if seat.role != "third" or not self.is_held(seat, person):
            with pytest.raises(AcademyError), transaction.atomic():
                resolving.send_back(seat, user=self.users[person], reason=REASON)
            return
        item = resolving.send_back(seat, user=self.users[person], reason=REASON)
        assert (item.state, item.answer) == ("open", REASON)
        assert item.seats.filter(role="reviewer", state="free").exists()

    @rule(which=picks)
    def reassign(self, which: int) -> None:
        held = list(Seat.objects.filter(state="held").order_by("pk"))
        if held:
            seat = held[which % len(held)]
            assert claiming.reassign(seat, by=self.curator, reason=REASON)
            assert Seat.objects.get(pk=seat.pk).state == "free"

    @rule(pick=picks, met=st.booleans(), is_stale=st.booleans())
    def draft(self, pick: int, met: bool, is_stale: bool) -> None:
        known = self.known(pick)
        if known is None:
            return
        person, seat = known
        before = Draft.objects.get(item=seat.item, user=self.users[person])
        content = build.verdicts(seat.item, met, reason=f"at {self.now}")
        saved = deciding.save_draft(
            seat,
            user=self.users[person],
            content=content,
            revision=before.revision - is_stale,
            at=self.now,
        )
        after = Draft.objects.get(pk=before.pk)
        if is_stale:
            assert (after.content, after.revision) == (before.content, before.revision)
            assert isinstance(saved, Stale) or before.content == content
        else:
            assert (after.content, after.revision) == (content, before.revision + 1)

    @rule(pick=picks, said=values)
    def submit(self, pick: int, said: bool | str) -> None:
        known = self.known(pick)
        if known is not None:
            self.hand_in(*known, said)

    def hand_in(self, person: int, seat: Seat, said: bool | str) -> None:
        user = self.users[person]
        was = (seat.state, seat.holder_id == user.pk)
        extras = ExtraVerdict.objects.count()
        content = build.verdicts(seat.item, said, reason=f"said at {self.now}")
        done = deciding.submit(seat, user=user, verdicts=content, at=self.now)
        now = Seat.objects.get(pk=seat.pk)
        if was == ("held", True):
            assert done == Submitted(False, self.now + timedelta(seconds=UNDO))
            assert (now.state, now.verdicts, now.holder) == ("pending", content, user)
            self.sent.append((user, seat.item, content))
            return
        assert (now.state, now.holder_id, now.verdicts) == (
            seat.state,
            seat.holder_id,
            seat.verdicts,
        )
        assert done.is_extra == (not was[1])
        assert ExtraVerdict.objects.count() - extras in ((0, 1) if done.is_extra else (0,))

    @rule(pick=picks)
    def undo(self, pick: int) -> None:
        known = self.known(pick)
        if known is None:
            return
        person, seat = known
        user = self.users[person]
        is_open = (
            seat.state == "pending"
            and seat.holder == user
            and seat.final_at is not None
            and seat.final_at > self.now
        )
        assert deciding.undo(seat, user=user, at=self.now) == is_open
        if is_open:
            held = claiming.current_seat(user)
            assert held is not None and held.pk == seat.pk
            # From here on the words live in the draft, which may be written over.
            self.sent = [one for one in self.sent if one[:2] != (user, seat.item)]

    @rule(pick=picks)
    def withdraw(self, pick: int) -> None:
        waiting = Seat.objects.filter(state="submitted", item__state__in=("open", "decided"))
        listed = [
            (self.users.index(seat.holder), seat)
            for seat in waiting.select_related("item__queue__version", "holder").order_by("pk")
        ]
        known = listed[pick % len(listed)] if listed else self.known(pick)
        if known is None:
            return
        person, seat = known
        user = self.users[person]
        try:
            with transaction.atomic():
                deciding.withdraw(seat, user=user, reason=REASON)
        except AcademyError:
            now = Seat.objects.get(pk=seat.pk)
            assert (now.state, now.verdicts) == (seat.state, seat.verdicts)
            return
        assert seat.state == "submitted" and seat.holder == user
        item = ReviewItem.objects.get(pk=seat.item_id)
        assert item.state == "open"
        assert item.seats.filter(role="reviewer", state="free").exists()

    @rule(which=picks)
    def finalise(self, which: int) -> None:
        pending = list(Seat.objects.filter(state="pending").order_by("pk"))
        if not pending:
            return
        seat = pending[which % len(pending)]
        is_due = seat.final_at is not None and seat.final_at <= self.now
        assert deciding.finalise(seat.pk, at=self.now) == is_due
        if is_due:
            self.final[seat.pk] = seat.verdicts

    @rule()
    def let_all_windows_end(self) -> None:
        self.now += timedelta(seconds=UNDO)
        for _seat in range(Seat.objects.filter(state="pending").count()):
            self.finalise(0)

    @invariant()
    def seats_hold(self) -> None:
        walks.check_seats()
        walks.tallies_hold(self.queue)

    @invariant()
    def no_verdict_is_lost_or_changed(self) -> None:
        for pk, said in self.final.items():
            seat = Seat.objects.get(pk=pk)
            assert (seat.state in ("submitted", "withdrawn"), seat.verdicts) == (True, said)
        for user, item, content in self.sent:
            walks.check_kept(user, item, content)

    @invariant()
    def decisions_are_only_added(self) -> None:
        now = walks.facts_of_decisions()
        assert {pk: now.get(pk) for pk in self.decisions} == self.decisions
        self.decisions = now

    @invariant()
    def every_item_came_to_what_its_seats_said(self) -> None:
        for item in self.queue.items.all():
            walks.check_item(item)

    @invariant()
    def every_pending_seat_is_owed_its_end(self) -> None:
        pending = set(Seat.objects.filter(state="pending").values_list("pk", flat=True))
        owed = Work.objects.filter(kind="finalise_seat", state="ready")
        assert pending <= {unit.payload["seat"] for unit in owed}


def crowd(number: int) -> list[Any]:
    """Reviewers, the last of whom adjudicates too."""
    reviewers = [build.reviewer() for _ in range(number - 1)]
    return [*reviewers, build.person("", "reviewer", "adjudicator")]


@pytest.mark.django_db
@pytest.mark.parametrize("seats", [1, 2])
def test_no_walk_of_claims_leases_and_verdicts_breaks_the_rules(seats: int) -> None:
    queue = build.waiting_queue(
        ITEMS, criteria=2, seats=seats, lease_seconds=LEASE, undo_seconds=UNDO
    )
    Work.objects.all().delete()
    SeatWalk.queue = queue
    SeatWalk.users = crowd(PEOPLE)
    SeatWalk.curator = build.person("", "curator")
    run_state_machine_as_test(
        SeatWalk,
        settings=settings(
            max_examples=15,
            stateful_step_count=25,
            # To explain a failure every line would be traced, which takes many minutes here.
            phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


class Someone:
    """A person in a thread of their own, who does something at random again and again."""

    def __init__(self, queue: Queue, user: Any, curator: Any, seed: int) -> None:
        self.queue, self.user, self.curator = queue, user, curator
        self.random = random.Random(seed)
        self.is_third = seed % 3 == 0

    def act(self, times: int) -> None:
        for _ in range(times):
            try:
                self.act_once()
            except AcademyError:
                # Told that it is too late for this, which is an answer.
                continue

    def act_once(self) -> None:
        role = "third" if self.is_third and self.random.random() < 0.5 else "reviewer"
        seat = claiming.claim_next(self.queue, user=self.user, role=role)
        if not isinstance(seat, Seat):
            self.take_back_something()
            return
        chance = self.random.random()
        if chance < 0.6:
            said = build.verdicts(seat.item, self.random.random() < 0.7, reason=REASON)
            deciding.submit(seat, user=self.user, verdicts=said)
        elif chance < 0.7:
            claiming.defer(seat, user=self.user)
        elif chance < 0.75 and seat.role == "reviewer":
            claiming.escalate(seat, user=self.user, reason=REASON)
        elif chance < 0.8 and seat.role == "third":
            resolving.send_back(seat, user=self.user, reason=REASON)
        elif chance < 0.9:
            claiming.reassign(seat, by=self.curator, reason=REASON)
        else:
            build.age(seat, minutes=1)
            self.take_back_something()

    def take_back_something(self) -> None:
        mine = Seat.objects.filter(holder=self.user, state="submitted").order_by("?").first()
        if mine is not None:
            deciding.withdraw(mine, user=self.user, reason=REASON)


@pytest.mark.django_db(transaction=True)
def test_people_who_all_act_at_once_break_no_rule_either() -> None:
    queue = build.waiting_queue(6, seats=2, undo_seconds=0)
    curator = build.person("", "curator")
    users = [build.person("", "reviewer", "adjudicator") for _ in range(6)]
    start, is_over = threading.Barrier(len(users), timeout=60), threading.Event()

    def live(user: Any, seed: int) -> None:
        start.wait()
        Someone(queue, user, curator, seed).act(12)

    def let_windows_end() -> None:
        while not is_over.is_set():
            for pk in Seat.objects.filter(state="pending").values_list("pk", flat=True):
                deciding.finalise(pk)
            time.sleep(0.01)

    with build.threads(len(users) + 2) as pool:
        workers = [pool.submit(build.in_thread, let_windows_end) for _ in range(2)]
        lives = [pool.submit(build.in_thread, live, user, seed) for seed, user in enumerate(users)]
        told = [one.exception() for one in lives]
        is_over.set()
        told += [one.exception() for one in workers]
    assert told == [None] * (len(users) + 2)
    for pk in Seat.objects.filter(state="pending").values_list("pk", flat=True):
        assert deciding.finalise(pk)
    walks.check_seats()
    walks.tallies_hold(queue)
    for item in queue.items.all():
        walks.check_item(item)
    assert Seat.objects.filter(item__queue=queue, state="submitted").exists()
