"""Builds small records of the format for tests; every one is invented."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from academy.formats.reading import Files

UUID = "4a1c0b52-77d1-4e0a-8b3e-5d2c7b9e4f10"
FOLDER = "data/ports/example-org/example-model"
AGGREGATE = f"{FOLDER}/{UUID}.json"
ROWS = f"{FOLDER}/{UUID}_samples.jsonl"
EVALUATION = "ports/example-org_example-model/1750000000"
MODEL = "example-org/example-model"


def result(
    metric: str = "accuracy", score: Any = 0.5, *, data_set: str = "ports", **changes: Any
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "evaluation_result_id": f"{data_set}:{metric}",
        "evaluation_name": data_set,
        "source_data": {"dataset_name": data_set, "source_type": "other"},
        "metric_config": {
            "metric_id": metric,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {"score": score},
    }
    return made | changes


def aggregate(*results: dict[str, Any], **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "schema_version": "0.3.0",
        "evaluation_id": EVALUATION,
        "retrieved_timestamp": "1750000100",
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "Example Lab",
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "example-harness", "version": "1.0"},
        "model_info": {
            "name": "Example Model",
            "id": MODEL,
            "developer": "example-org",
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
            },
        },
        "evaluation_results": list(results),
    }
    return made | changes


def row(
    sample: str = "q1",
    score: Any = 1.0,
    *,
    metric: str = "accuracy",
    data_set: str = "ports",
    said: str = "Cadiz",
    **changes: Any,
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "schema_version": "0.3.0",
        "evaluation_id": EVALUATION,
        "model_id": MODEL,
        "evaluation_name": data_set,
        "evaluation_result_id": f"{data_set}:{metric}",
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": f"Which port is {sample}?", "reference": ["Cadiz"]},
        "output": {"raw": [said]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == 1},
    }
    return made | changes


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(made).encode() + b"\n" for made in rows)


def declared(rows: bytes, **changes: Any) -> dict[str, Any]:
    return {
        "format": "jsonl",
        "file_path": ROWS,
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(rows).hexdigest(),
        "total_rows": sum(bool(line.strip()) for line in rows.split(b"\n")),
    } | changes


def pair(
    results: list[dict[str, Any]], rows: bytes, *, detail: Any = None, **changes: Any
) -> Files:
    held = aggregate(
        *results, detailed_evaluation_results=declared(rows) if detail is None else detail
    )
    return Files.of({AGGREGATE: json.dumps(held | changes).encode(), ROWS: rows})


def alone(document: Any, path: str = AGGREGATE) -> Files:
    return Files.of({path: json.dumps(document).encode()})
