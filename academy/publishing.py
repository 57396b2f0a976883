"""A version becomes public, and from then on does not change."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from academy import auditing, confirming, gating, keying, passes, tasks, work
from academy.errors import AcademyError
from academy.models import SuiteVersion


@work.owing()
def publish_version(version: SuiteVersion, *, by: Any = None, reason: str) -> SuiteVersion:
    """Make a draft public.

    Raises AcademyError for a ranked version that lacks an answer key its scorers need, or whose
    gate stays shut. Where people or judges decide, the reason is what the publisher signs.
    """
    locked: SuiteVersion = (
        SuiteVersion.objects.select_for_update(of=("self",))
        .select_related("suite")
        .get(pk=version.pk)
    )
    if locked.state == SuiteVersion.State.RETIRED:
        raise AcademyError(f"{locked} is retired; publish a new version instead.")
    if locked.state == SuiteVersion.State.PUBLISHED:
        return locked
    if locked.mode != SuiteVersion.Mode.COLLECTION and not locked.tasks.exists():
        raise AcademyError(f"{locked} holds no task yet; there is nothing to publish.")
    confirming.refuse_unconfirmed(locked)
    gate: dict[str, Any] = {}
    if locked.mode == SuiteVersion.Mode.RANKED:
        lacking = keying.tasks_without_key(locked)[:10]
        if lacking:
            raise AcademyError(
                f"{locked} is ranked and has no answer key for {', '.join(lacking)}; "
                "load the keys before publishing."
            )
        passes.renew_draft(locked, reason="keys and scorers as published", by=by)
        gate = gating.pass_gate(locked, by=by).as_json()
    locked.state = SuiteVersion.State.PUBLISHED
    locked.published_at = timezone.now()
    locked.save(update_fields=["state", "published_at"])
    auditing.note("version.publish", f"version:{locked.pk}", by=by, reason=reason, gate=gate)
    work.version_changed(locked.pk)
    tasks.nudge()
    version.refresh_from_db()
    return version
