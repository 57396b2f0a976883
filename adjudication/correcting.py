"""What corrects an upheld appeal is named: the pass with the new key, or the new version.

A curator names it once it is there, and another while nothing is settled by it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from academy import auditing, carrying, passes
from academy.errors import AcademyError
from academy.models import InstanceRecord, Run, ScoringPass, SuiteVersion, Task
from adjudication import appealing
from adjudication.models import Appeal

KEY, VERSION = Appeal.Consequence.KEY, Appeal.Consequence.VERSION
LONGEST_REASON = 2_000


def waits_for_key(appeal: Appeal) -> bool:
    """Whether an appeal was upheld and stays open until the new answer key is named."""
    return appeal.state == Appeal.State.OPEN and appeal.consequence == KEY


def waits_for_version(appeal: Appeal) -> bool:
    """Whether an appeal was upheld and stays open until the version that corrects it is named."""
    return appeal.state == Appeal.State.OPEN and appeal.consequence == VERSION


def is_named(appeal: Appeal, consequence: str) -> bool:
    """Whether an appeal was closed by naming what corrects it, a pass or a version."""
    return appeal.state == Appeal.State.UPHELD and appeal.consequence == consequence


def is_settled(appeal: Appeal) -> bool:
    """Whether what was named stands for good: the pass counted, or the run is judged again."""
    if appeal.consequence == KEY:
        return appeal.scoring_pass is not None and appeal.scoring_pass.published_at is not None
    return carried(appeal) is not None


def other_versions(record: InstanceRecord) -> QuerySet[SuiteVersion]:
    """The versions of the suite that may correct what a record was asked, the newest first."""
    version = record.run.version
    others = version.suite.versions.exclude(pk=version.pk)
    found: QuerySet[SuiteVersion] = others.exclude(state=SuiteVersion.State.RETIRED)
    return found.select_related("suite").order_by("-pk")


@transaction.atomic
def name_pass(appeal: Appeal, number: int, *, by: Any, reason: str = "") -> ScoringPass:
    """Close an appeal that was upheld for a wrong key, by the pass that uses the new key.

    With a reason another pass is named while the one before was never published. Raises
    AcademyError when the appeal waits for none, or when the pass uses the key that was in use when
    the appeal was opened.
    """
    locked = _locked(appeal)
    record = _contested(locked, KEY, "This appeal waits for no answer key.")
    version, task = record.run.version, record.task
    chosen = passes.find_pass(version, number)
    before = pass_at(version, locked.opened_at)
    old = before.key_revisions.get(str(task.pk)) if before is not None else None
    new = chosen.key_revisions.get(str(task.pk))
    if new is None or (old is not None and new <= old):
        told = "no key" if new is None else f"revision {new}"
        raise AcademyError(
            f"Pass {chosen.number} uses {told} of this task, and revision {old or 'none'} was in "
            "use when the appeal was opened. Load the new key first; that stages a pass."
        )
    _name(locked, {"scoring_pass": chosen}, by=by, reason=reason)
    appeal.refresh_from_db()
    return chosen


@transaction.atomic
def name_version(appeal: Appeal, pk: int, *, by: Any, reason: str = "") -> SuiteVersion:
    """Close an appeal that was upheld for a wrong version, by the version or draft with it right.

    With a reason another version is named while the run is not judged again under the one before.
    Raises AcademyError when the appeal waits for none, for a version of another suite or a retired
    one, and for one that asks the task just as before.
    """
    locked = _locked(appeal)
    record = _contested(locked, VERSION, "This appeal waits for no new version.")
    chosen = other_versions(record).filter(pk=pk).first()
    if chosen is None:
        raise AcademyError("Choose another version of the same suite that is not retired.")
    if asks_the_same(record, chosen):
        raise AcademyError(
            f"{chosen} asks task {record.task.external_id} just as {record.run.version} does. "
            "Name the version in which task, limits or thresholds are corrected."
        )
    _name(locked, {"version": chosen}, by=by, reason=reason)
    appeal.refresh_from_db()
    return chosen


def _locked(appeal: Appeal) -> Appeal:
    found: Appeal = Appeal.objects.select_for_update(of=("self",)).get(pk=appeal.pk)
    return found


def _contested(locked: Appeal, consequence: str, refusal: str) -> InstanceRecord:
    waits = locked.state == Appeal.State.OPEN and locked.consequence == consequence
    if locked.record is None or not (waits or is_named(locked, consequence)):
        raise AcademyError(refusal)
    if not waits and is_settled(locked):
        if consequence == KEY:
            raise AcademyError("The pass that was named is published, so it stands.")
        raise AcademyError("The run is judged again under the version that was named: it stands.")
    found: InstanceRecord = locked.record
    return found


def _name(locked: Appeal, named: dict[str, Any], *, by: Any, reason: str) -> None:
    if locked.state == Appeal.State.OPEN:
        appealing.close(
            locked,
            Appeal.State.UPHELD,
            reason=locked.outcome_reason,
            by=by,
            consequence=locked.consequence,
            **named,
        )
        return
    ((field, chosen),) = named.items()
    before = getattr(locked, field)
    if chosen == before:
        raise AcademyError("This is what is named already.")
    why = reason.strip()
    if not why:
        raise AcademyError("Say why another is named; the reason is public.")
    if len(why) > LONGEST_REASON:
        raise AcademyError(
            f"The reason has {len(why):,} characters; at most {LONGEST_REASON:,} are kept."
        )
    setattr(locked, field, chosen)
    locked.renamed_because, locked.renamed_at = why, timezone.now()
    locked.save(update_fields=[field, "renamed_because", "renamed_at"])
    auditing.note(
        "appeal.rename",
        f"appeal:{locked.pk}",
        by=by,
        reason=why,
        before="" if before is None else str(before),
        after=str(chosen),
    )


def asks_the_same(record: InstanceRecord, version: SuiteVersion) -> bool:
    """Whether a version has a record's task unchanged, with its grading, limits and thresholds."""
    old, task = record.run.version, record.task
    twin = version.tasks.filter(external_id=task.external_id).first()
    if twin is None or (old.thresholds, task.gradings) != (version.thresholds, twin.gradings):
        return False
    return carrying.condition(task, old) == carrying.condition(twin, version) and criteria_of(
        task
    ) == criteria_of(twin)


def criteria_of(task: Task) -> list[tuple[str, str, float]]:
    """The criteria of a task by what they ask and weigh."""
    return list(task.criteria.order_by("key").values_list("key", "digest", "weight"))


def carried(appeal: Appeal) -> Run | None:
    """The contested run as it is judged under the version that corrects it, once it was carried."""
    if appeal.version is None or appeal.record is None:
        return None
    found: Run | None = Run.objects.filter(
        carried_from=appeal.record.run_id, version=appeal.version, state=Run.State.CLOSED
    ).first()
    return found


def pass_at(version: SuiteVersion, at: datetime) -> ScoringPass | None:
    """The pass whose numbers were shown at a time."""
    found: ScoringPass | None = (
        version.passes.filter(published_at__lte=at).order_by("-published_at", "-pk").first()
    )
    return found
