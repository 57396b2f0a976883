"""The standings of a board, computed once for page, API, command, export and badge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from academy import piloting, sealing
from academy.aggregation import ItemState
from academy.models import Run
from leaderboard import second_numbers
from leaderboard.candidates import Candidate
from leaderboard.comparison import pair_matrix
from leaderboard.digits import shown
from leaderboard.entries import Policy
from leaderboard.inputs import Inputs, entry_of, rank_policy, read_inputs
from leaderboard.models import Board
from leaderboard.ranking import Ranking, Standing, rank
from leaderboard.slicing import slice_rows
from leaderboard.spreads import rating_table
from leaderboard.usage import pareto_front
from leaderboard.vouching import judge_facts

Json = dict[str, Any]


def compute(board: Board) -> Json | None:
    """The standings of a board as plain values: what the page, the API and the command show.

    None when the board's version is not public or has nothing that could be scored. Of a sealed
    version nothing is in them that must not be public.
    """
    inputs = read_inputs(board)
    if inputs is None:
        return None
    policy = rank_policy(inputs)
    entries = [entry_of(held, _held_back(held, inputs)) for held in inputs.candidates]
    ranking = rank(entries, policy, inputs.seed_digest)
    baselines, withdrawn = (
        rank([entry_of(held) for held in group], policy, inputs.seed_digest)
        for group in (inputs.baselines, inputs.withdrawn)
    )
    beside = second_numbers.beside(inputs)
    made: Json = {
        "board": board.slug,
        "title": board.title,
        "revision": board.revision,
        **_version_json(inputs),
        "metric": _metric_json(inputs, policy),
        "policy": inputs.policy.as_json(),
        "columns": second_numbers.columns(inputs),
        **_ranking_json(inputs, ranking),
        "standings": _rows(ranking, inputs.candidates, beside, inputs, policy, ranking.digits),
        "baselines": _rows(baselines, inputs.baselines, beside, inputs, policy, ranking.digits),
        "withdrawn": _rows(withdrawn, inputs.withdrawn, beside, inputs, policy, ranking.digits),
        "slices": [] if inputs.sealed else slice_rows(inputs, policy),
        "judge": judge_facts(inputs, policy),
        "ratings": [] if _hides_all(inputs) else rating_table(inputs),
    }
    _mark_front(made, inputs, policy)
    return made


def _hides_all(inputs: Inputs) -> bool:
    """Whether a sealed version has so few tasks that no number may be said."""
    return inputs.sealed and len(inputs.tasks) < sealing.FEWEST_TASKS


def _held_back(candidate: Candidate, inputs: Inputs) -> str:
    policy = inputs.policy
    if min(run.verification for run in candidate.runs) < policy.verification:
        step = Run.Verification(policy.verification).label.lower()
        return f"This board ranks from the step “{step}” on."
    if policy.evidence == "judge_audited" and ItemState.WAITING not in candidate.codes:
        needed = min(policy.audited, len(candidate.codes))
        if candidate.audited < needed:
            return (
                f"Judged, not audited: people have checked {candidate.audited} of {needed} records."
            )
    return ""


def _version_json(inputs: Inputs) -> Json:
    newest = inputs.newest
    return {
        "suite": newest.version.suite.slug,
        "version": newest.version.name,
        "version_id": newest.version.pk,
        "version_digest": newest.version.digest,
        "pass": newest.scoring_pass.number,
        "pass_digest": newest.scoring_pass.digest,
        "versions": [
            {
                "suite": part.version.suite.slug,
                "version": part.version.name,
                "digest": part.version.digest,
                "pass": part.scoring_pass.number,
                "pass_digest": part.scoring_pass.digest,
                "n": len(part.tasks),
            }
            for part in inputs.parts
        ],
        "scorers": newest.scoring_pass.scorers,
        **_pilot_json(inputs),
        "sealed": inputs.sealed,
        "numbers_hidden": _hides_all(inputs),
    }


def _pilot_json(inputs: Inputs) -> Json:
    """What a board says of itself when one of its versions is a pilot: the newest of these."""
    found = piloting.facts_of_pilots(part.version for part in inputs.parts)
    facts = found.get(inputs.newest.version.pk) or next(iter(found.values()), None)
    return {"pilot": facts} if facts else {}


def _ranking_json(inputs: Inputs, ranking: Ranking) -> Json:
    """What holds of the whole board. Verdicts that would swap places say something of items."""
    counts_verdicts = inputs.newest.metric.kind == "pass" and (
        inputs.policy.evidence != "judge_audited"
    )
    return {
        "n": ranking.n,
        "clusters": ranking.clusters,
        "test": ranking.test,
        "rounds": ranking.rounds,
        "seed": ranking.seed,
        "digits": ranking.digits,
        "fragility": ranking.fragility if counts_verdicts and not inputs.sealed else None,
        "detectable": None if inputs.sealed else ranking.detectable,
        "notes": list(ranking.notes),
    }


def _metric_json(inputs: Inputs, policy: Policy) -> Json:
    metric = inputs.newest.metric
    return {
        "key": metric.key,
        "label": metric.label,
        "direction": metric.direction,
        "kind": metric.kind,
        "unit": "%" if policy.scale == 100 else metric.unit,
        "scale": policy.scale,
        "low": metric.low,
        "high": metric.high,
        "mode": inputs.policy.mode,
        "statistic": policy.statistic,
    }


def _rows(
    ranking: Ranking,
    candidates: Sequence[Candidate],
    beside: Mapping[int, Json],
    inputs: Inputs,
    policy: Policy,
    digits: int,
) -> list[Json]:
    by_key = {candidate.key: candidate for candidate in candidates}
    return [
        {
            **_identity(by_key[standing.key]),
            **_position(standing),
            **_numbers(standing, by_key[standing.key], beside, inputs, policy, digits),
            **_counts(standing, by_key[standing.key], beside, inputs),
        }
        for standing in ranking.standings
    ]


def _identity(candidate: Candidate) -> Json:
    run = candidate.run
    return {
        "key": candidate.key,
        "entrant": run.entrant.slug,
        "name": run.entrant.name,
        "settings": " · ".join(
            part for part in (run.entrant.harness, run.arm, run.scenario) if part
        ),
        "arm": run.arm,
        "scenario": run.scenario,
        "kind": run.kind,
        "run": run.pk,
        "runs": [held.pk for held in candidate.runs],
        "attempt": run.attempt,
        "attempts": len(candidate.attempts) + candidate.withdrawn,
        "attempts_withdrawn": candidate.withdrawn,
        "closed_at": run.closed_at.isoformat() if run.closed_at else None,
        "verification": min(held.verification for held in candidate.runs),
        "verification_label": Run.Verification(
            min(held.verification for held in candidate.runs)
        ).label,
        "weights": run.entrant.weights,
        "is_example": run.entrant.is_example,
        "withdrawn_because": run.reason if run.state == Run.State.WITHDRAWN else "",
        "run_digest": run.digest,
    }


def _position(standing: Standing) -> Json:
    return {
        "place": str(standing.place),
        "reason": standing.reason,
        "rank": standing.rank,
        "rank_low": standing.rank_low,
        "rank_high": standing.rank_high,
        "tie_group": standing.tie_group,
        "coverage": standing.coverage,
    }


def _numbers(
    standing: Standing,
    candidate: Candidate,
    beside: Mapping[int, Json],
    inputs: Inputs,
    policy: Policy,
    digits: int,
) -> Json:
    """The score and what belongs to it; coarse, or nothing at all, where the version is sealed."""
    score = standing.score
    if inputs.sealed:
        return _sealed_numbers(standing, inputs, policy)

    def text(value: float | None) -> str | None:
        return None if value is None else shown(value, digits, policy.scale)

    return {
        "score": score.point,
        "low": score.low,
        "high": score.high,
        "method": score.method,
        "shown": standing.shown,
        "shown_low": text(score.low),
        "shown_high": text(score.high),
        "note": score.note,
        "reported": standing.reported,
        "computed": standing.computed.point if standing.computed else None,
        "second": standing.second,
        "worst": standing.worst,
        "best": standing.best,
        "p_first": standing.p_first,
        "p_top3": standing.p_top3,
        "mean_of_attempts": candidate.mean_of_attempts,
        "shown_mean_of_attempts": text(candidate.mean_of_attempts),
        "metrics": beside.get(candidate.run.pk, {}).get("metrics", {}),
        "measures": beside.get(candidate.run.pk, {}).get("measures", {}),
        "scores_digest": inputs.summaries.get(candidate.run.pk, ("", {}))[0],
    }


ONLY_OPEN = (
    "reported", "computed", "second", "worst", "best", "p_first", "p_top3", "mean_of_attempts",
    "shown_mean_of_attempts",
)  # fmt: skip


def _sealed_numbers(standing: Standing, inputs: Inputs, policy: Policy) -> Json:
    score = standing.score
    found = sealing.coarse(score.point, score.low, score.high, len(inputs.tasks))
    numbers: Json = {
        **dict.fromkeys(ONLY_OPEN), "metrics": {}, "measures": {}, "scores_digest": "",
    }  # fmt: skip
    if found is None:
        hidden = dict.fromkeys(("score", "low", "high", "shown_low", "shown_high"))
        note = sealing.NO_INTERVAL if len(inputs.tasks) >= sealing.FEWEST_TASKS else ""
        return {**numbers, **hidden, "shown": "", "method": "", "note": note}
    decimals = max(0, found.decimals - len(str(policy.scale)) + 1)
    return {
        **numbers,
        "score": found.value,
        "low": found.low,
        "high": found.high,
        "method": score.method,
        "shown": shown(found.value, decimals, policy.scale),
        "shown_low": shown(found.low, decimals, policy.scale),
        "shown_high": shown(found.high, decimals, policy.scale),
        "note": "Sealed: rounded to the first digit of the interval.",
    }


def _counts(
    standing: Standing, candidate: Candidate, beside: Mapping[int, Json], inputs: Inputs
) -> Json:
    extra = beside.get(candidate.run.pk, {})
    return {
        "n": standing.n,
        "scored": standing.scored,
        "missing": standing.missing,
        "failed": standing.failed,
        "waiting": standing.waiting,
        "unscorable": standing.unscorable,
        "audited": candidate.audited,
        "details": public_details(extra.get("details", {})),
        "usage": dict(inputs.summaries.get(candidate.run.pk, ("", {}))[1]),
    }


PUBLIC_DETAILS = ("tier", "passed", "beats_baseline")


def public_details(details: Mapping[str, Any]) -> Json:
    """The details of a result that any reader may see beside it."""
    return {name: details[name] for name in PUBLIC_DETAILS if name in details}


def _mark_front(made: Json, inputs: Inputs, policy: Policy) -> None:
    """Say of each row with a known cost whether it is on the front of cost against score.

    Only entries with a value for every item can be compared with all others; of a sealed version
    nothing is drawn that is finer than its numbers.
    """
    costs = {row["key"]: _median_cost(row) for row in made["standings"] if row["rank"]}
    known = [key for key, cost in costs.items() if cost is not None]
    for row in made["standings"]:
        row["front"] = None
    if len(known) < 2 or inputs.sealed or policy.origin == "reported":
        return
    entries = [entry_of(held) for held in inputs.candidates if held.key in known]
    matrix = pair_matrix(entries, policy, inputs.seed_digest)
    sign = 1.0 if policy.direction == "up" else -1.0
    separable = (matrix.adjusted < 1 - policy.confidence) & (sign * matrix.difference > 0)
    front = pareto_front([costs[key] for key in matrix.keys], separable.tolist())
    on_front = dict(zip(matrix.keys, front, strict=True))
    for row in made["standings"]:
        row["front"] = on_front.get(row["key"])


def _median_cost(row: Json) -> float | None:
    cost: float | None = row["usage"].get("cost_micros", {}).get("median")
    return cost
