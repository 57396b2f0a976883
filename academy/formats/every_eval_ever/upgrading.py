"""Brings aggregates of every version to the form of 0.3.0, and tells every change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from academy.bundle import JSON
from academy.formats.every_eval_ever.paths import datastore_problem
from academy.formats.every_eval_ever.values import as_list, as_map, as_text
from academy.formats.every_eval_ever.versions import NEWEST

AXES = ("deployment_type", "model_availability")
ARGUMENTS: Mapping[str, tuple[type, ...]] = {
    "temperature": (int, float),
    "top_p": (int, float),
    "top_k": (int, float),
    "max_tokens": (int,),
    "execution_command": (str,),
    "reasoning": (bool,),
    "prompt_template": (str,),
    "agentic_eval_config": (dict,),
    "eval_plan": (dict,),
    "eval_limits": (dict,),
    "sandbox": (dict,),
    "max_attempts": (int,),
    "incorrect_attempt_feedback": (str,),
}
TEXT_MAPS = ("additional_details", "details", "parameters", "config")
# An early word for a record that was read off a leaderboard.
SOURCE_TYPES = {"leaderboard": "documentation"}
Record = dict[str, Any]


@dataclass(slots=True)
class Changes:
    """What an upgrade did: each kind of change with its number and the first place."""

    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    def note(self, what: str, place: str = "") -> None:
        """Count one change."""
        self.counts[what] = self.counts.get(what, 0) + 1
        self.places.setdefault(what, place)


def copied(value: JSON) -> Any:
    """A deep copy in plain lists and dicts."""
    if isinstance(value, Mapping):
        return {key: copied(held) for key, held in value.items()}
    if isinstance(value, str) or not isinstance(value, list | tuple):
        return value
    return [copied(item) for item in value]


def map_under(holder: Record, key: str) -> Record:
    """The object under a key, put there where there is none: a null says the same as no member."""
    if not isinstance(holder.get(key), dict):
        holder[key] = {}
    held: Record = holder[key]
    return held


def text_of(value: JSON) -> str:
    """A value as the text that a string map may hold: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def upgrade_aggregate(value: Mapping[str, JSON], version: str) -> tuple[Record, Changes]:
    """An aggregate in the form of 0.3.0, and what was done. The value itself is left alone."""
    record, changes = copied(value), Changes()
    for since, step in STEPS:
        if version < since:
            step(record, changes)
    drop_nulls(record, "", changes)
    if record.get("schema_version") != NEWEST:
        record["schema_version"] = NEWEST
        changes.note(f"read as version {version} and upgraded to {NEWEST}", "/schema_version")
    return record, changes


def from_early_form(record: Record, changes: Changes) -> None:
    """0.0.1: the source has a block of its own, details of the model lie at the top."""
    source = record.pop("evaluation_source", None)
    metadata = map_under(record, "source_metadata")
    if isinstance(source, dict):
        changes.note("moved evaluation_source into source_metadata", "/evaluation_source")
        name = source.pop("evaluation_source_name", None)
        kind = as_text(source.pop("evaluation_source_type", None))
        if name is not None:
            metadata.setdefault("source_name", name)
        metadata.setdefault("source_type", SOURCE_TYPES.get(kind, kind))
        if source or kind in SOURCE_TYPES:
            details = {"evaluation_source_type": kind} | source
            metadata["additional_details"] = {k: text_of(v) for k, v in details.items()}
    if metadata.get("source_type") not in ("documentation", "evaluation_run"):
        metadata["source_type"] = "documentation"
        changes.note("set the unstated source_type to documentation", "/source_metadata")
    details = record.pop("additional_details", None)
    if isinstance(details, dict):
        model = map_under(record, "model_info")
        model["additional_details"] = {**details, **as_map(model.get("additional_details"))}
        changes.note("moved additional_details into model_info", "/additional_details")
    for index, result in enumerate(as_list(record.get("evaluation_results"))):
        score = as_map(as_map(result).get("score_details"))
        if isinstance(score, dict) and "confidence_interval" in score:
            interval = text_of(score.pop("confidence_interval"))
            score["details"] = {**as_map(score.get("details")), "confidence_interval": interval}
            place = f"/evaluation_results/{index}/score_details/confidence_interval"
            changes.note("kept a confidence interval of unknown meaning as a detail", place)


