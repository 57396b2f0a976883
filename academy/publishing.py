"""A version becomes public, and from then on does not change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from academy import auditing, registry, tasks, work
from academy.errors import AcademyError
from academy.models import SuiteVersion
from academy.scorers.base import Mode


@transaction.atomic
def publish_version(version: SuiteVersion, *, by: Any = None, reason: str) -> SuiteVersion:
    """Make a draft public.

    Raises AcademyError for a ranked version that lacks an answer key its scorers need.
    """
    locked = SuiteVersion.objects.select_for_update().get(pk=version.pk)
    if locked.state == SuiteVersion.State.RETIRED:
        raise AcademyError(f"{locked} is retired; publish a new version instead.")
    if locked.state == SuiteVersion.State.PUBLISHED:
        return locked
    if locked.mode != SuiteVersion.Mode.COLLECTION and not locked.tasks.exists():
        raise AcademyError(f"{locked} holds no task yet; there is nothing to publish.")
    if locked.mode == SuiteVersion.Mode.RANKED:
        keyless = locked.tasks.filter(keys=None).exclude(gradings=[]).order_by("ordinal")
        lacking = [task.external_id for task in keyless if needs_key(task.gradings)][:10]
        if lacking:
            raise AcademyError(
                f"{locked} is ranked and has no answer key for {', '.join(lacking)}; "
                "load the keys before publishing."
            )
    locked.state = SuiteVersion.State.PUBLISHED
    locked.published_at = timezone.now()
    locked.save(update_fields=["state", "published_at"])
    auditing.note("version.publish", f"version:{locked.pk}", by=by, reason=reason)
    work.version_changed(locked.pk)
    tasks.nudge()
    version.refresh_from_db()
    return version


def needs_key(gradings: Iterable[Mapping[str, Any]]) -> bool:
    """Whether some scorer of a task goes by a key, and not by criteria that somebody decides."""
    return any(
        not scorer.needs_decisions
        for grading in gradings
        for mode in Mode
        if (scorer := registry.scorer_of(grading["scorer"], mode))
    )
