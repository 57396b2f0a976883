"""The original's checks of scores, bounds, deployment axes and folders of one aggregate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from academy.bundle import JSON
from academy.errors import AcademyError
from academy.formats.every_eval_ever.lax import is_number
from academy.formats.every_eval_ever.paths import path_components
from academy.formats.every_eval_ever.reference_models import AVAILABILITIES, DEPLOYMENTS
from academy.formats.every_eval_ever.reference_values import Finding, rule_broken


def bound_of(value: JSON) -> float | None:
    """A bound as a number, infinite ones included, or None."""
    if isinstance(value, str):
        return {"Infinity": math.inf, "-Infinity": -math.inf}.get(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


def is_finite(value: JSON) -> bool:
    """Whether a value is a finite number."""
    return is_number(value) and math.isfinite(float(value))  # type: ignore[arg-type]


def member(value: JSON, *names: str) -> JSON:
    """The member at the end of a way of names, None where the way ends early."""
    for name in names:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def items(value: JSON) -> Iterator[tuple[int, JSON]]:
    """The items of a list with their positions; nothing for what is no list."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from enumerate(value)


def check_scores(aggregate: Mapping[str, JSON]) -> list[Finding]:
    """Scores are finite and lie inside of bounds whenever both are given."""
    errors = []
    for index, result in items(aggregate.get("evaluation_results")):
        metric = member(result, "metric_config")
        if isinstance(metric, Mapping):
            errors += check_bounds(metric, f"evaluation_results[{index}].metric_config")
            if isinstance(member(result, "score_details"), Mapping):
                errors += check_score(result, metric, index)
    return errors


def check_bounds(metric: Mapping[str, JSON], place: str) -> list[Finding]:
    """A continuous metric has both bounds, and a bound that is given can be read."""
    errors = []
    kind = metric.get("score_type")
    if kind is not None and (not isinstance(kind, str) or not kind.strip()):
        errors.append(rule_broken("score_type is no word", place))
    for name in ("min_score", "max_score"):
        given = metric.get(name)
        if bound_of(given) is None and (kind == "continuous" or given is not None):
            errors.append(rule_broken(f"{name} is missing or no bound", place))
    return errors


def check_score(result: JSON, metric: Mapping[str, JSON], index: int) -> list[Finding]:
    """One score, its uncertainty and its bounds."""
    place = f"evaluation_results[{index}].score_details"
    score = member(result, "score_details", "score")
    if not is_finite(score):
        return [rule_broken(f"{score!r} is no finite number", f"{place}.score")]
    uncertainty = member(result, "score_details", "uncertainty")
    errors = [
        rule_broken("is no finite number", f"{place}.uncertainty.{'.'.join(names)}")
        for names in (
            ("standard_deviation",),
            ("standard_error", "value"),
            ("confidence_interval", "lower"),
            ("confidence_interval", "upper"),
            ("confidence_interval", "confidence_level"),
        )
        if (value := member(uncertainty, *names)) is not None and not is_finite(value)
    ]
    low, high = bound_of(metric.get("min_score")), bound_of(metric.get("max_score"))
    if low is None or high is None:
        return errors
    if low > high:
        place = f"evaluation_results[{index}].metric_config"
        return [*errors, rule_broken("min_score is greater than max_score", place)]
    if isinstance(score, int | float) and not low <= score <= high:
        place = f"evaluation_results[{index}]"
        errors.append(rule_broken(f"the score {score} lies outside its bounds", place))
    return errors


def check_axes(aggregate: Mapping[str, JSON]) -> list[Finding]:
    """The model and every judge say who deployed them and whether the weights are open."""
    errors = check_model(aggregate.get("model_info"), "model_info")
    for index, result in items(aggregate.get("evaluation_results")):
        judges = member(result, "metric_config", "llm_scoring", "judges")
        for position, judge in items(judges):
            place = f"evaluation_results[{index}].metric_config.llm_scoring.judges[{position}]"
            errors += check_model(member(judge, "model_info"), f"{place}.model_info")
    return errors


def check_model(model: JSON, place: str) -> list[Finding]:
    """The two deployment axes of one model."""
    if not isinstance(model, Mapping):
        return []
    errors = []
    for name, words in (
        ("deployment_type", DEPLOYMENTS),
        ("model_availability", AVAILABILITIES),
    ):
        value = member(model, "additional_details", name)
        if value is None:
            errors.append(rule_broken(f"{name} is missing", f"{place}.additional_details"))
        elif value not in words:
            where = f"{place}.additional_details.{name}"
            errors.append(rule_broken(f"{value!r} is not one of {', '.join(words)}", where))
    return errors


def check_folder(path: str, aggregate: Mapping[str, JSON]) -> list[Finding]:
    """A warning when the folders are not those that the model's identity asks for."""
    model, developer = (member(aggregate, "model_info", name) for name in ("id", "developer"))
    try:
        wanted = path_components(
            path.split("/")[1],
            model if isinstance(model, str) else None,
            developer if isinstance(developer, str) else None,
        )
    except (AcademyError, IndexError):
        return []
    if path.split("/")[2:4] == list(wanted[1:]):
        return []
    folders = "/".join(wanted[1:])
    return [Finding("model_info", "semantic_warning", f"the identity asks for {folders}")]
