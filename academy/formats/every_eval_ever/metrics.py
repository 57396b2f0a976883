"""Reads the results of an aggregate: which data set, which metric, which number or why none."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from academy.bundle import JSON, Direction, MetricKind, MetricSpec
from academy.errors import Problems
from academy.formats.every_eval_ever.values import as_list, as_map, as_number, as_text

SLUG_LENGTH = 80
KEY_LENGTH = 100
SENTINEL = -1.0
WORD = re.compile(r"[A-Za-z0-9_@.-]{1,40}")


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set and its split, as a result names them."""

    name: str
    split: str = ""

    @property
    def slug(self) -> str:
        """The name as a slug."""
        return slug_of(f"{self.name} {self.split}".strip())

    @property
    def title(self) -> str:
        """The name for people."""
        return f"{self.name} ({self.split})" if self.split else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result. `score` is None where it is missing, and `gap` says why."""

    index: int
    result_id: str
    name: str
    data_set: DataSet
    metric: MetricSpec
    score: float | None
    gap: str = ""
    counts_unknown: bool = False


@lru_cache(maxsize=4096)
def slug_of(text: str) -> str:
    """Lower-case words joined by hyphens; a digest is added where letters would be lost."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9_]+", "-", plain).strip("-_")
    told = re.fullmatch(r"[A-Za-z0-9 _\-./:()\[\],'&–—|]*", text) is not None
    if told and slug and len(slug) <= SLUG_LENGTH:
        return slug
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug[: SLUG_LENGTH - 9].rstrip('-')}-{mark}".lstrip("-")


def key_of(text: str) -> str:
    """A metric's key from free text: what an address may hold, the rest as hyphens."""
    key = re.sub(r"[^A-Za-z0-9._@:+=]+", "-", text).strip("-")
    if key and len(key) <= KEY_LENGTH:
        return key
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{key[: KEY_LENGTH - 9]}-{mark}".lstrip("-")


def letters(text: str) -> str:
    """Text without anything but letters and digits, for comparing names."""
    return "".join(char for char in text.casefold() if char.isalnum())


def metric_name(result: Mapping[str, JSON], data_set: DataSet) -> str:
    """What a metric is called: its id, led by the evaluation where that says something more.

    One data set may hold several tests (`arc_easy` and `arc_challenge` of `ai2_arc`) whose
    metrics share the id `accuracy`; their numbers must never meet on one board.
    """
    config = as_map(result.get("metric_config"))
    metric = as_text(config.get("metric_id")) or as_text(config.get("metric_name"))
    evaluation = as_text(result.get("evaluation_name"))
    if not metric:
        # Before metrics had ids, converters wrote their name, one word, for a description.
        described = as_text(config.get("evaluation_description"))
        metric = described if WORD.fullmatch(described) else ""
    if not metric:
        return evaluation
    told, named, measured = letters(evaluation), letters(data_set.name), letters(metric)
    same = bool(named) and (told.endswith(named) or named.endswith(told))
    if not told or same or told in measured:
        return metric
    return f"{evaluation}:{metric}"


def bound(value: JSON) -> float | None:
    """A finite bound; unbounded and unstated are the same to a metric."""
    number = as_number(value)
    return number if number is not None and math.isfinite(number) else None


def kind_of(config: Mapping[str, JSON], lower_is_better: bool) -> MetricKind:
    """What the values of a metric are."""
    kind = config.get("score_type")
    if kind == "binary":
        return MetricKind.PASS
    if kind == "levels":
        return MetricKind.RATING
    return MetricKind.ERROR if lower_is_better else MetricKind.GRADED


