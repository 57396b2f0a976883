"""Invitations by link: a curator makes one, whoever opens it first becomes a reviewer."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.utils import timezone

from academy import auditing
from academy.errors import AcademyError
from academy.models import Membership, Organization
from academy.querysets import has_role
from adjudication.models import Invitation

ROLES = ("reviewer", "adjudicator")
FEWEST_DAYS, MOST_DAYS = 1, 90


class UnusableInvitationError(AcademyError):
    """A link that opens nothing any more, or never did; the text says which."""


@dataclass(frozen=True, slots=True)
class Made:
    """A new invitation with its token, which is known only now."""

    invitation: Invitation
    token: str


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def invite(*, role: str, organization: Organization, days: int, note: str = "", by: Any) -> Made:
    """Make an invitation that can be used once within so many days.

    Raises AcademyError for somebody who is no curator, another role, or another span.
    """
    refuse_others(by)
    if role not in ROLES:
        raise AcademyError(f"People are invited as {' or '.join(ROLES)}, not as {role!r}.")
    if not FEWEST_DAYS <= days <= MOST_DAYS:
        raise AcademyError(
            f"An invitation holds for {FEWEST_DAYS} to {MOST_DAYS} days, not for {days}."
        )
    token = secrets.token_urlsafe(32)
    made = Invitation.objects.create(
        token_digest=digest_of(token),
        role=role,
        organization=organization,
        note=note.strip()[:200],
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    auditing.note(
        "invitation.make",
        f"invitation:{made.pk}",
        by=by,
        role=role,
        organization=organization.slug,
        expires_at=made.expires_at.isoformat(),
    )
    return Made(made, token)


def refuse_others(user: Any) -> None:
    """Raise AcademyError for somebody who is no curator."""
    if not has_role(user, "curator"):
        raise AcademyError("Only curators invite people.")


@transaction.atomic
def revoke(invitation: Invitation, *, by: Any) -> bool:
    """Take an invitation back; False when it was used or taken back already."""
    refuse_others(by)
    moved = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if moved:
        auditing.note("invitation.revoke", f"invitation:{invitation.pk}", by=by)
    return moved == 1


def usable(token: str, *, at: datetime | None = None) -> Invitation:
    """The invitation of a link. Raises UnusableInvitationError that says why it opens nothing."""
    rows = Invitation.objects.select_related("organization", "created_by")
    found: Invitation | None = rows.filter(token_digest=digest_of(token)).first()
    if found is None:
        raise UnusableInvitationError(
            "No invitation has this link. Look whether it was copied whole, or ask for a new one."
        )
    if found.accepted_at is not None:
        raise UnusableInvitationError(
            f"This invitation was used on {found.accepted_at:%d %B %Y}; each works once. "
            "If it was you, sign in."
        )
    if found.revoked_at is not None:
        raise UnusableInvitationError("This invitation was taken back. Ask for a new one.")
    if found.expires_at <= (at or timezone.now()):
        raise UnusableInvitationError(
            f"This invitation ended on {found.expires_at:%d %B %Y}. Ask for a new one."
        )
    return found


@transaction.atomic
def accept(token: str, *, user: Any, at: datetime | None = None) -> Invitation:
    """Give the role of an invitation to somebody with an account, once.

    Raises UnusableInvitationError when it was used, taken back or ended, and AcademyError for
    somebody who has the role already, whose link stays usable.
    """
    now = at or timezone.now()
    found = usable(token, at=now)
    taken = Invitation.objects.filter(
        pk=found.pk, accepted_at=None, revoked_at=None, expires_at__gt=now
    ).update(accepted_by=user, accepted_at=now)
    if not taken:
        # Somebody else was faster by a moment.
        usable(token, at=now)
        raise UnusableInvitationError("This invitation was used a moment ago; each works once.")
    _row, is_new = Membership.objects.get_or_create(
        user=user, organization=found.organization, role=found.role
    )
    if not is_new:
        raise AcademyError(
            f"You are {found.role} of {found.organization.name} already; "
            "the invitation stays for somebody else."
        )
    auditing.note(
        "invitation.accept",
        f"invitation:{found.pk}",
        by=user,
        role=found.role,
        organization=found.organization.slug,
    )
    found.refresh_from_db()
    return found


@transaction.atomic
def sign_up(token: str, *, username: str, password: str, email: str = "") -> Any:
    """Make an account by an invitation, and give it the role; gives the account.

    The password was checked before. Raises UnusableInvitationError as `accept` does, and
    AcademyError when the name was taken in the meantime.
    """
    usable(token)
    people = get_user_model()._default_manager
    try:
        with transaction.atomic():
            user = people.create_user(username=username, password=password, email=email)
    except IntegrityError:
        raise AcademyError(f"Somebody is called {username} already; choose another name.") from None
    accept(token, user=user)
    return user
