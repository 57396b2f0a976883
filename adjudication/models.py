"""Queues, the items in them, seats held by people, drafts, gold, guidelines and appeals.

Longer than other modules because items, seats and what hangs on them are read together: the
constraints of one rest on the states of the others.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from adjudication.querysets import ItemQuerySet, QueueQuerySet, SeatQuerySet


class Queue(models.Model):
    """Where one kind of decision about one version waits for people, and by which rules.

    `kind` is a key of `adjudication.kinds`; `policy` is read by `adjudication.policies`: sampling,
    order, blindness, gold and eligibility. `lease_seconds` is how long a seat stays held without
    activity.
    """

    version = models.ForeignKey(
        "academy.SuiteVersion", on_delete=models.CASCADE, related_name="queues"
    )
    kind = models.CharField(max_length=30)
    title = models.CharField(max_length=200)
    seats_per_item = models.PositiveSmallIntegerField(default=1)
    lease_seconds = models.PositiveIntegerField(default=1800)
    undo_seconds = models.PositiveIntegerField(default=10)
    policy = models.JSONField(default=dict, blank=True)
    is_paused = models.BooleanField(default=False)
    due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = QueueQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("version", "kind"), name="one_queue_per_kind"),
            models.CheckConstraint(
                condition=Q(seats_per_item__gte=1, seats_per_item__lte=3), name="one_to_three_seats"
            ),
        )

    def __str__(self) -> str:
        return self.title


class Guideline(models.Model):
    """What reviewers of a queue go by, in revisions."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="guidelines")
    revision = models.PositiveIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("queue", "revision"), name="one_guideline_revision"),
        )

    def __str__(self) -> str:
        return f"guideline {self.revision} of queue {self.queue_id}"


class ReviewItem(models.Model):
    """One subject with all its criteria, waiting for people; why it was chosen is kept.

    A decided item waits for a third person, who gives what the seats differ on, or what is named in
    `contested` when an appeal brought it back. A gold item has known verdicts (see `Gold`): it is
    mixed in unmarked, gets a seat for whoever meets it, and never reaches a score.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        DECIDED = "decided", "Waits for a third person"
        RESOLVED = "resolved", "Resolved"
        CLOSED = "closed", "Closed"
        GOLD = "gold", "Gold"

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="items")
    record = models.ForeignKey(
        "academy.InstanceRecord",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="review_items",
    )
    task = models.ForeignKey(
        "academy.Task", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    criterion = models.ForeignKey(
        "academy.Criterion", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    finding = models.ForeignKey(
        "academy.Finding", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    appeal = models.ForeignKey(
        "adjudication.Appeal", null=True, blank=True, on_delete=models.CASCADE, related_name="items"
    )
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    chosen_because = models.CharField(max_length=200, blank=True)
    probability = models.FloatField(default=1.0)
    priority = models.IntegerField(default=0)
    contested = models.JSONField(default=list, blank=True)
    escalated_at = models.DateTimeField(null=True, blank=True)
    # What a third person wrote to the reviewers when they sent the item back.
    answer = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("queue", "record", "task", "criterion", "finding", "appeal"),
                condition=~Q(state="gold"),
                name="one_item_per_subject",
                nulls_distinct=False,
            ),
            models.UniqueConstraint(
                fields=("queue", "record"),
                condition=Q(state="gold"),
                name="one_gold_item_per_record",
            ),
        )
        indexes = (
            models.Index(
                fields=("queue", "priority", "id"), name="open_items", condition=Q(state="open")
            ),
            models.Index(
                fields=("queue", "priority", "id"),
                name="decided_items",
                condition=Q(state="decided"),
            ),
            models.Index(fields=("queue", "id"), name="gold_items", condition=Q(state="gold")),
        )

    def __str__(self) -> str:
        return f"item {self.pk}"


class ItemTally(models.Model):
    """How many items of a queue are in a state; kept by a trigger, so that no page counts them."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="tallies")
    state = models.CharField(max_length=10, choices=ReviewItem.State)
    number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("queue", "state"), name="one_tally_per_state"),
        )

    def __str__(self) -> str:
        return f"{self.number} {self.state} in queue {self.queue_id}"


