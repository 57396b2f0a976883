"""JSON Schemas of every document of the format, written for this project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from academy.formats.opentakeoff.metrics import COMPETENCIES, METRICS, MIXED

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
POSITIVE: Schema = {"type": "integer", "minimum": 1}
VERSION: Schema = {"type": "string", "const": "1.0"}
HASH: Schema = {"type": "string", "pattern": "^[a-f0-9]{64}$"}
HASH_NAME: Schema = {"type": "string", "const": "sha256"}
TRACK: Schema = {"type": "string", "pattern": "^[a-z0-9-]{2,32}$"}
TIERS = ("apprentice", "journeyman", "master")
TOOLS = (
    "set_scale",
    "measure_area",
    "measure_length",
    "count",
    "identify_scope",
    "emit_quantity",
)
ADAPTERS = ("openai-endpoint", "mcp", "custom-bundle", "remote-env", "container")
STEPS = ("model_message", "tool_call", "tool_result", "mcp_call", "mcp_result", "error")


def one_of(*values: str) -> Schema:
    """A text out of a closed list."""
    return {"type": "string", "enum": list(values)}


def list_of(items: Schema, **rules: Any) -> Schema:
    """A list of the same kind of items."""
    return {"type": "array", "items": items, **rules}


def closed(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object that allows no other fields."""
    return {**opened(required, optional), "additionalProperties": False}


def opened(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object that keeps fields nobody knows."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


TRUTH = closed({"item": TEXT, "value": NUMBER, "unit": TEXT}, {"roomId": TEXT})
TASK = closed(
    {
        "taskVersion": VERSION,
        "taskId": {"type": "string", "pattern": "^[a-z0-9-]{3,48}$"},
        "track": TRACK,
        "suite": closed({"id": TEXT, "version": TEXT}),
        "title": TEXT,
        "prompt": TEXT,
        "planset": closed(
            {"assetRef": TEXT, "assetHash": HASH},
            {
                "pages": list_of({"type": "integer"}),
                "knownScale": {"type": ["string", "null"]},
                "units": one_of("imperial", "metric"),
            },
        ),
        "toolset": list_of(one_of(*TOOLS)),
        "budget": closed({"maxSteps": POSITIVE, "maxWallMs": POSITIVE}, {"maxTokens": POSITIVE}),
        "metric": closed({"type": one_of(*METRICS)}, {"tolerance": NUMBER}),
    },
    {
        "kind": one_of(*COMPETENCIES),
        "groundTruth": {
            "type": ["object", "null"],
            "additionalProperties": False,
            "properties": {
                "quantities": list_of(TRUTH),
                "scopeItems": list_of(TEXT),
                "validatedBy": TEXT,
            },
        },
    },
)

STEP = closed(
    {"seq": COUNT, "type": one_of(*STEPS)},
    {
        "tOffsetMs": COUNT,
        "tool": TEXT,
        "server": TEXT,
        "args": {},
        "result": {},
        "tokens": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"in": COUNT, "out": COUNT},
        },
    },
)
ANSWERED = closed(
    {"item": TEXT, "value": NUMBER, "unit": TEXT},
    {"roomId": TEXT, "confidence": {"type": "number", "minimum": 0, "maximum": 1}},
)
ENTRY = closed(
    {
        "taskId": TEXT,
        "answer": closed({"quantities": list_of(ANSWERED)}, {"notes": TEXT}),
        "trace": list_of(STEP),
        "telemetry": closed(
            {"steps": COUNT, "wallMs": COUNT},
            {"tokensIn": COUNT, "tokensOut": COUNT, "toolCalls": COUNT, "mcpCalls": COUNT},
        ),
    }
)
BUNDLE = closed(
    {
        "bundleVersion": VERSION,
        "runId": {"type": "string", "pattern": "^run_[A-Za-z0-9._-]{6,}$"},
        "track": TRACK,
        "suite": closed({"id": TEXT, "version": TEXT, "mode": one_of("practice", "ranked")}),
        "contestant": closed(
            {"name": TEXT, "modelId": TEXT, "adapter": one_of(*ADAPTERS)},
            {"harness": TEXT, "contact": TEXT},
        ),
        "attestation": closed(
            {"mode": one_of("self_reported", "proctored")},
            {
                "proctor": {
                    "type": "object",
                    "properties": {
                        "proctorId": TEXT,
                        "deliveredSuiteVersion": TEXT,
                        "endpointFingerprint": TEXT,
                    },
                }
            },
        ),
        "tasks": list_of(ENTRY, minItems=1),
        "telemetry": closed(
            {"sdkVersion": TEXT},
            {
                "totalSteps": COUNT,
                "totalTokensIn": COUNT,
                "totalTokensOut": COUNT,
                "totalWallMs": COUNT,
                "startedAt": TEXT,
            },
        ),
        "integrity": closed(
            {"hashAlg": HASH_NAME, "bundleHash": HASH},
            {"signature": TEXT, "publicKey": TEXT, "academySignature": TEXT},
        ),
    }
)
CERTIFICATE = closed(
    {
        "certVersion": VERSION,
        "certId": {"type": "string", "pattern": "^OTA-[A-Z0-9]{2,6}-[0-9]{4,6}$"},
        "issuer": closed({"name": {"type": "string", "const": "OpenTakeoff Academy"}, "url": TEXT}),
        "subject": closed({"modelId": TEXT}, {"contestant": TEXT, "harness": TEXT, "url": TEXT}),
        "track": TEXT,
        "competency": one_of(*COMPETENCIES, MIXED),
        "tier": one_of(*TIERS),
        "attestation": one_of("self_reported", "certified"),
        "result": closed(
            {"metric": TEXT, "score": NUMBER, "nRanked": {"type": "integer"}, "suiteVersion": TEXT},
            {"baseline": NUMBER},
        ),
        "issuedAt": TEXT,
        "expiresAt": TEXT,
        "evidence": closed({"runBundleHash": HASH, "verifyUrl": TEXT}, {"leaderboardUrl": TEXT}),
        "integrity": closed(
            {"hashAlg": HASH_NAME, "certHash": HASH, "academySignature": TEXT},
            {"academyKeyId": TEXT},
        ),
    },
    {
        "badge": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"label": TEXT, "message": TEXT, "color": TEXT},
        }
    },
)