def collection_of(record: Mapping[str, JSON]) -> str:
    """The collection that an evaluation's id starts with; some put the developer before it."""
    model = as_text(as_map(record.get("model_info")).get("id")).partition("/")[0].lower()
    parts = [part for part in as_text(record.get("evaluation_id")).split("/") if part]
    named = [part for part in parts[:2] if part.lower() != model]
    return named[0] if named else ""


def from_shared_source(record: Record, changes: Changes) -> None:
    """Up to 0.1.0: one source for all results, the engine is a word, samples lie inside."""
    source = record.pop("source_data", None)
    results = list(as_list(record.get("evaluation_results")))
    for result in results:
        if isinstance(result, dict):
            name = collection_of(record) or as_text(result.get("evaluation_name"))
            result["source_data"] = source_of(source, name)
    changes.note("moved source_data into every result", "/source_data")
    if isinstance(source, list):
        changes.note("named the data set after the collection in evaluation_id", "/source_data")
    for index, result in enumerate(results):
        move_result_fields(result, index, changes)
    model = record.get("model_info")
    if isinstance(model, dict) and isinstance(model.get("inference_engine"), str):
        model["inference_engine"] = {"name": model["inference_engine"]}
        changes.note("wrapped the inference engine's name", "/model_info/inference_engine")
    if record.pop("detailed_evaluation_results_per_samples", None) is not None:
        place = "/detailed_evaluation_results_per_samples"
        changes.note("left the samples inside the record out: they carry no score", place)


def source_of(source: JSON, name: str) -> Record:
    """The source of one result in the later form."""
    if isinstance(source, Mapping):
        kind = "hf_dataset" if source.get("hf_repo") else "other"
        return {"source_type": kind, **copied(source)}
    urls = [item for item in as_list(source) if isinstance(item, str)]
    if not urls:
        return {"dataset_name": name, "source_type": "other"}
    return {"dataset_name": name, "source_type": "url", "url": urls}


def move_result_fields(result: JSON, index: int, changes: Changes) -> None:
    """A result's link to its details, and its generation settings without a form."""
    if not isinstance(result, dict):
        return
    place = f"/evaluation_results/{index}"
    link = result.pop("detailed_evaluation_results_url", None)
    if link is not None:
        source = result["source_data"]
        kept = as_map(source.get("additional_details"))
        source["additional_details"] = {**kept, "detailed_evaluation_results_url": link}
        changes.note("moved the link to details into source_data", place)
    config = result.get("generation_config")
    if isinstance(config, dict) and config:
        result["generation_config"] = sort_settings(config)
        changes.note("sorted generation settings into arguments and details", place)


def sort_settings(config: Mapping[str, JSON]) -> Record:
    """Settings without a form as known arguments and details of any name."""
    arguments: Record = {}
    details: Record = {}
    for key, held in config.items():
        if key in ("generation_args", "additional_details"):
            part = held if isinstance(held, dict) else {key: held}
            (arguments if key == "generation_args" else details).update(part)
        else:
            (arguments if fits_argument(key, held) else details)[key] = held
    parts = {"generation_args": arguments, "additional_details": details}
    return {key: part for key, part in parts.items() if part}


def fits_argument(key: str, value: JSON) -> bool:
    """Whether a generation setting is one that the format knows, of a type that it takes."""
    kinds = ARGUMENTS.get(key)
    if kinds is None or (isinstance(value, bool) and bool not in kinds):
        return False
    return isinstance(value, kinds) and not (key == "max_tokens" and value < 1)  # type: ignore[operator]


def from_open_maps(record: Record, changes: Changes) -> None:
    """Up to 0.2.0: no library, maps with any values, generation arguments with any names."""
    if "eval_library" not in record:
        record["eval_library"] = {"name": "unknown", "version": "unknown"}
        changes.note("added an unknown eval_library", "/eval_library")
    for index, result in enumerate(as_list(record.get("evaluation_results"))):
        if not isinstance(result, dict):
            continue
        place = f"/evaluation_results/{index}"
        source = result.get("source_data")
        if isinstance(source, dict) and any(
            not isinstance(item, str) for item in as_list(source.get("sample_ids"))
        ):
            source["sample_ids"] = [text_of(item) for item in source["sample_ids"]]
            changes.note("turned sample ids into text", f"{place}/source_data/sample_ids")
        close_arguments(as_map(result.get("generation_config")), place, changes)
    turn_into_text(record, "", changes)