class Bookmark(models.Model):
    """Where somebody's way through a queue goes on: all open items up to here are behind them.

    `version` goes up when anything may have come back before the place (see `seating`), so that
    what was looked up before is not noted after. `taken` counts the items taken.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=10, default="reviewer")
    priority = models.IntegerField(default=-(2**31))
    item = models.BigIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    taken = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("queue", "user", "role"), name="one_bookmark"),
        )

    def __str__(self) -> str:
        return f"place of {self.user_id} in queue {self.queue_id}"


class Seat(models.Model):
    """A place at an item. Free until claimed; a lease runs out unless activity renews it.

    The seat of a third person is a row like the others, with a role of its own. A withdrawn seat
    keeps its holder and verdicts, counts no more, and has another seat in its place.
    """

    class State(models.TextChoices):
        FREE = "free", "Free"
        HELD = "held", "Held"
        PENDING = "pending", "Pending"
        SUBMITTED = "submitted", "Submitted"
        WITHDRAWN = "withdrawn", "Withdrawn"

    class Role(models.TextChoices):
        REVIEWER = "reviewer", "Reviewer"
        THIRD = "third", "Third person"

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=10, choices=Role, default=Role.REVIEWER)
    state = models.CharField(max_length=10, choices=State, default=State.FREE)
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="seats",
    )
    held_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    final_at = models.DateTimeField(null=True, blank=True)
    suggestion_seen = models.BooleanField(default=False)
    not_blind = models.TextField(blank=True)
    undone = models.PositiveSmallIntegerField(default=0)
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    withdrawn_because = models.TextField(blank=True)
    verdicts = models.JSONField(default=dict, blank=True)
    comment = models.TextField(blank=True)

    objects = SeatQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "number"), name="one_seat_per_number"),
            models.UniqueConstraint(
                fields=("item", "holder"),
                condition=Q(holder__isnull=False),
                name="one_seat_per_person",
            ),
            models.UniqueConstraint(
                fields=("holder",),
                condition=Q(state="held"),
                name="one_open_claim",
            ),
            models.CheckConstraint(
                condition=Q(state="free", holder=None)
                | Q(state__in=("held", "pending", "submitted", "withdrawn"), holder__isnull=False),
                name="held_seat_has_holder",
            ),
        )
        indexes = (
            models.Index(fields=("final_at",), name="pending_seats", condition=Q(state="pending")),
            models.Index(fields=("holder", "submitted_at"), name="seats_of_person"),
            models.Index(
                fields=("item", "lease_until"), name="held_seats", condition=Q(state="held")
            ),
        )

    def __str__(self) -> str:
        return f"seat {self.number} of item {self.item_id}"


class Draft(models.Model):
    """What a reviewer has typed so far at an item, and what they saw of it; outlives the lease.

    A seat that goes from hand to hand has `suggestion_seen` and `not_blind` of its holder alone.
    """

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    revision = models.PositiveIntegerField(default=0)
    content = models.JSONField(default=dict)
    suggestion_seen = models.BooleanField(default=False)
    not_blind = models.TextField(blank=True)
    saved_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "user"), name="one_draft_per_person"),
        )

    def __str__(self) -> str:
        return f"draft of {self.user_id} at item {self.item_id}"


class ExtraVerdict(models.Model):
    """A verdict that came after its lease was lost: kept and shown, never counted."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="extras")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    verdicts = models.JSONField(default=dict)
    sent_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"extra verdict {self.pk}"


class Skip(models.Model):
    """An item passed over: for good, to the end of one's own list, or up to the curators."""

    class Act(models.TextChoices):
        SKIP = "skip", "Skipped"
        DEFER = "defer", "Deferred"
        ESCALATE = "escalate", "Escalated"

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="skips")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    act = models.CharField(max_length=10, choices=Act, default=Act.SKIP)
    reason = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "user"), name="one_skip_per_person"),
        )
        indexes = (
            models.Index(
                fields=("user", "at", "id"), name="deferred_items", condition=Q(act="defer")
            ),
        )

    def __str__(self) -> str:
        return f"{self.act} of item {self.item_id}"