def metric_of(result: Mapping[str, JSON], data_set: DataSet) -> MetricSpec:
    """The metric of a result. A percent scale is told by its key, so that 73 never meets 0.73."""
    config = as_map(result.get("metric_config"))
    lower = config.get("lower_is_better") is True
    low, high = bound(config.get("min_score")), bound(config.get("max_score"))
    name = metric_name(result, data_set)
    label = as_text(config.get("metric_name")) or name
    if (low, high) == (0.0, 100.0) and "percent" not in name:
        name = f"{name}-percent"
    return MetricSpec(
        key=key_of(name),
        label=(label if letters(label) in letters(name) else name)[:200],
        direction=Direction.DOWN if lower else Direction.UP,
        kind=kind_of(config, lower),
        unit=as_text(config.get("metric_unit"))[:40],
        low=low,
        high=high,
    )


def data_set_of(result: Mapping[str, JSON]) -> DataSet:
    """The data set of a result."""
    source = as_map(result.get("source_data"))
    return DataSet(as_text(source.get("dataset_name")), as_text(source.get("hf_split")))


def gap_of(score: float | None, config: Mapping[str, JSON]) -> str:
    """Why a number is no score: it is absent, marks a missing one, or lies outside its bounds."""
    if score is None:
        return "there is no number"
    low, high = bound(config.get("min_score")), bound(config.get("max_score"))
    outside = (low is not None and score < low) or (high is not None and score > high)
    unknown = config.get("score_type") == "levels" and config.get("has_unknown_level") is True
    if score == SENTINEL and (outside or unknown):
        return "-1 marks a score that is missing"
    if outside:
        return f"{score:g} lies outside the metric's own bounds {low} to {high}"
    return ""


def row_gap(result: Result, score: float) -> str:
    """Why a row's number is no score, where it marks a missing one."""
    low = result.metric.low
    unknown = result.metric.kind is MetricKind.RATING and result.counts_unknown
    if score == SENTINEL and (unknown or (low is not None and low > SENTINEL)):
        return "-1 marks a score that is missing"
    return ""


def read_results(
    record: Mapping[str, JSON], *, path: str, problems: Problems
) -> tuple[Result, ...]:
    """Every result of an aggregate in the form of 0.3.0, with keys that are its own."""
    results = []
    for index, item in enumerate(as_list(record.get("evaluation_results"))):
        result = as_map(item)
        config = as_map(result.get("metric_config"))
        data_set = data_set_of(result)
        score = as_number(as_map(result.get("score_details")).get("score"))
        gap = gap_of(score, config)
        if gap:
            place = f"/evaluation_results/{index}/score_details/score"
            rule = "missing-sentinel" if score == SENTINEL else "score-outside-bounds"
            problems.warn(path, rule, f"{gap}; the result is left out", pointer=place)
        results.append(
            Result(
                index=index,
                result_id=as_text(result.get("evaluation_result_id")),
                name=as_text(result.get("evaluation_name")),
                data_set=data_set,
                metric=metric_of(result, data_set),
                score=None if gap else score,
                gap=gap,
                counts_unknown=config.get("has_unknown_level") is True,
            )
        )
    return tuple(told_apart(results, path=path, problems=problems))


def told_apart(results: Sequence[Result], *, path: str, problems: Problems) -> Iterator[Result]:
    """Results whose metrics would share a key, named by result id, else by number."""
    places = [(result.data_set.slug, result.metric.key) for result in results]
    shared = {place for place, number in Counter(places).items() if number > 1}
    by_id = Counter(
        (*place, result.result_id) for place, result in zip(places, results, strict=True)
    )
    seen: Counter[tuple[str, str]] = Counter()
    for place, result in zip(places, results, strict=True):
        if place not in shared:
            yield result
            continue
        seen[place] += 1
        if result.result_id and by_id[*place, result.result_id] == 1:
            name = f"{place[1]}@{result.result_id}"
        elif seen[place] == 1:
            yield result
            continue
        else:
            name = f"{place[1]}@{seen[place]}"
            where = f"/evaluation_results/{result.index}"
            told = "another result has the same data set, name and metric; told apart by number"
            problems.warn(path, "same-result", told, pointer=where)
        metric = replace(result.metric, key=key_of(name), label=name[:200])
        yield replace(result, metric=metric)
