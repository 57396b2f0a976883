"""Scoring passes: which scorers and key revisions made the numbers of a version.

A pass is staged, scored in the background beside the published one, compared with it, and
published in one transaction. Going back is a new pass too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from academy import auditing, confirming, gating, registry, specs, striking, tasks, work
from academy.commitments import pass_digest
from academy.errors import AcademyError
from academy.models import (
    AnswerKey,
    Criterion,
    Run,
    ScoringPass,
    SuiteVersion,
    Summary,
    Work,
)
from academy.scorers.base import Mode

STAGED = ScoringPass.State.STAGED
PUBLISHED = ScoringPass.State.PUBLISHED
RETIRED = ScoringPass.State.RETIRED


def scorer_versions(version: SuiteVersion) -> dict[str, int]:
    """The versions of the installed scorers that the version's gradings ask for."""
    named = {
        grading["scorer"]
        for gradings in version.tasks.values_list("gradings", flat=True)
        for grading in gradings
    }
    return {
        f"{key}/{mode}": scorer.version
        for key in sorted(named)
        for mode in Mode
        if (scorer := registry.scorer_of(key, mode))
    }


def evidence_of(version: SuiteVersion) -> dict[str, Any]:
    """Whose word counts in each mode: the version's own choice, else what its format proposes."""
    chosen = version.attributes.get("evidence")
    if isinstance(chosen, dict):
        return chosen
    proposals = registry.format_of(version.suite.format).board_policies(specs.suite_spec(version))
    found = {"reference": {"kind": "reference"}, "strict": {"kind": "people"}}
    for proposal in proposals:
        if proposal.mode is Mode.STRICT:
            found["strict"] = {"kind": proposal.evidence}
    return found


def open_first_pass(version: SuiteVersion) -> ScoringPass:
    """The pass in which a new version is scored from the start."""
    made = _made(version, specs.latest_keys(version), (), reason="first pass")
    made.state, made.published_at = PUBLISHED, timezone.now()
    made.save()
    return made


def _made(
    version: SuiteVersion,
    keys: Mapping[int, AnswerKey],
    struck: Sequence[int],
    *,
    reason: str,
) -> ScoringPass:
    """A pass with the installed scorers, not stored yet."""
    scorers, evidence = scorer_versions(version), evidence_of(version)
    newest = version.passes.aggregate(number=Max("number"))["number"] or 0
    return ScoringPass(
        version=version,
        number=newest + 1,
        scorers=scorers,
        key_revisions={str(task_id): key.revision for task_id, key in sorted(keys.items())},
        struck=sorted(struck),
        evidence=evidence,
        digest=pass_digest(
            version=version.digest,
            scorers=scorers,
            evidence=evidence,
            commitments=[key.commitment for key in keys.values()],
            struck=Criterion.objects.filter(pk__in=struck).values_list("digest", flat=True),
        ),
        reason=reason[:500],
    )


def published_pass(version: SuiteVersion) -> ScoringPass:
    """The pass whose numbers are shown."""
    return version.passes.get(state=PUBLISHED)


def staged_pass(version: SuiteVersion) -> ScoringPass | None:
    """The pass that waits to be published, if there is one."""
    found: ScoringPass | None = version.passes.filter(state=STAGED).order_by("-number").first()
    return found


def find_pass(version: SuiteVersion, number: int) -> ScoringPass:
    """A pass by its number. Raises AcademyError that lists the known ones."""
    found: ScoringPass | None = version.passes.filter(number=number).first()
    if found is not None:
        return found
    known = ", ".join(
        str(n) for n in version.passes.order_by("number").values_list("number", flat=True)
    )
    raise AcademyError(f"{version} has no pass {number}; known are {known}.")


def readable_by(version: SuiteVersion, *, curates: bool) -> QuerySet[ScoringPass]:
    """The passes that somebody may read: all for curators, else those that were published."""
    found = version.passes.order_by("-number")
    return found if curates else found.filter(published_at__isnull=False)


