"""Which records of a version go to people, by the rules of a queue, and why each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet

from academy.models import Criterion, Decision, Finding, Run, Score, ScoringPass, SuiteVersion
from academy.scorers.base import ASKS_NOBODY
from adjudication import judges, sampling
from adjudication.kinds import NewItem
from adjudication.policies import Policy, Preset, preset_of, read_policy

MODE = "strict"
WAITS = "waits for a person"
EVERYTHING = "every record is reviewed"
DIFFER = "judges differ"
FLAGGED = "has an open finding"
REASONS = frozenset({WAITS, EVERYTHING, DIFFER, FLAGGED, sampling.DRAWN})


@dataclass(frozen=True, slots=True)
class Choice:
    """The items of one kind that a version needs, and the runs whose draw must not move now."""

    items: dict[int, NewItem]
    unsettled: frozenset[int]


def published_pass(version: SuiteVersion) -> ScoringPass | None:
    """The pass whose scores count."""
    return version.passes.filter(state=ScoringPass.State.PUBLISHED).first()


def default_preset(version: SuiteVersion) -> Preset:
    """By which rules a queue goes that has none of its own: whose word counts says so."""
    chosen = published_pass(version)
    kind = "" if chosen is None else chosen.evidence.get(MODE, {}).get("kind", "")
    return preset_of("judge-audit" if kind == "judge_audited" else "one")


def policy_of(version: SuiteVersion, stored: object) -> Policy:
    """The rules of a queue: those stored with it, else those of the version's evidence policy."""
    if isinstance(stored, dict) and stored:
        return read_policy(stored)
    return default_preset(version).policy


def choose(version: SuiteVersion, policy: Policy, scales: Sequence[str]) -> Choice:
    """The records of closed runs that go to people by a policy, with reasons and probabilities."""
    if not set(scales) & scales_for_people(version):
        return Choice({}, frozenset())
    items: dict[int, NewItem] = {}
    unsettled = set()
    counting = published_pass(version)
    runs = version.runs.filter(state=Run.State.CLOSED).order_by("pk")
    for run in runs:
        rules = policy
        if is_unsettled(run):
            # The draw is from all that may be asked about, which is not known before the end.
            unsettled.add(run.pk)
            rules = replace(policy, sampling=replace(policy.sampling, share=0.0, minimum=0))
        items |= choose_of_run(run, counting, rules, scales)
    return Choice(items, frozenset(unsettled))


def is_unsettled(run: Run) -> bool:
    """Whether scores of a run are still owed, so that it is not known yet what waits."""
    return run.work.filter(kind="score", state__in=("ready", "leased", "paused")).exists()


def choose_of_run(
    run: Run, counting: ScoringPass | None, policy: Policy, scales: Sequence[str]
) -> dict[int, NewItem]:
    """The records of one run that go to people."""
    rules = policy.sampling
    waiting = waiting_of(run, counting, scales)
    is_sampled = run.kind == Run.Kind.ENTRANT
    samples = is_sampled and (rules.share or rules.minimum or rules.everything)
    sorts_out = samples or (is_sampled and (rules.differing or rules.flagged))
    unasked = unasked_of(run.pk << 39, (run.pk + 1) << 39, counting) if sorts_out else set()
    population = sorted((waiting | decided_of(run, scales)) - unasked) if samples else []
    certain: dict[str, set[int]] = {WAITS: waiting if rules.waiting else set()}
    if is_sampled and rules.everything:
        certain[EVERYTHING] = set(population)
    needs_judges = is_sampled and (rules.differing or policy.order == "agreement")
    said = judges.heard(run.pk, scales) if needs_judges else {}
    if is_sampled and rules.differing:
        differing = {pk for pk, given in said.items() if sampling.differ(given.values())}
        certain[DIFFER] = differing - unasked
    if is_sampled and rules.flagged:
        certain[FLAGGED] = flagged_of(run, scales) - unasked
    chosen = sampling.choose(
        population,
        certain=certain,
        seed=f"{rules.seed}:{run.digest}",
        share=rules.share,
        minimum=rules.minimum,
    )
    by_agreement = policy.order == "agreement"
    return {
        pk: NewItem(
            record=pk,
            because=one.because,
            probability=one.probability,
            priority=sampling.priority_of(sampling.agreement(said.get(pk, {}).values()))
            if by_agreement
            else 0,
        )
        for pk, one in chosen.items()
    }


def waiting_of(run: Run, counting: ScoringPass | None, scales: Sequence[str]) -> set[int]:
    """Records with a score that a person must give, whose tasks ask people on these scales."""
    scores = Score.objects.filter(
        record_id__gte=run.pk << 39,
        record_id__lt=(run.pk + 1) << 39,
        scoring_pass=counting,
        mode=MODE,
        current=True,
        status="needs_human",
        record__task__in=asked_tasks(run.version_id, scales),
    )
    return set(scores.values_list("record_id", flat=True))


def unasked_of(first: int, end: int, counting: ScoringPass | None) -> set[int]:
    """Records from one id to before another of which the scorer says that nobody is asked,
    whatever was said of them."""
    scores = Score.objects.filter(
        record_id__gte=first,
        record_id__lt=end,
        scoring_pass=counting,
        mode=MODE,
        current=True,
        measures__has_key=ASKS_NOBODY,
    )
    return set(scores.values_list("record_id", flat=True))


def decided_of(run: Run, scales: Sequence[str]) -> set[int]:
    """Records of which somebody has said something on these scales, so that people may too.

    A record that needs nobody and of which nobody has said anything is not asked about.
    """
    rows = Decision.objects.filter(
        record_id__gte=run.pk << 39,
        record_id__lt=(run.pk + 1) << 39,
        criterion__scale__in=scales,
        current=True,
    ).exclude(criterion__decided_by="machine")
    return {int(pk) for pk in rows.values_list("record_id", flat=True).distinct() if pk}


def flagged_of(run: Run, scales: Sequence[str]) -> set[int]:
    """Records with an open finding whose tasks ask people on these scales."""
    rows = Finding.objects.filter(
        run=run,
        record__isnull=False,
        state="open",
        record__task__in=asked_tasks(run.version_id, scales),
    )
    return {int(pk) for pk in rows.values_list("record_id", flat=True) if pk}


def asked_tasks(version_id: int, scales: Sequence[str]) -> QuerySet[Any, Any]:
    """The ids of tasks with a criterion for people on one of the scales."""
    return asked_of_people(version_id).filter(scale__in=scales).values("task")


def scales_for_people(version: SuiteVersion) -> set[str]:
    """The scales on which any criterion of a version asks people."""
    return set(asked_of_people(version.pk).values_list("scale", flat=True).distinct())


def asked_of_people(version_id: int) -> QuerySet[Criterion, Criterion]:
    """The criteria of a version that are not left to machines."""
    return Criterion.objects.filter(task__version=version_id).exclude(decided_by="machine")
