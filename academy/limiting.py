"""How many runs an account or organisation may enter: checked where a submission is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from academy import auditing
from academy.errors import AcademyError
from academy.models import Organization, Run, Submission, SubmissionLimit, SuiteVersion

LOCK = 7401
ACCOUNT = SubmissionLimit.Scope.ACCOUNT
ORGANIZATION = SubmissionLimit.Scope.ORGANIZATION


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose runs are counted: an account or an organisation."""

    scope: str
    pk: int
    name: str

    def runs(self, version_id: int) -> QuerySet[Run]:
        """What counts: runs of entrants that did not fail through us; withdrawn ones count."""
        counted = Run.objects.filter(version=version_id, kind=Run.Kind.ENTRANT).exclude(
            state=Run.State.FAILED
        )
        if self.scope == ACCOUNT:
            return counted.filter(submission__account=self.pk)
        return counted.filter(submission__organization=self.pk)


def organization_of(account: Any, runs: Sequence[Run]) -> Organization | None:
    """The organisation for which an upload is made: the entrant's own, else the account's one."""
    owners = {run.entrant.organization_id for run in runs if run.entrant.organization_id}
    if len(owners) == 1:
        return Organization.objects.get(pk=owners.pop())
    if account is None:
        return None
    found = Organization.objects.filter(
        memberships__user=account, memberships__role="entrant"
    ).distinct()
    listed = list(found.order_by("pk")[:2])
    return listed[0] if len(listed) == 1 else None


def check(submission: Submission, runs: Sequence[Run]) -> None:
    """Hold new runs against the limits of their versions, in the transaction that stores them.

    Uploads that come at once wait for each other here, so that none slips by. Raises AcademyError
    that says what is used up, and when the next run is possible.
    """
    entered = [run for run in runs if run.kind == Run.Kind.ENTRANT]
    if not entered:
        return
    if submission.organization_id is None:
        submission.organization = organization_of(submission.account, entered)
        submission.save(update_fields=["organization"])
    new = Counter(run.version_id for run in entered)
    limits = list(SubmissionLimit.objects.filter(version__in=new).select_related("version__suite"))
    pairs = [
        (limit, holder)
        for limit in limits
        if (holder := holder_of(submission, limit.scope)) is not None
    ]
    for place in sorted({(limit.version_id, holder.scope, holder.pk) for limit, holder in pairs}):
        lock(*place)
    own = [run.pk for run in entered]
    for limit, holder in pairs:
        refuse_beyond(limit, holder, new[limit.version_id], own)


def holder_of(submission: Submission, scope: str) -> Holder | None:
    """Whose limit of a scope a submission uses; None where it has no such owner."""
    if scope == ACCOUNT:
        account = submission.account
        return None if account is None else Holder(scope, account.pk, account.get_username())
    owner = submission.organization
    return None if owner is None else Holder(scope, owner.pk, owner.name)


def lock(version_id: int, scope: str, pk: int) -> None:
    """Let one transaction at a time count the runs of somebody on a version."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [LOCK, f"{version_id}:{scope}:{pk}"]
        )


def refuse_beyond(limit: SubmissionLimit, holder: Holder, new: int, own: Sequence[int]) -> None:
    """Raise AcademyError when new runs would go beyond a limit."""
    counted = holder.runs(limit.version_id).exclude(pk__in=own)
    window = "in all"
    if limit.days is not None:
        window = f"in {limit.days} days"
        counted = counted.filter(created_at__gte=timezone.now() - timedelta(days=limit.days))
    used = counted.count()
    if used + new <= limit.most:
        return
    told = (
        f"The {holder.scope} {holder.name} has entered {used} of {limit.most} runs on "
        f"{limit.version} {window}; {new} more would go beyond."
    )
    oldest = counted.order_by("created_at").values_list("created_at", flat=True).first()
    if limit.days is not None and oldest is not None:
        free = oldest + timedelta(days=limit.days)
        told += f" The next is possible from {free:%Y-%m-%d %H:%M} UTC on."
    raise AcademyError(told)


def set_limit(
    version: SuiteVersion, scope: str, most: int | None, *, days: int | None = None, by: Any = None
) -> None:
    """Set, change or (with None) lift a limit of a version."""
    if scope not in SubmissionLimit.Scope.values:
        raise AcademyError(f"Limits are per account or organization, not per {scope}.")
    held = SubmissionLimit.objects.filter(version=version, scope=scope, days=days)
    if most is None:
        held.delete()
    else:
        SubmissionLimit.objects.update_or_create(
            version=version,
            scope=scope,
            days=days,
            defaults={"most": most},
            create_defaults={
                "most": most,
                "created_by": by if getattr(by, "is_authenticated", False) else None,
            },
        )
    auditing.note("limit.set", f"version:{version.pk}", by=by, scope=scope, most=most, days=days)
