"""Verdicts and findings become rows; what is stored already stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from academy.bundle import FindingSpec
from academy.fitting import storable
from academy.models import Finding, Metric, Run, Score, ScoringPass
from academy.scorers.base import Mode, Verdict

AGAINST_THE_FIELD = ("far-longer", "near-reference")


@dataclass(frozen=True, slots=True)
class Scored:
    """One verdict on its way to a row."""

    record_id: int
    metric: Metric
    mode: Mode
    scorer: str
    scorer_version: int
    verdict: Verdict


def store_scores(chosen: ScoringPass, scored: Sequence[Scored]) -> int:
    """Store verdicts as current scores; what is already so stays as it is. Gives how many moved."""
    known = {
        (row.record_id, row.metric_id, row.mode): row
        for row in Score.objects.filter(
            record_id__in={item.record_id for item in scored}, scoring_pass=chosen, current=True
        )
    }
    outdated: list[int] = []
    fresh: list[Score] = []
    for item in scored:
        row = known.get((item.record_id, item.metric.pk, str(item.mode)))
        made = as_row(item, chosen, revision=row.revision + 1 if row else 1)
        if row is not None and is_same(row, made):
            continue
        if row is not None:
            outdated.append(row.pk)
        fresh.append(made)
    Score.objects.filter(pk__in=outdated).update(current=False)
    Score.objects.bulk_create(fresh, batch_size=2000)
    return len(fresh)


def as_row(item: Scored, chosen: ScoringPass, *, revision: int) -> Score:
    """A verdict as a row that is not stored yet."""
    verdict = item.verdict
    return Score(
        record_id=item.record_id,
        metric=item.metric,
        mode=str(item.mode),
        scoring_pass=chosen,
        revision=revision,
        scorer=item.scorer,
        scorer_version=item.scorer_version,
        status=str(verdict.status),
        value=verdict.value,
        credit=verdict.credit,
        passed=verdict.passed,
        measures=plain(verdict.measures),
        note=storable(verdict.note)[:500],
    )


def plain(value: Any) -> Any:
    """A JSON value of lists and dicts. Answers may hold characters that the database does not."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


SAME = ("scorer", "scorer_version", "status", "value", "credit", "passed", "measures")


def is_same(row: Score, made: Score) -> bool:
    """Whether a new verdict says what the stored one says; error ids in notes do not count."""
    return all(getattr(row, name) == getattr(made, name) for name in SAME)


def store_findings(
    run: Run, record_ids: Sequence[int], findings: Sequence[tuple[int, FindingSpec]]
) -> None:
    """Keep the findings of some records; open ones that are raised no more go."""
    raised = {
        (record_id, finding.code, storable(finding.sentence)) for record_id, finding in findings
    }
    held = run.findings.filter(record_id__in=record_ids, state="open")
    for row in held.exclude(code__in=AGAINST_THE_FIELD):
        if (row.record_id, row.code, row.sentence) not in raised:
            row.delete()
    Finding.objects.bulk_create(
        [finding_row(run, record_id, finding) for record_id, finding in findings],
        ignore_conflicts=True,
    )


def finding_row(run: Run, record_id: int | None, finding: FindingSpec) -> Finding:
    """A finding as a row that is not stored yet."""
    return Finding(
        run=run,
        record_id=record_id,
        code=finding.code,
        sentence=storable(finding.sentence),
        severity=finding.severity,
        steps=list(finding.steps),
        evidence=plain(finding.evidence),
    )
