"""What stands for one criterion of one record: its decisions seen under an evidence policy.

Nothing here knows rows or clocks. The order in which decisions are given never matters; `order`
says which of two decisions of one author came later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from academy.bundle import JSON
from academy.scorers.base import EffectiveValue

PEOPLE = frozenset({"person", "resolution"})


class Evidence(StrEnum):
    """Whose word counts on a board."""

    PEOPLE = "people"
    JUDGE = "judge"
    JUDGE_AUDITED = "judge_audited"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePolicy:
    """Whose word counts: people, one judge, or what the original counts.

    `judge` and `version` name the judge; an empty part matches any, and then there may be only
    one judge: with several, nothing counts until the policy names one.
    """

    kind: Evidence
    judge: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision as plain values. `author` is the judge's name, or the person's identity.

    `order` grows with the time of making; `counts` is false for verdicts kept beside the count.
    """

    source: str
    state: str = "value"
    value: JSON = None
    author: str = ""
    version: str = ""
    digest: str = ""
    order: int = 0
    superseded: bool = False
    counts: bool = True
    reason: str = ""


def effective(
    decisions: Iterable[Decided], policy: EvidencePolicy, *, struck: bool = False
) -> EffectiveValue:
    """The value that stands, or why there is none (see `EffectiveValue`).

    A struck criterion counts for nobody, except under `reference`: the original knows no striking.
    """
    if struck and policy.kind != Evidence.REFERENCE:
        return EffectiveValue(state="struck", reason="the criterion was struck as defective")
    live = sorted(
        (
            decision
            for decision in decisions
            if decision.counts and not decision.superseded and decision.state != "withdrawn"
        ),
        key=_place,
    )
    return RULES[policy.kind](live, policy)


def _place(decision: Decided) -> tuple[int, str]:
    """Later decisions last; equal times in an order that does not depend on arrival."""
    content = json.dumps(decision.value, sort_keys=True, default=str)
    return decision.order, "\0".join(
        (
            decision.source,
            decision.author,
            decision.version,
            decision.digest,
            decision.state,
            content,
            decision.reason,
        )
    )


def by_people(live: Sequence[Decided], _policy: EvidencePolicy) -> EffectiveValue:
    """A resolution, else what all persons agree on. Judges are no persons."""
    resolutions = [decision for decision in live if decision.source == "resolution"]
    if resolutions:
        return _said(resolutions[-1])
    persons = {decision.author: decision for decision in live if decision.source == "person"}
    if not persons:
        return EffectiveValue(state="waiting", reason="no person has decided")
    given = list(persons.values())
    if len({_verdict(decision) for decision in given}) > 1:
        return EffectiveValue(state="waiting", source="person", reason="persons differ")
    return _said(given[-1])


def by_judge(live: Sequence[Decided], policy: EvidencePolicy) -> EffectiveValue:
    """The judge that the policy names, or the only one; without a judge, what a machine checked."""
    judged = [
        decision
        for decision in live
        if decision.source == "judge"
        and policy.judge in ("", decision.author)
        and policy.version in ("", decision.version)
    ]
    judges = {(decision.author, decision.version, decision.digest) for decision in judged}
    if len(judges) > 1 and not (policy.judge and policy.version):
        return EffectiveValue(
            state="waiting", source="judge", reason="several judges; the policy must name one"
        )
    if not judged:
        judged = [decision for decision in live if decision.source == "machine"]
    if not judged:
        return EffectiveValue(state="waiting", reason="the judge has not decided")
    last = judged[-1]
    if last.state == "defective":
        return _unknowable(last, "the judge calls the criterion defective")
    return _said(last)


def by_audited_judge(live: Sequence[Decided], policy: EvidencePolicy) -> EffectiveValue:
    """The judge; people only where the judge gives no value.

    Sampled verdicts of people correct the estimate of the whole, never a single value.
    """
    judged = by_judge(live, policy)
    if judged.state in ("value", "na"):
        return judged
    people = by_people(live, policy)
    return people if people.source else judged


def by_reference(live: Sequence[Decided], policy: EvidencePolicy) -> EffectiveValue:
    """The judge alone, as the original does; people where no judge was asked."""
    judged = by_judge(live, policy)
    if judged.source:
        return judged
    people = by_people(live, policy)
    return people if people.source else judged


RULES: dict[Evidence, Callable[[Sequence[Decided], EvidencePolicy], EffectiveValue]] = {
    Evidence.PEOPLE: by_people,
    Evidence.JUDGE: by_judge,
    Evidence.JUDGE_AUDITED: by_audited_judge,
    Evidence.REFERENCE: by_reference,
}


def _verdict(decision: Decided) -> tuple[str, str]:
    """What two persons must have in common to agree."""
    if decision.state != "value":
        return decision.state, ""
    return "value", json.dumps(decision.value, sort_keys=True, default=str)


def _said(decision: Decided) -> EffectiveValue:
    """One decision that stands, read as a value or as the lack of one."""
    if decision.state in ("value", "na"):
        return EffectiveValue(
            state=decision.state,
            value=decision.value if decision.state == "value" else None,
            raw_state=decision.state,
            source=decision.source,
            reason=decision.reason,
        )
    if decision.state == "defective":
        return EffectiveValue(
            state="waiting",
            raw_state="defective",
            source=decision.source,
            reason=decision.reason or "called defective; the criterion itself is to be decided",
        )
    return _unknowable(decision, "cannot be told from the evidence")


def _unknowable(decision: Decided, reason: str) -> EffectiveValue:
    return EffectiveValue(
        state="unknowable",
        raw_state=decision.state,
        source=decision.source,
        reason=decision.reason or reason,
    )