class Gold(models.Model):
    """The known verdicts of a record that is mixed in unmarked; it never reaches a score.

    A retired one is given to nobody any more; what was answered stays in the reports.
    """

    item = models.OneToOneField(ReviewItem, on_delete=models.CASCADE, related_name="gold")
    verdicts = models.JSONField()
    retired_at = models.DateTimeField(null=True, blank=True)
    retired_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    retired_because = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(retired_at=None, retired_by=None, retired_because="")
                | Q(retired_at__isnull=False, retired_by__isnull=False) & ~Q(retired_because=""),
                name="gold_retires_by_somebody_for_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"gold at item {self.item_id}"


class Appeal(models.Model):
    """Somebody contests an item or a verdict; outcome and reason are public.

    `consequence` says what an upheld appeal led to: the record is decided again by a third person,
    the answer key is revised, the criterion is struck in `scoring_pass`, or `version` corrects it.
    Why another pass or version was named than at first stands in `renamed_because`.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        UPHELD = "upheld", "Upheld"
        DISMISSED = "dismissed", "Dismissed"
        WITHDRAWN = "withdrawn", "Withdrawn"

    class Consequence(models.TextChoices):
        NONE = "", "None"
        REDECIDE = "redecide", "Decided again"
        KEY = "key", "New key revision"
        CRITERION = "criterion", "Criterion put to the vote"
        VERSION = "version", "A new version corrects it"

    record = models.ForeignKey(
        "academy.InstanceRecord",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="appeals",
    )
    criterion = models.ForeignKey(
        "academy.Criterion", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    opened_as = models.CharField(max_length=10, default="entrant")
    text = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    outcome_reason = models.TextField(blank=True)
    consequence = models.CharField(
        max_length=10, choices=Consequence, default=Consequence.NONE, blank=True
    )
    scoring_pass = models.ForeignKey(
        "academy.ScoringPass", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    version = models.ForeignKey(
        "academy.SuiteVersion", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    renamed_because = models.TextField(blank=True)
    renamed_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("record", "criterion", "opened_by"),
                condition=Q(state="open"),
                name="one_open_appeal_per_person",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(state__in=("open", "withdrawn")) | ~Q(outcome_reason=""),
                name="closed_appeal_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(renamed_at=None, renamed_because="")
                | Q(renamed_at__isnull=False) & ~Q(renamed_because=""),
                name="correction_is_renamed_for_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"appeal {self.pk}"


class Invitation(models.Model):
    """A link that makes whoever opens it a reviewer or adjudicator; only its digest is kept."""

    token_digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=12, default="reviewer")
    organization = models.ForeignKey(
        "academy.Organization", on_delete=models.CASCADE, related_name="+"
    )
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(role__in=("reviewer", "adjudicator")), name="invited_to_review"
            ),
            models.CheckConstraint(
                condition=Q(accepted_by=None, accepted_at=None)
                | Q(accepted_by__isnull=False, accepted_at__isnull=False),
                name="accepted_by_somebody",
            ),
        )

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class ReviewPreference(models.Model):
    """What a person chose for their own review: how often the digest comes."""

    class Digest(models.TextChoices):
        OFF = "off", "Never"
        DAILY = "daily", "Daily"
        WEEKLY = "weekly", "Weekly"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="review_preference"
    )
    digest = models.CharField(max_length=10, choices=Digest, default=Digest.DAILY)
    digest_sent_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class FindingAnswer(models.Model):
    """What the entrant of a run answered to a finding about it; nothing of it is ever changed."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="answers")
    text = models.TextField()
    sent_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    sent_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(text=""), name="finding_answer_says_something"),
        )

    def __str__(self) -> str:
        return f"answer {self.pk}"
