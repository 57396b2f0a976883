"""What a person may download of a run: its own form, its scores in other forms, rows of scores."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef
from django.urls import reverse

from academy import exporting, foreign, pages, piloting, registry, run_pages
from academy.models import (
    Criterion,
    Decision,
    InstanceRecord,
    Run,
    Score,
    ScoringPass,
    SuiteVersion,
)
from academy.querysets import has_role
from academy.scheduling import GATE_KINDS

# Larger runs are exported in the background, or by command, which keeps no page waiting.
MOST_RECORDS = 20_000
COLUMNS = (
    "run", "entrant", "version", "record", "task", "replicate", "variant", "record_status",
    "metric", "mode", "status", "value", "credit", "passed", "scorer", "scorer_version", "note",
    "steps", "wall_ms", "tokens_in", "tokens_out", "cost_usd",
)  # fmt: skip
FACTS_OF_ROW = (
    "replicate", "variant", "status", "steps", "wall_ms", "tokens_in", "tokens_out", "cost_micros",
)  # fmt: skip
OF_SCORE = (
    "record_id", "metric_id", "mode", "status", "value", "credit", "passed", "scorer",
    "scorer_version", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Download:
    """One link of the downloads of a run."""

    label: str
    url: str
    hint: str = ""


def is_closed(run: Run, user: Any) -> bool:
    """Whether single records of a run are closed to this person: its version is sealed."""
    version = run.version
    opened = not version.sealed or version.state == SuiteVersion.State.RETIRED
    return not opened and not has_role(user, "curator")


def is_large(run: Run) -> bool:
    """Whether a run has more records than a page exports."""
    return bool(InstanceRecord.objects.of_run(run.pk).count() > MOST_RECORDS)


def shown_records(run: Run, user: Any) -> set[int]:
    """The ids of the records of a run that this person may see one by one."""
    records = InstanceRecord.objects.visible_to(user).of_run(run.pk)
    return set(records.values_list("pk", flat=True))


def veiled_records(run: Run, user: Any) -> set[int]:
    """The records of a run whose verdicts are sealed from this person: `pages.hides_verdicts`,
    asked of all records at once."""
    if has_role(user, "curator", "auditor"):
        return set()
    criteria = Criterion.objects.filter(task=OuterRef("task"))
    judged = set(
        InstanceRecord.objects.of_run(run.pk).filter(Exists(criteria)).values_list("pk", flat=True)
    )
    first, last = run.pk << 39, (run.pk + 1) << 39
    span = {"record_id__gte": first, "record_id__lt": last}
    waiting = Score.objects.filter(
        **span,
        current=True,
        mode="strict",
        status="needs_human",
        scoring_pass__state=ScoringPass.State.PUBLISHED,
    )
    veiled = judged & set(waiting.values_list("record_id", flat=True))
    if has_role(user, "reviewer", "adjudicator"):
        # A verdict without a criterion is on a finding or an appeal, and decides nothing here.
        decisions = Decision.objects.filter(**span).exclude(criterion=None)
        own = decisions.filter(person=user)
        settled = decisions.filter(source__in=("person", "resolution"))
        seen = {*own.values_list("record_id", flat=True)}
        veiled |= judged - seen - {*settled.values_list("record_id", flat=True)}
    return veiled


def is_of_the_gate(run: Run, user: Any) -> bool:
    """Whether a run is the site's own null, shotgun or oracle and this person no curator: its
    answers are the keys, or show by their errors where these lie."""
    return run.kind in GATE_KINDS and not has_role(user, "curator")


def may_have_own_form(run: Run, user: Any) -> bool:
    """Whether the run as it came is open: all of its records, with the verdicts they came with."""
    if is_of_the_gate(run, user) or is_closed(run, user) or veiled_records(run, user):
        return False
    own = registry.format_of(run.form)
    records = InstanceRecord.objects.of_run(run.pk).count()
    return own.export_run is not None and records == len(shown_records(run, user))


def may_have_scores(run: Run, user: Any) -> bool:
    """Whether the scores of a run are open one by one, and there are some."""
    if is_of_the_gate(run, user):
        return False
    chosen = run.version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    is_scored = chosen is not None and run.summaries.filter(scoring_pass=chosen).exists()
    return is_scored and not is_closed(run, user) and not run_pages.hides_numbers(run.version, user)


def links(run: Run, user: Any) -> list[Download]:
    """The downloads that a run's page offers this person."""
    if is_large(run):
        return _background(run, user)
    listed = []
    if may_have_own_form(run, user):
        label = registry.format_of(run.form).label
        url = reverse("academy:run-own", args=[run.pk])
        listed.append(Download(f"As it came ({label})", url, "zip"))
    if may_have_scores(run, user):
        for key, fmt in registry.score_forms().items():
            url = reverse("academy:run-as", args=[run.pk, key])
            listed.append(Download(f"As {fmt.label}", url, "zip, strict scores"))
        listed.append(Download("Scores", reverse("academy:run-csv", args=[run.pk]), "CSV"))
        listed.append(Download("Scores", reverse("academy:run-json", args=[run.pk]), "JSON"))
    return listed


