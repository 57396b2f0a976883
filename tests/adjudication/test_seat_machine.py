"""Random walks of three reviewers over a few items: what holds whatever they do, in any order."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from academy import work
from academy.models import Decision, Work
from adjudication import claiming, deciding
from adjudication.deciding import Stale, Submitted
from adjudication.models import Draft, ExtraVerdict, Queue, Seat, Skip
from tests.adjudication import builders as build

ITEMS = 3
LEASE = 600
UNDO = 10
START = datetime(2026, 3, 2, 12, tzinfo=UTC)
people = st.integers(0, 2)


class Rollback(Exception):
    """Ends a walk without a trace in the database."""


class SeatWalk(RuleBasedStateMachine):
    """The walk. Time is what `at` says; only `later` moves it."""

    queue: Queue
    users: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.now = START
        self.final: dict[int, dict[str, Any]] = {}

    def teardown(self) -> None:
        self.transaction.__exit__(Rollback, Rollback(), None)

    def seat_of(self, person: int) -> Seat | None:
        return claiming.current_seat(self.users[person])

    def known_seat(self, person: int, which: int) -> Seat | None:
        """A seat of an item that this person has held, in whatever state it is now."""
        drafts = Draft.objects.filter(user=self.users[person]).order_by("pk")
        seats = list(
            Seat.objects.filter(item__in=drafts.values("item"))
            .select_related("item__queue")
            .order_by("pk")
        )
        # What one holds comes first, so that walks get somewhere.
        seats.sort(key=lambda seat: seat.holder_id != self.users[person].pk)
        return seats[which % len(seats)] if seats else None

    @rule(person=people)
    def claim(self, person: int) -> None:
        held = self.seat_of(person)
        got = claiming.claim_next(self.queue, user=self.users[person], at=self.now)
        if held is not None:
            assert isinstance(got, Seat) and got.pk == held.pk
        if isinstance(got, Seat):
            assert got.lease_until == self.now + timedelta(seconds=LEASE)
            skipped = Skip.objects.filter(item=got.item, user=self.users[person])
            assert held is not None or not skipped.exists()

    @rule(person=people, said=st.sampled_from([True, False, "defective"]))
    def claim_and_submit(self, person: int, said: bool | str) -> None:
        self.claim(person)
        self.submit(person, 0, said)

    @rule(seconds=st.sampled_from([1, 4, 11, LEASE // 2, LEASE + 1]))
    def later(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(person=people, which=st.integers(0, 2))
    def renew(self, person: int, which: int) -> None:
        seat = self.known_seat(person, which)
        if seat is None:
            return
        is_mine = seat.state == "held" and seat.holder == self.users[person]
        assert claiming.renew(seat, user=self.users[person], at=self.now) == is_mine

    @rule(person=people, which=st.integers(0, 2), reason=st.sampled_from(["Not my field"]))
    def skip(self, person: int, which: int, reason: str) -> None:
        seat = self.known_seat(person, which)
        if seat is not None:
            claiming.skip(seat, user=self.users[person], reason=reason)

    @rule(person=people, which=st.integers(0, 2))
    def release(self, person: int, which: int) -> None:
        seat = self.known_seat(person, which)
        if seat is not None:
            claiming.release(seat, user=self.users[person])

    @rule(person=people, which=st.integers(0, 2), met=st.booleans(), is_stale=st.booleans())
    def draft(self, person: int, which: int, met: bool, is_stale: bool) -> None:
        seat = self.known_seat(person, which)
        if seat is None:
            return
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

    @rule(person=people, which=st.integers(0, 2), said=st.sampled_from([True, False, "defective"]))
    def submit(self, person: int, which: int, said: bool | str) -> None:
        seat = self.known_seat(person, which)
        if seat is None:
            return
        user = self.users[person]
        was = (seat.state, seat.holder_id == user.pk)
        draft = Draft.objects.get(item=seat.item, user=user)
        extras = ExtraVerdict.objects.count()
        content = build.verdicts(seat.item, said, reason=f"said at {self.now}")
        done = deciding.submit(seat, user=user, verdicts=content, at=self.now)
        now = Seat.objects.get(pk=seat.pk)
        if was == ("held", True):
            assert done == Submitted(False, self.now + timedelta(seconds=UNDO))
            assert (now.state, now.verdicts, now.holder) == ("pending", content, user)
            assert Draft.objects.get(pk=draft.pk).content == content
            return
        assert (now.state, now.holder_id, now.verdicts) == (
            seat.state,
            seat.holder_id,
            seat.verdicts,
        )
        assert Draft.objects.get(pk=draft.pk).content == draft.content
        assert done.is_extra == (not was[1])
        assert ExtraVerdict.objects.count() - extras in ((0, 1) if done.is_extra else (0,))

    @rule(person=people, which=st.integers(0, 2))
    def undo(self, person: int, which: int) -> None:
        seat = self.known_seat(person, which)
        if seat is None:
            return
        user = self.users[person]
        is_open = (
            seat.state == "pending"
            and seat.holder == user
            and seat.final_at is not None
            and seat.final_at > self.now
        )
        assert deciding.undo(seat, user=user, at=self.now) == is_open
        if is_open:
            held = self.seat_of(person)
            assert held is not None and held.pk == seat.pk

    @rule(which=st.integers(0, 2))
    def finalise(self, which: int) -> None:
        seats = list(Seat.objects.filter(item__queue=self.queue).order_by("pk"))
        seat = seats[which % len(seats)]
        is_due = seat.state == "pending" and seat.final_at is not None and seat.final_at <= self.now
        assert deciding.finalise(seat.pk, at=self.now) == is_due
        if is_due:
            self.final[seat.pk] = seat.verdicts

    @precondition(lambda self: Seat.objects.filter(state="pending").exists())
    @rule()
    def worker(self) -> None:
        """A worker meets the work that is owed for pending seats, however early."""
        for unit in Work.objects.filter(kind="finalise_seat", state="ready"):
            claimed = work.Claimed(
                unit.pk, unit.kind, unit.key, unit.payload, 1, unit.requested, "w"
            )
            Work.objects.filter(pk=unit.pk).update(state="leased", lease_owner="w")
            work.finish(claimed, deciding.finalise_seat(unit.payload))
        # The clock of the machine is far ahead of the walk's, so all that is pending counts now.
        for seat in Seat.objects.filter(state="submitted"):
            self.final.setdefault(seat.pk, seat.verdicts)
        assert not Seat.objects.filter(state="pending").exists()

    @invariant()
    def a_seat_is_free_or_has_one_holder(self) -> None:
        for seat in Seat.objects.all():
            assert (seat.state == "free") == (seat.holder_id is None)
            assert (seat.state == "held") == (seat.lease_until is not None)
            assert (seat.state in ("pending", "submitted")) == (seat.final_at is not None)

    @invariant()
    def nobody_holds_two_seats_or_has_two_of_an_item(self) -> None:
        held = Counter(Seat.objects.filter(state="held").values_list("holder", flat=True))
        assert all(number == 1 for number in held.values())
        taken = Counter(Seat.objects.exclude(holder=None).values_list("holder", "item"))
        assert all(number == 1 for number in taken.values())

    @invariant()
    def what_counts_never_changes(self) -> None:
        for pk, said in self.final.items():
            seat = Seat.objects.get(pk=pk)
            assert (seat.state, seat.verdicts) == ("submitted", said)

    @invariant()
    def every_item_with_all_seats_in_became_decisions_once(self) -> None:
        for item in self.queue.items.all():
            seats = list(item.seats.all())
            is_in = all(seat.state == "submitted" for seat in seats)
            assert (item.state != "open") == is_in
            decisions = Decision.objects.filter(record=item.record, source="person")
            found = sorted(
                (row.seat, row.criterion.key, row.state, row.value, row.reason)
                for row in decisions.select_related("criterion")
            )
            expected = sorted(
                (seat.pk, key, said["state"], said["value"], said["reason"])
                for seat in seats
                for key, said in seat.verdicts.items()
                if is_in
            )
            assert found == expected

    @invariant()
    def every_pending_seat_is_owed_its_end(self) -> None:
        pending = set(Seat.objects.filter(state="pending").values_list("pk", flat=True))
        owed = Work.objects.filter(kind="finalise_seat", state="ready")
        assert pending <= {unit.payload["seat"] for unit in owed}


@pytest.mark.django_db
@pytest.mark.parametrize("seats", [1, 2])
def test_no_walk_of_claims_leases_and_verdicts_breaks_the_rules(seats: int) -> None:
    queue = build.waiting_queue(
        ITEMS, criteria=2, seats=seats, lease_seconds=LEASE, undo_seconds=UNDO
    )
    Work.objects.all().delete()
    SeatWalk.queue = queue
    SeatWalk.users = [build.reviewer() for _number in range(3)]
    run_state_machine_as_test(
        SeatWalk,
        settings=settings(
            max_examples=15,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