@work.owing()
def stage(
    version: SuiteVersion,
    *,
    reason: str,
    by: Any = None,
    strike: Iterable[int] = (),
    like: ScoringPass | None = None,
) -> ScoringPass:
    """Stage a pass with the installed scorers and newest keys, and owe the scoring of all runs.

    `strike` names criteria that two people called defective; criteria struck before stay struck.
    `like` goes back to the keys and struck criteria of an earlier pass. A pass that was staged
    before and not published is retired in favour of this one. Raises AcademyError when nothing
    would differ from the published pass.
    """
    if not reason.strip():
        raise AcademyError("A pass needs a reason.")
    locked = (
        SuiteVersion.objects.select_for_update(of=("self",))
        .select_related("suite")
        .get(pk=version.pk)
    )
    waiting, current = staged_pass(locked), published_pass(locked)
    base = like or waiting or current
    struck = {*base.struck, *striking.checked_strikes(locked, strike)}
    keys = specs.keys_in(like) if like else specs.latest_keys(locked)
    made = _made(locked, keys, sorted(struck), reason=reason)
    if made.digest == current.digest:
        raise AcademyError(
            f"Nothing differs from pass {current.number} of {locked}: the same scorers, keys and "
            "criteria give the same scores."
        )
    if waiting is not None and waiting.digest == made.digest:
        return waiting
    if waiting is not None:
        locked.passes.filter(pk=waiting.pk).update(state=RETIRED)
    made.save()
    owe_scoring(made)
    auditing.note("pass.stage", f"pass:{made.pk}", by=by, reason=reason, digest=made.digest)
    if waiting is not None:
        work.drop(Work.objects.filter(_work_of(waiting), state__in=("ready", "paused")))
    return made


@work.owing()
def renew_draft(version: SuiteVersion, *, reason: str, by: Any = None) -> ScoringPass:
    """A draft has no numbers that anybody relied on: its pass follows keys and scorers at once."""
    locked = (
        SuiteVersion.objects.select_for_update(of=("self",))
        .select_related("suite")
        .get(pk=version.pk)
    )
    if locked.state != SuiteVersion.State.DRAFT:
        raise AcademyError(f"{locked} is no draft; stage a pass instead.")
    current = published_pass(locked)
    made = _made(locked, specs.latest_keys(locked), current.struck, reason=reason)
    if made.digest == current.digest:
        return current
    locked.passes.filter(pk=current.pk).update(state=RETIRED)
    made.state, made.published_at = PUBLISHED, timezone.now()
    made.save()
    owe_scoring(made)
    auditing.note("pass.renew", f"pass:{made.pk}", by=by, reason=reason, digest=made.digest)
    return made


def owe_scoring(chosen: ScoringPass) -> None:
    """Owe that the scoring of every closed run of the version in a pass is owed."""
    work.enqueue("schedule", key=f"schedule:{chosen.pk}", payload={"pass": chosen.pk}, priority=3)
    tasks.nudge()


@work.owing()
def publish(chosen: ScoringPass, *, reason: str, by: Any = None) -> ScoringPass:
    """Publish a staged pass and retire the published one; boards and pages follow.

    Raises AcademyError while runs wait to be scored in it, or when scoring them failed.
    """
    if not reason.strip():
        raise AcademyError("Publishing a pass needs a reason.")
    versions = SuiteVersion.objects.select_for_update(of=("self",)).select_related("suite")
    version = versions.get(pk=chosen.version_id)
    # Both passes before the runs of the gate, as whoever stores scores locks them.
    live = version.passes.select_for_update(no_key=True).exclude(state=RETIRED)
    locked = {row.pk: row for row in live.order_by("pk")}
    staged: ScoringPass = locked.get(chosen.pk) or version.passes.get(pk=chosen.pk)
    if staged.state == PUBLISHED:
        return staged
    if staged.state == RETIRED:
        raise AcademyError(
            f"Pass {staged.number} is retired; going back is a new pass, staged like it."
        )
    refuse_unfinished(staged)
    confirming.refuse_unconfirmed(version, scoring_pass=staged)
    gating.pass_gate(version, by=by, scoring_pass=staged)
    now = timezone.now()
    before = published_pass(version)
    version.passes.filter(pk=before.pk).update(state=RETIRED)
    version.passes.filter(pk=staged.pk).update(state=PUBLISHED, published_at=now)
    auditing.note(
        "pass.publish",
        f"pass:{staged.pk}",
        by=by,
        reason=reason,
        digest=staged.digest,
        retired=before.number,
    )
    work.version_changed(version.pk)
    tasks.nudge()
    chosen.refresh_from_db()
    return chosen