def close_arguments(config: Mapping[str, JSON], place: str, changes: Changes) -> None:
    """Move unknown generation arguments to the details, and steps of a plan into text."""
    arguments = config.get("generation_args")
    if not isinstance(arguments, dict) or not isinstance(config, dict):
        return
    place = f"{place}/generation_config/generation_args"
    for key in [key for key in arguments if key not in ARGUMENTS]:
        details = map_under(config, "additional_details")
        details.setdefault(key, arguments.pop(key))
        changes.note("moved an unknown generation argument to the details", f"{place}/{key}")
    plan = arguments.get("eval_plan")
    if isinstance(plan, dict) and any(not isinstance(s, str) for s in as_list(plan.get("steps"))):
        plan["steps"] = [text_of(step) for step in plan["steps"]]
        changes.note("turned steps of a plan into text", f"{place}/eval_plan/steps")


def turn_into_text(value: Any, place: str, changes: Changes) -> None:
    """Turn the values of every string map into text."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            turn_into_text(item, f"{place}/{index}", changes)
    elif isinstance(value, dict):
        for key, held in value.items():
            if key not in TEXT_MAPS or not isinstance(held, dict):
                turn_into_text(held, f"{place}/{key}", changes)
                continue
            for name, part in held.items():
                if not isinstance(part, str):
                    held[name] = text_of(part)
                    changes.note("turned a detail into text", f"{place}/{key}/{name}")


def add_axes(record: Record, changes: Changes) -> None:
    """Before 0.2.3 nobody said who deployed a model; that is unknown, not researched."""
    models = [("/model_info", record.get("model_info"))]
    for index, result in enumerate(as_list(record.get("evaluation_results"))):
        scoring = as_map(as_map(as_map(result).get("metric_config")).get("llm_scoring"))
        for position, judge in enumerate(as_list(scoring.get("judges"))):
            place = f"/evaluation_results/{index}/metric_config/llm_scoring/judges/{position}"
            models.append((f"{place}/model_info", as_map(judge).get("model_info")))
    for place, model in models:
        if isinstance(model, dict):
            details = map_under(model, "additional_details")
            missing = [axis for axis in AXES if axis not in details]
            details.update(dict.fromkeys(missing, "unknown"))
            if missing:
                changes.note("added unresearched deployment axes as unknown", place)
    drop_odd_companion(record, changes)


def drop_odd_companion(record: Record, changes: Changes) -> None:
    """Before 0.2.3 a companion could have any name and format; only rows by name are kept."""
    detail = record.get("detailed_evaluation_results")
    if detail is None:
        return
    path = as_text(as_map(detail).get("file_path"))
    if as_map(detail).get("format") != "jsonl" or datastore_problem(path):
        del record["detailed_evaluation_results"]
        changes.note(
            "left out a companion that is not named as today's rules ask",
            "/detailed_evaluation_results",
        )


NULLABLE = ("temperature", "top_p", "top_k", "min_score", "max_score")


def drop_nulls(value: Any, place: str, changes: Changes) -> None:
    """A null where the format knows none says the same as an absent member."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            drop_nulls(item, f"{place}/{index}", changes)
    elif isinstance(value, dict):
        for key in [key for key, held in value.items() if held is None and key not in NULLABLE]:
            if not place.endswith("/metric_parameters"):
                del value[key]
                changes.note("took a null for an absent member", f"{place}/{key}")
        for key, held in value.items():
            drop_nulls(held, f"{place}/{key}", changes)


STEPS: tuple[tuple[str, Callable[[Record, Changes], None]], ...] = (
    ("0.1.0", from_early_form),
    ("0.2.0", from_shared_source),
    ("0.2.1", from_open_maps),
    ("0.2.3", add_axes),
)