BAR = {
    "type": "object",
    "properties": {
        "metric": TEXT,
        "apprentice": NUMBER,
        "journeyman": NUMBER,
        "master": {"type": ["string", "number"]},
    },
}
HUMAN = {"type": "object", "properties": {"metric": TEXT, "score": {"type": ["number", "null"]}}}
MANIFEST = opened(
    {
        "suiteManifestVersion": VERSION,
        "id": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"},
        "track": TRACK,
        "version": {"type": "string", "minLength": 1, "maxLength": 100},
        "mode": one_of("practice", "ranked"),
    },
    {
        "dir": TEXT,
        "title": TEXT,
        "description": TEXT,
        "keys": one_of("embedded", "withheld"),
        "status": TEXT,
        "competencies": list_of(TEXT),
        "baseline": {
            "type": "object",
            "properties": {"contestant": TEXT},
            "additionalProperties": HUMAN,
        },
        "thresholds": {"type": "object", "additionalProperties": BAR},
        "groundTruth": {"type": "object"},
        "tasks": list_of(
            opened(
                {},
                {"taskId": TEXT, "file": TEXT, "kind": TEXT, "competency": TEXT, "metric": TEXT},
            )
        ),
    },
)
KEY_FILE = opened(
    {"taskId": TEXT},
    {
        "quantities": list_of(
            opened(
                {"item": TEXT},
                {
                    "value": {"type": ["number", "null"]},
                    "unit": TEXT,
                    "roomId": TEXT,
                    "raters": list_of(
                        opened({"value": {"type": ["number", "null"]}}, {"by": TEXT})
                    ),
                },
            )
        ),
        "scopeItems": list_of(TEXT),
        "validatedBy": TEXT,
        "provenance": {"type": "object"},
    },
)
BOARD_FILE = opened(
    {"schemaVersion": VERSION, "rows": list_of(opened({"modelId": TEXT}))},
    {"suites": {"type": "object"}, "disclaimer": TEXT},
)

SCHEMAS: Mapping[str, Schema] = {
    "task": TASK,
    "run-bundle": BUNDLE,
    "cert": CERTIFICATE,
    "manifest": MANIFEST,
    "key": KEY_FILE,
    "board": BOARD_FILE,
}
