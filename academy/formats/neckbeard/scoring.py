"""A rating of a person becomes a score, and scores become distributions; dimensions never mix."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, stdev

from academy.bundle import JSON, RecordStatus, RecordView, ResultSpec, ScoredRecord, SuiteSpec
from academy.errors import ScoringError
from academy.formats.base import AggregateContext, BoardPolicy
from academy.formats.neckbeard.dimensions import DIMENSIONS, SCORER
from academy.scorers.base import Decisions, Mode, Scorer, Verdict

PARAMS = frozenset({"criterion", "low", "high", "allows_na"})
SLICED_BY = ("class", "path", "visibility")


def score(
    record: RecordView, _key: JSON, decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """The effective rating of one dimension. Not applicable is unscorable and is counted apart."""
    effective = decisions.get(str(params["criterion"]))
    if effective is None or effective.state == "waiting":
        if record.status is RecordStatus.MISSING:
            return Verdict.unscorable("nothing was submitted that could be rated")
        return Verdict.needs_human("a person must rate this")
    if effective.state == "na":
        if params["allows_na"] is True:
            return Verdict.unscorable("not applicable", {"na": 1})
        return Verdict.unscorable("this dimension always applies, so N/A is no rating of it")
    if effective.state == "struck":
        return Verdict.unscorable("the dimension was struck for this fixture", {"struck": 1})
    if effective.state != "value":
        return Verdict.unscorable(effective.reason or f"the rating is {effective.state}")
    value = effective.value
    if isinstance(value, bool) or not isinstance(value, int):
        return Verdict.unscorable("a rating is a whole number")
    if not whole(params["low"]) <= value <= whole(params["high"]):
        return Verdict.unscorable(f"{value} lies outside the scale")
    return Verdict.scored(value)


def whole(value: JSON) -> int:
    """A parameter that `check` found to be a whole number."""
    return value if isinstance(value, int) else 0


def check(_key: JSON, params: Mapping[str, JSON]) -> None:
    """Raise ScoringError when the parameters do not say all there is to say."""
    if set(params) != PARAMS:
        raise ScoringError(f"{SCORER} needs exactly the parameters {', '.join(sorted(PARAMS))}")
    if not isinstance(params["criterion"], str) or not params["criterion"]:
        raise ScoringError(f"{SCORER}: 'criterion' must name a criterion")
    low, high = params["low"], params["high"]
    if type(low) is not int or type(high) is not int or low >= high:
        raise ScoringError(f"{SCORER}: 'low' and 'high' must be whole numbers, low first")
    if not isinstance(params["allows_na"], bool):
        raise ScoringError(f"{SCORER}: 'allows_na' must be true or false")


# The original has no arithmetic of its own to differ from, so both modes are one function.
SCORERS = tuple(
    Scorer(key=SCORER, version=1, mode=mode, score=score, check=check, needs_decisions=True)
    for mode in (Mode.REFERENCE, Mode.STRICT)
)


def aggregate(scores: Sequence[ScoredRecord], context: AggregateContext) -> tuple[ResultSpec, ...]:
    """Per dimension the distribution over records and the mean over fixtures, whole and in slices.

    The spread in the details is that of the fixtures' means. There is no number over dimensions.
    """
    by_metric: dict[str, list[ScoredRecord]] = defaultdict(list)
    for one in scores:
        by_metric[one.metric].append(one)
    slices = list(slices_of(context.suite))
    return tuple(
        summed_up(dimension.key, name, only(by_metric[dimension.key], tasks))
        for name, tasks in slices
        for dimension in DIMENSIONS
    )


def slices_of(suite: SuiteSpec) -> Iterator[tuple[str, frozenset[str]]]:
    """The whole suite, then its classes, paths and visibilities, which no agent is told."""
    yield "", frozenset(task.external_id for task in suite.tasks)
    groups: dict[str, set[str]] = defaultdict(set)
    for task in suite.tasks:
        words = {**task.extra, "visibility": "holdout" if task.holdout else "public"}
        for name in SLICED_BY:
            if words.get(name):
                groups[f"{name}={words[name]}"].add(task.external_id)
    for name in sorted(groups):
        yield name, frozenset(groups[name])


def only(scores: Iterable[ScoredRecord], tasks: frozenset[str]) -> list[ScoredRecord]:
    """The scores of these tasks."""
    return [one for one in scores if one.task_id in tasks]


def summed_up(metric: str, name: str, scores: Sequence[ScoredRecord]) -> ResultSpec:
    """One dimension in one slice: replicates are averaged inside their fixture first."""
    rated: dict[str, list[float]] = defaultdict(list)
    for one in scores:
        if one.status == "scored" and one.value is not None:
            rated[one.task_id].append(one.value)
    means = [fmean(values) for values in rated.values()]
    counts = Counter(int(value) for values in rated.values() for value in values)
    na = sum(1 for one in scores if one.status == "unscorable" and one.measures.get("na"))
    unscorable = sum(1 for one in scores if one.status == "unscorable") - na
    return ResultSpec(
        metric=metric,
        slice=name,
        value=fmean(means) if means else None,
        method="mean of fixtures",
        n=len(means),
        waiting=sum(1 for one in scores if one.status == "needs_human"),
        missing=sum(1 for one in scores if one.status == ""),
        unscorable=unscorable,
        note="a distribution of ratings, not a rank; the spread is no interval",
        details={
            "distribution": {str(rating): counts[rating] for rating in range(4)},
            "ratings": sum(counts.values()),
            "not_applicable": na,
            "spread": stdev(means) if len(means) > 1 else None,
        },
    )


def board_policies(_suite: SuiteSpec) -> tuple[BoardPolicy, ...]:
    """One unranked board, dimension by arm; the order of the columns is that of the rubric."""
    first, *others = (dimension.key for dimension in DIMENSIONS)
    return (
        BoardPolicy(
            slug="ratings",
            title="Ratings by dimension and arm",
            metric=first,
            secondary=tuple(others),
            evidence="people",
            ranked=False,
            note="The rubric forbids a composite: each dimension stands alone, nothing is ranked.",
        ),
    )