def refuse_unfinished(staged: ScoringPass) -> None:
    """Raise AcademyError while a pass has not scored every closed run of its version."""
    told = progress(staged)
    if told["failed"]:
        raise AcademyError(
            f"Pass {staged.number} cannot be published: {told['failed']} units of its scoring "
            f"failed, the first with: {told['errors'][0]['error']}"
        )
    if told["owed"] or told["paused"]:
        raise AcademyError(
            f"Pass {staged.number} cannot be published yet: {told['owed'] + told['paused']} "
            f"units of its scoring are owed, {told['paused']} of them paused."
        )
    lacking = runs_lacking(staged)
    if lacking:
        raise AcademyError(
            f"Pass {staged.number} cannot be published yet: runs "
            f"{', '.join(str(pk) for pk in lacking[:10])} are not scored in it. "
            "Score them again in this pass."
        )


def runs_lacking(chosen: ScoringPass) -> list[int]:
    """Closed runs of the version without results in a pass."""
    done = Summary.objects.filter(scoring_pass=chosen).values("run")
    closed = Run.objects.filter(version=chosen.version_id, state=Run.State.CLOSED)
    return list(closed.exclude(pk__in=done).order_by("pk").values_list("pk", flat=True))


def _work_of(chosen: ScoringPass) -> Q:
    """The work of a pass, by its keys, which are indexed by their beginning."""
    pk = chosen.pk
    return (
        Q(key__startswith=f"score:{pk}:")
        | Q(key__startswith=f"aggregate:{pk}:")
        | Q(key=f"schedule:{pk}")
    )


def progress(chosen: ScoringPass) -> dict[str, Any]:
    """Units of scoring of a pass: done of all, owed, paused, failed with the first errors."""
    rows = Work.objects.filter(_work_of(chosen))
    counts: dict[str, Any] = rows.aggregate(
        units=Count("pk"),
        done=Count("pk", filter=Q(state="done")),
        owed=Count("pk", filter=Q(state__in=("ready", "leased"))),
        paused=Count("pk", filter=Q(state="paused")),
        failed=Count("pk", filter=Q(state="failed")),
    )
    errors = rows.filter(state="failed").order_by("pk").values("key", "error", "error_id")[:5]
    ahead = work.units_ahead(rows) if counts["owed"] else 0
    return {**counts, "ahead": ahead, "errors": list(errors)}


def pause(chosen: ScoringPass, *, by: Any = None, reason: str = "paused") -> int:
    """Stop the scoring of a pass after the units that are being done; gives how many wait."""
    rows = Work.objects.filter(_work_of(chosen), state="ready")
    moved = len(work.move(rows, "paused"))
    auditing.note("pass.pause", f"pass:{chosen.pk}", by=by, reason=reason, units=moved)
    return moved


def resume(chosen: ScoringPass, *, by: Any = None, reason: str = "resumed") -> int:
    """Go on with the scoring of a pass; gives how many units are ready again."""
    rows = Work.objects.filter(_work_of(chosen), state="paused")
    moved = len(work.move(rows, "ready"))
    auditing.note("pass.resume", f"pass:{chosen.pk}", by=by, reason=reason, units=moved)
    tasks.nudge()
    return moved


def is_outdated(chosen: ScoringPass, installed: Mapping[str, int]) -> bool:
    """Whether a scorer of the pass is installed in another version by now."""
    return any(installed.get(name, held) != held for name, held in chosen.scorers.items())


def stage_release(_payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "release": a staged pass for each public version that the release touches."""
    public = SuiteVersion.objects.exclude(state=SuiteVersion.State.DRAFT)
    behind = []
    for version in public.select_related("suite").order_by("pk"):
        installed = scorer_versions(version)
        newest = staged_pass(version) or version.passes.filter(state=PUBLISHED).first()
        if newest is not None and is_outdated(newest, installed):
            behind.append((version, newest, installed))

    def write() -> None:
        for version, newest, installed in behind:
            told = ", ".join(
                f"{name} {held} to {installed[name]}"
                for name, held in newest.scorers.items()
                if installed.get(name, held) != held
            )
            stage(version, reason=f"scorers were released: {told}")

    return write
