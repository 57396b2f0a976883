"""Builders of invented takeoff suites and bundles, valid unless a test changes them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from academy.bundle import ResultSpec, RunUpload, ScoredRecord, SuiteSpec
from academy.errors import Problem
from academy.formats.base import AggregateContext
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.integrity import bundle_hash
from academy.formats.opentakeoff.parse import parse_suite
from academy.formats.opentakeoff.runs import parse_run
from academy.formats.reading import Files
from academy.scorers.base import Mode

DRAWING = b"<svg xmlns='http://www.w3.org/2000/svg'><text>example</text></svg>"


def key_pair(name: str) -> tuple[str, str]:
    """A private and a public key in PEM, always the same for a name."""
    key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private, public.decode()


def task(task_id: str = "hall-area", **changes: Any) -> dict[str, Any]:
    """A task document."""
    return {
        "taskVersion": "1.0",
        "taskId": task_id,
        "track": "example-9",
        "kind": "area-takeoff",
        "suite": {"id": "example", "version": "1.0"},
        "title": "Example",
        "prompt": "Measure the hall.",
        "planset": {
            "assetRef": "hall.svg",
            "assetHash": hashlib.sha256(DRAWING).hexdigest(),
            "knownScale": None,
        },
        "toolset": ["set_scale", "measure_area", "emit_quantity"],
        "budget": {"maxSteps": 40, "maxWallMs": 120000},
        "metric": {"type": "ape"},
        "groundTruth": {"quantities": [{"item": "hall", "value": 240, "unit": "sf"}]},
        **changes,
    }


def manifest(**changes: Any) -> dict[str, Any]:
    """A manifest document."""
    return {
        "suiteManifestVersion": "1.0",
        "id": "example",
        "track": "example-9",
        "version": "1.0",
        "title": "Example",
        "mode": "practice",
        "keys": "embedded",
        "competencies": ["area-takeoff"],
        "thresholds": {
            "area-takeoff": {
                "metric": "ape",
                "apprentice": 8,
                "journeyman": 6,
                "master": "beats-baseline",
            }
        },
        "baseline": {"contestant": "Example estimator", "area-takeoff": {"score": 2}},
        **changes,
    }


def quantity(value: float = 240, item: str = "hall", unit: str = "sf") -> dict[str, Any]:
    """An answered quantity."""
    return {"item": item, "value": value, "unit": unit}


def entry(task_id: str = "hall-area", *quantities: Any, **changes: Any) -> dict[str, Any]:
    """One answer with a trace that gives no reason for any finding."""
    given = list(quantities) or [quantity()]
    steps: list[dict[str, Any]] = [
        {
            "type": "tool_result",
            "tool": "planset",
            "result": {"assetHash": hashlib.sha256(DRAWING).hexdigest(), "verified": True},
        }
    ]
    for row in given:
        steps += [
            {"type": "tool_call", "tool": "measure_area", "args": {"roomId": row["item"]}},
            {"type": "tool_result", "tool": "measure_area", "result": {"area": row["value"]}},
            {"type": "tool_call", "tool": "emit_quantity", "args": row},
            {"type": "tool_result", "tool": "emit_quantity", "result": {"ok": True}},
        ]
    calls = 2 * len(given)
    return {
        "taskId": task_id,
        "answer": {"quantities": given},
        "trace": [{"seq": seq, "tOffsetMs": seq, **step} for seq, step in enumerate(steps)],
        "telemetry": {"steps": calls, "wallMs": 1000, "toolCalls": calls, "mcpCalls": 0},
        **changes,
    }


def bundle(*entries: Any, rehash: bool = True, **changes: Any) -> dict[str, Any]:
    """A run bundle with its right hash."""
    document: dict[str, Any] = {
        "bundleVersion": "1.0",
        "runId": "run_example-000001",
        "track": "example-9",
        "suite": {"id": "example", "version": "1.0", "mode": "practice"},
        "contestant": {"name": "Example", "modelId": "example-model", "adapter": "mcp"},
        "attestation": {"mode": "self_reported"},
        "tasks": list(entries) or [entry()],
        "telemetry": {"sdkVersion": "1.0.0"},
        "integrity": {"hashAlg": "sha256", "bundleHash": "0" * 64},
        **changes,
    }
    if rehash:
        document["integrity"]["bundleHash"] = bundle_hash(document)
    return document


def signature(name: str, document: Mapping[str, Any]) -> str:
    """The signature of a bundle's hash by the named key."""
    key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
    message = document["integrity"]["bundleHash"].encode()
    return base64.b64encode(key.sign(message)).decode()


def files(**documents: Any) -> Files:
    """Files by path; documents that are no bytes are written as JSON."""
    return Files.of(
        {
            path: value if isinstance(value, bytes) else json.dumps(value).encode()
            for path, value in documents.items()
        }
    )


def suite_files(*tasks: Any, drawing: bytes = DRAWING, **changes: Any) -> Files:
    """A folder with a manifest, tasks and the drawing."""
    named = {f"{place}.task.json": document for place, document in enumerate(tasks or [task()])}
    return files(**{"suite.json": manifest(**changes), "hall.svg": drawing, **named})


def suite(*tasks: Any, **changes: Any) -> SuiteSpec:
    """The one suite of such a folder."""
    return parse_suite(suite_files(*tasks, **changes)).suites[0]


def run(document: Any, of: SuiteSpec | None = None) -> RunUpload:
    """A bundle as it is read."""
    return parse_run(files(**{"run.bundle.json": document}), of)


def rules(problems: tuple[Problem, ...]) -> list[str]:
    """The rules that some problems break, each once."""
    return sorted({problem.rule for problem in problems})


def result(
    scores: list[ScoredRecord], of: SuiteSpec, mode: Mode = Mode.STRICT, **options: Any
) -> dict[tuple[str, str], ResultSpec]:
    """A run's results by metric and slice; it says the `options`, and the site knows them."""
    context = AggregateContext(suite=of, mode=mode, attributes=options, facts=options)
    return {(row.metric, row.slice): row for row in FORMAT.aggregate(scores, context)}


def scored(task_id: str, value: float | None, metric: str = "ape", **more: Any) -> ScoredRecord:
    """A score that goes into a result; without a value it is unscorable."""
    status = "unscorable" if value is None else "scored"
    return ScoredRecord(task_id=task_id, metric=metric, status=status, value=value, **more)


def ranked(*tasks: Any, **changes: Any) -> SuiteSpec:
    """A ranked suite whose keys are held back."""
    return suite(*tasks, mode="ranked", keys="withheld", **changes)
