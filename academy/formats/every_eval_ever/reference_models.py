"""The shapes of the original's models, version 0.3.0: aggregate and instance record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from academy.bundle import JSON
from academy.formats.every_eval_ever.lax import (
    Fault,
    Place,
    Shape,
    anything,
    count,
    flag,
    is_number,
    listed,
    mapped,
    matching,
    parameter,
    read_real,
    read_whole,
    real,
    tagged,
    text,
    whole,
    within,
    word,
)

HEX = "[0-9A-Fa-f]"
FILE_PATH = re.compile(
    rf"data/[^/]+/[^/]+/[^/]+/{HEX}{{8}}-{HEX}{{4}}-4{HEX}{{3}}-[89ABab]{HEX}{{3}}-{HEX}{{12}}"
    r"_samples\.jsonl"
)
DEPLOYMENTS = ("self_deployed", "externally_managed", "unknown")
AVAILABILITIES = ("open_weights", "closed_weights", "unknown")
INFINITIES = ("Infinity", "-Infinity")

texts = mapped(text)
from_one = within(read_whole, 1)
duration = within(read_real, 0)


def axes_fault(model: Mapping[str, JSON]) -> str | None:
    """Absent deployment axes are filled in; only a wrong word is a fault."""
    details = model.get("additional_details")
    if not isinstance(details, Mapping):
        return None
    if details.get("deployment_type", "unknown") not in DEPLOYMENTS:
        return "deployment_type"
    if details.get("model_availability", "unknown") not in AVAILABILITIES:
        return "model_availability"
    return None


def bound(value: JSON, place: Place) -> Iterator[Fault]:
    """A number or one of the two exact words; a boolean is no bound."""
    if value not in INFINITIES and not is_number(value):
        yield place, "value_error"


def score_type_fault(metric: Mapping[str, JSON]) -> str | None:
    """What the type of score asks for and the metric lacks."""
    needed = {
        "levels": ("level_names", "has_unknown_level"),
        "continuous": ("min_score", "max_score"),
    }.get(str(metric.get("score_type")), ())
    return next((name for name in needed if metric.get(name) is None), None)


def interaction_fault(row: Mapping[str, JSON]) -> str | None:
    """A single turn has an output and no messages; everything else the other way round."""
    single = row["interaction_type"] == "single_turn"
    wanted, unwanted = ("output", "messages") if single else ("messages", "output")
    if row.get(wanted) is None:
        return wanted
    return None if row.get(unwanted) is None else unwanted


MODEL_INFO = Shape(
    needed={"name": text, "id": text},
    optional={
        "developer": text,
        "inference_platform": text,
        "inference_engine": Shape(needed={}, optional={"name": text, "version": text}),
        "additional_details": texts,
    },
    rule=axes_fault,
)
JUDGE = Shape(
    needed={"model_info": MODEL_INFO},
    optional={"temperature": real, "weight": real, "additional_details": texts},
)
LLM_SCORING = Shape(
    needed={"judges": listed(JUDGE, 1), "input_prompt": text},
    optional={
        "aggregation_method": word("majority_vote", "average", "weighted_average", "median"),
        "expert_baseline": real,
        "additional_details": texts,
    },
)
METRIC = Shape(
    needed={"lower_is_better": flag},
    optional={
        "evaluation_description": text,
        "metric_id": text,
        "metric_name": text,
        "metric_kind": text,
        "metric_unit": text,
        "metric_parameters": mapped(parameter),
        "score_type": word("binary", "continuous", "levels"),
        "level_names": listed(text),
        "level_metadata": listed(text),
        "has_unknown_level": flag,
        "min_score": bound,
        "max_score": bound,
        "llm_scoring": LLM_SCORING,
        "additional_details": texts,
    },
    rule=score_type_fault,
)
UNCERTAINTY = Shape(
    needed={},
    optional={
        "standard_error": Shape(needed={"value": real}, optional={"method": text}),
        "confidence_interval": Shape(
            needed={"lower": real, "upper": real},
            optional={"confidence_level": within(read_real, 0, 1), "method": text},
        ),
        "standard_deviation": real,
        "num_samples": whole,
        "num_bootstrap_samples": whole,
    },
)
GENERATION_ARGS = Shape(
    needed={},
    optional={
        "temperature": real,
        "top_p": real,
        "top_k": real,
        "max_tokens": from_one,
        "execution_command": text,
        "reasoning": flag,
        "prompt_template": text,
        "agentic_eval_config": Shape(
            needed={},
            optional={
                "available_tools": listed(
                    Shape(
                        needed={}, optional={"name": text, "description": text, "parameters": texts}
                    )
                ),
                "additional_details": texts,
            },
        ),
        "eval_plan": Shape(
            needed={}, optional={"name": text, "steps": listed(text), "config": texts}
        ),
        "eval_limits": Shape(
            needed={}, optional={"time_limit": whole, "message_limit": whole, "token_limit": whole}
        ),
        "sandbox": Shape(needed={}, optional={"type": text, "config": text}),
        "max_attempts": whole,
        "incorrect_attempt_feedback": text,
    },
    closed=True,
)
SOURCE_DATA = tagged(
    "source_type",
    {
        "url": Shape(
            needed={"dataset_name": text, "source_type": text, "url": listed(text, 1)},
            optional={"additional_details": texts},
        ),
        "hf_dataset": Shape(
            needed={"dataset_name": text, "source_type": text},
            optional={
                "hf_repo": text,
                "hf_split": text,
                "samples_number": whole,
                "sample_ids": listed(text),
                "additional_details": texts,
            },
        ),
        "other": Shape(
            needed={"dataset_name": text, "source_type": text},
            optional={"additional_details": texts},
        ),
    },
)
RESULT = Shape(
    needed={
        "evaluation_name": text,
        "source_data": SOURCE_DATA,
        "metric_config": METRIC,
        "score_details": Shape(
            needed={"score": real}, optional={"details": texts, "uncertainty": UNCERTAINTY}
        ),
    },
    optional={
        "evaluation_result_id": text,
        "evaluation_timestamp": text,
        "generation_config": Shape(
            needed={},
            optional={"generation_args": GENERATION_ARGS, "additional_details": texts},
        ),
    },
)
AGGREGATE = Shape(
    needed={
        "schema_version": text,
        "evaluation_id": text,
        "retrieved_timestamp": text,
        "source_metadata": Shape(
            needed={
                "source_type": word("documentation", "evaluation_run"),
                "source_organization_name": text,
                "evaluator_relationship": word(
                    "first_party", "third_party", "collaborative", "other"
                ),
            },
            optional={
                "source_name": text,
                "source_organization_url": text,
                "source_organization_logo_url": text,
                "additional_details": texts,
            },
        ),
        "eval_library": Shape(
            needed={"name": text, "version": text}, optional={"additional_details": texts}
        ),
        "model_info": MODEL_INFO,
        "evaluation_results": listed(RESULT),
    },
    optional={
        "evaluation_timestamp": text,
        "detailed_evaluation_results": Shape(
            needed={"format": word("jsonl"), "file_path": matching(FILE_PATH)},
            optional={
                "hash_algorithm": word("sha256", "md5"),
                "checksum": text,
                "total_rows": whole,
                "additional_details": texts,
            },
        ),
    },
    closed=True,
)
MESSAGE = Shape(
    needed={"turn_idx": count, "role": text},
    optional={
        "content": text,
        "reasoning_trace": text,
        "tool_calls": listed(
            Shape(needed={"id": text, "name": text}, optional={"arguments": mapped(anything)})
        ),
        "tool_call_id": listed(text),
    },
)
INSTANCE = Shape(
    needed={
        "schema_version": text,
        "evaluation_id": text,
        "model_id": text,
        "evaluation_name": text,
        "sample_id": text,
        "interaction_type": word("single_turn", "multi_turn", "agentic"),
        "input": Shape(
            needed={"raw": text, "reference": listed(text)},
            optional={"formatted": text, "choices": listed(text)},
        ),
        "answer_attribution": listed(
            Shape(
                needed={
                    "turn_idx": count,
                    "source": text,
                    "extracted_value": text,
                    "extraction_method": text,
                    "is_terminal": flag,
                }
            )
        ),
        "evaluation": Shape(
            needed={"score": real, "is_correct": flag},
            optional={"num_turns": from_one, "tool_calls_count": count},
        ),
    },
    optional={
        "evaluation_result_id": text,
        "sample_hash": text,
        "output": Shape(needed={"raw": listed(text)}, optional={"reasoning_trace": listed(text)}),
        "messages": listed(MESSAGE),
        "token_usage": Shape(
            needed={"input_tokens": count, "output_tokens": count, "total_tokens": count},
            optional={
                "input_tokens_cache_write": count,
                "input_tokens_cache_read": count,
                "reasoning_tokens": count,
            },
        ),
        "performance": Shape(
            needed={},
            optional={
                "latency_ms": duration,
                "time_to_first_token_ms": duration,
                "generation_time_ms": duration,
                "additional_details": mapped(anything),
            },
        ),
        "error": text,
        "metadata": mapped(anything),
    },
    closed=True,
    rule=interaction_fault,
)