def _background(run: Run, user: Any) -> list[Download]:
    """The one download of a run that is too large for a page."""
    if not may_have_scores(run, user):
        return []
    address = reverse("academy:export-ask", args=["run", run.pk])
    return [Download("Scores", address, "made in the background")]


def score_rows(
    run: Run,
    user: Any,
    *,
    with_facts: bool = True,
    tasks: Collection[int] | None = None,
    span: tuple[int, int] | None = None,
) -> Iterator[dict[str, Any]]:
    """A row for each record, metric and mode, with the facts that the record carries; those lie
    in its bytes, so that very many rows come quicker without them.

    Records that this person may not see are left out, and so are sealed verdicts. `tasks` keeps
    to the tasks of these ids, `span` to the records from one id to another.
    """
    chosen = exporting.published_pass(run)
    veiled = veiled_records(run, user)
    records = (
        InstanceRecord.objects.visible_to(user)
        .of_run(run.pk)
        .select_related("task", "run")
        .order_by("pk")
    )
    if span is not None:
        records = records.filter(pk__range=span)
    if not with_facts:
        records = records.only("run_id", "task__external_id", *FACTS_OF_ROW)
    batch: list[InstanceRecord] = []
    for record in records.iterator(500):
        if tasks is None or record.task_id in tasks:
            batch.append(record)
        if len(batch) >= 500:
            yield from batch_rows(run, chosen, batch, veiled, with_facts=with_facts)
            batch.clear()
    yield from batch_rows(run, chosen, batch, veiled, with_facts=with_facts)


def batch_rows(
    run: Run,
    chosen: ScoringPass,
    records: list[InstanceRecord],
    veiled: set[int],
    *,
    with_facts: bool = True,
) -> Iterator[dict[str, Any]]:
    """The rows of some records."""
    scores: dict[int, list[Score]] = {}
    rows = Score.objects.filter(
        record_id__in=[record.pk for record in records], scoring_pass=chosen, current=True
    )
    metrics = {metric.pk: metric for metric in run.version.metrics.all()}
    for row in rows.only(*OF_SCORE).order_by("record_id", "metric__ordinal", "mode", "pk"):
        row.metric = metrics[row.metric_id]
        scores.setdefault(row.record_id, []).append(row)
    for record in records:
        facts = pages.retained_facts(pages.view_of(record)) if with_facts else {}
        for score in scores.get(record.pk, []):
            is_veiled = record.pk in veiled
            if not (is_veiled and pages.is_judged(score)):
                yield {**row_of(run, record, score, is_veiled=is_veiled), "facts": facts}


def row_of(run: Run, record: InstanceRecord, score: Score, *, is_veiled: bool) -> dict[str, Any]:
    """One score with what it is of."""
    return {
        "run": run.pk,
        "entrant": run.entrant.slug,
        "version": str(run.version),
        "record": record.pk,
        "task": record.task.external_id,
        "replicate": record.replicate,
        "variant": record.variant,
        "record_status": record.status,
        "metric": score.metric.key,
        "mode": score.mode,
        "status": score.status,
        "value": score.value,
        "credit": score.credit,
        "passed": score.passed,
        "scorer": score.scorer,
        "scorer_version": score.scorer_version,
        "note": "" if is_veiled else score.note,
        "steps": record.steps,
        "wall_ms": record.wall_ms,
        "tokens_in": record.tokens_in,
        "tokens_out": record.tokens_out,
        "cost_usd": None if record.cost_micros is None else record.cost_micros / 1e6,
    }


def as_csv(run: Run, rows: Sequence[dict[str, Any]], *, neutral: bool = True) -> str:
    """Rows as CSV, a column for each fact; text that a spreadsheet would run is neutralised. A
    pilot says what it is in every row."""
    names = list(dict.fromkeys(name for row in rows for name in row["facts"]))
    told = piloting.sentence_on(run.version)
    pilot = {"pilot": told} if told else {}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*COLUMNS, *(f"fact {name}" for name in names), *pilot])
    for row in rows:
        facts = (row["facts"].get(name) for name in names)
        cells = [*(row[name] for name in COLUMNS), *facts, *pilot.values()]
        writer.writerow([foreign.cell(cell) if neutral else cell for cell in cells])
    return text.getvalue()


def as_json(run: Run, rows: Sequence[dict[str, Any]]) -> str:
    """Rows as one JSON document, unchanged."""
    chosen = exporting.published_pass(run)
    told = {**exporting.details_of(run, chosen), "rows": rows}
    return json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False)
