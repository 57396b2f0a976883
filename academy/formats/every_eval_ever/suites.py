"""Builds the suites of an upload: one open collection for each data set and split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from academy.bundle import JSON, Grading, MetricSpec, SuiteSpec, TaskSpec
from academy.errors import Problems
from academy.formats.every_eval_ever.documents import Document
from academy.formats.every_eval_ever.metrics import DataSet
from academy.formats.every_eval_ever.rows import Group, sample_of
from academy.formats.every_eval_ever.values import as_map, as_text, shown, texts_of

FORMAT_KEY = "every_eval_ever"
VERSION = "open"
# Members of a row's metadata that say something of the sample; the others tell of the execution.
SLICES = ("subject", "category", "difficulty", "level", "language", "domain", "topic")
TITLE_LENGTH = 120


@dataclass(slots=True)
class Draft:
    """A suite while its documents are read."""

    data_set: DataSet
    repository: str = ""
    metrics: dict[str, MetricSpec] = field(default_factory=dict)
    scored: set[str] = field(default_factory=set)
    tasks: dict[str, TaskSpec] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)


def params_of(metric: MetricSpec) -> dict[str, JSON]:
    """The explicit parameters by which a reported value of a metric is taken."""
    best = metric.low if metric.direction.value == "down" else metric.high
    return {
        "metric": metric.key,
        "lower_is_better": metric.direction.value == "down",
        "low": metric.low,
        "high": metric.high,
        "pass_mark": best if metric.kind.value == "pass" else None,
    }


def task_of(group: Group, path: str) -> TaskSpec:
    """The task that a row speaks of: nothing but the sample's id, what was asked and expected.

    All else that a row tells differs with the tool that wrote it, and a task of an open collection
    must be the same whoever brings it first; it is kept as provenance.
    """
    row = group.rows[0].value
    sample, raw, reference = sample_of(row)
    extra: dict[str, JSON] = {"sample_id": sample}
    choices = texts_of(as_map(row.get("input")).get("choices"))
    metadata = as_map(row.get("metadata"))
    slices = {
        name: shown(as_text(metadata[name])) for name in SLICES if as_text(metadata.get(name))
    }
    if choices:
        extra["choices"] = [shown(choice) for choice in choices]
    if slices:
        extra["slices"] = slices
    return TaskSpec(
        external_id=group.key.task,
        title=sample[:TITLE_LENGTH],
        prompt=shown(raw),
        key={"reference": [shown(text) for text in reference]},
        extra=extra,
        source=f"{path}:{group.rows[0].number}",
    )


class Collector:
    """Takes documents and their rows, and gives the suites."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.drafts: dict[str, Draft] = {}

    def add(self, document: Document) -> None:
        """Take over data sets and metrics of an aggregate."""
        results = document.record["evaluation_results"]
        for result in document.results:
            slug = result.data_set.slug
            draft = self.drafts.setdefault(slug, Draft(result.data_set))
            source = as_map(results[result.index].get("source_data"))
            draft.repository = draft.repository or as_text(source.get("hf_repo"))
            if document.path not in draft.sources:
                draft.sources.append(document.path)
            known = draft.metrics.setdefault(result.metric.key, result.metric)
            self.compare(known, result.metric, document.path, result.index)

    def compare(self, known: MetricSpec, metric: MetricSpec, path: str, index: int) -> None:
        """Two results of one metric must agree in what is better; bounds that differ are told."""
        place = f"/evaluation_results/{index}/metric_config"
        if known.direction is not metric.direction:
            message = f"another result says of {metric.key!r} that the other way is better"
            self.problems.error(path, "metric-direction", message, pointer=place)
        elif (known.low, known.high) != (metric.low, metric.high):
            message = f"another result gives {metric.key!r} other bounds; the first ones count"
            self.problems.warn(path, "metric-bounds", message, pointer=place)

    def take(self, group: Group, path: str) -> None:
        """Take over the task of an execution, and which metrics have rows."""
        data_set = group.rows[0].joined.data_set
        if data_set is None:
            return
        draft = self.drafts[data_set.slug]
        for row in group.rows:
            if row.joined.result is not None:
                draft.scored.add(row.joined.result.metric.key)
        if path not in draft.sources:
            draft.sources.append(path)
        if group.key.task not in draft.tasks:
            draft.tasks[group.key.task] = task_of(group, path)

    def suites(self) -> tuple[SuiteSpec, ...]:
        """The suites in order of their slugs."""
        return tuple(self.suite(slug, self.drafts[slug]) for slug in sorted(self.drafts))

    @staticmethod
    def suite(slug: str, draft: Draft) -> SuiteSpec:
        """One suite; every task is graded by every metric that has rows."""
        gradings = tuple(
            Grading(metric=key, scorer="reported", params=params_of(draft.metrics[key]))
            for key in sorted(draft.scored)
        )
        attributes: Mapping[str, JSON] = {
            "data_set": draft.data_set.name,
            "split": draft.data_set.split,
            "hf_repo": draft.repository,
        }
        return SuiteSpec(
            slug=slug,
            title=draft.data_set.title[:300],
            format=FORMAT_KEY,
            version=VERSION,
            mode="collection",
            tasks=tuple(replace(task, gradings=gradings) for task in draft.tasks.values()),
            metrics=tuple(draft.metrics.values()),
            description=(
                "Results that others reported, with the rows behind them where they came. "
                "The collection is open: every import may add tasks and metrics."
            ),
            attributes={name: value for name, value in attributes.items() if value},
            sources=tuple(draft.sources),
        )
