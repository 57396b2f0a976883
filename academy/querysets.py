"""The questions asked of rows, above all: who may see what."""

from __future__ import annotations

from typing import Any, Self

from django.db import models
from django.db.models import Q


def has_role(user: Any, *roles: str) -> bool:
    """Whether the person holds one of the roles anywhere. Superusers hold every role."""
    if not getattr(user, "is_authenticated", False) or not user.is_active:
        return False
    if user.is_superuser:
        return True
    held = getattr(user, "_academy_roles", None)
    if held is None:
        held = frozenset(user.memberships.values_list("role", flat=True))
        user._academy_roles = held
    return not held.isdisjoint(roles)


def sees_drafts(user: Any) -> bool:
    """Whether unpublished versions and everybody's runs are open to this person."""
    return has_role(user, "curator", "auditor")


def own_organizations(user: Any) -> Any:
    """The ids of organisations for which this person enters runs."""
    if not getattr(user, "is_authenticated", False):
        return []
    return user.memberships.filter(role="entrant").values("organization")


class SuiteQuerySet(models.QuerySet[Any]):
    """Suites."""

    def visible_to(self, user: Any) -> Self:
        """Suites with a version this person may see."""
        if sees_drafts(user):
            return self
        return self.filter(versions__state__in=("published", "retired")).distinct()


class VersionQuerySet(models.QuerySet[Any]):
    """Suite versions."""

    def visible_to(self, user: Any) -> Self:
        """Published and retired versions; drafts only for curators and auditors."""
        if sees_drafts(user):
            return self
        return self.filter(state__in=("published", "retired"))


class TaskQuerySet(models.QuerySet[Any]):
    """Tasks."""

    def visible_to(self, user: Any) -> Self:
        """Tasks of visible versions; holdout tasks only for curators."""
        if has_role(user, "curator"):
            return self
        shown = self.filter(holdout=False)
        if sees_drafts(user):
            return shown
        return shown.filter(version__state__in=("published", "retired"))


class EntrantQuerySet(models.QuerySet[Any]):
    """Entrants."""

    def visible_to(self, user: Any) -> Self:
        """Entrants with a run this person may see, and one's own."""
        if sees_drafts(user):
            return self
        return self.filter(
            Q(organization__in=own_organizations(user))
            | Q(
                runs__version__state__in=("published", "retired"),
                runs__state__in=("closed", "withdrawn"),
            )
        ).distinct()


class RunQuerySet(models.QuerySet[Any]):
    """Runs."""

    def visible_to(self, user: Any) -> Self:
        """Ended runs on visible versions; open and failed ones for their owners and curators."""
        if sees_drafts(user):
            return self
        return self.filter(version__state__in=("published", "retired")).filter(
            Q(state__in=("closed", "withdrawn"))
            | Q(entrant__organization__in=own_organizations(user))
        )

    def ranking(self) -> Self:
        """Runs that may rank: closed, of an entrant."""
        return self.filter(state="closed", kind="entrant")


class RecordQuerySet(models.QuerySet[Any]):
    """Records."""

    def of_run(self, run_id: int) -> Self:
        """The records of a run, by the range of the key."""
        return self.filter(id__gte=run_id << 39, id__lt=(run_id + 1) << 39)

    def visible_to(self, user: Any) -> Self:
        """Records whose values this person may see one by one.

        Records of sealed versions are for curators until the version retires; holdout tasks too.
        So are the records of an oracle run, which are the answer keys, and may be the keys of
        another version as well.
        """
        if has_role(user, "curator"):
            return self
        runs = self.model.run.field.related_model.objects
        return self.exclude(run__kind="oracle").filter(
            Q(run__version__sealed=False) | Q(run__version__state="retired"),
            run__in=runs.visible_to(user),
            task__holdout=False,
        )
