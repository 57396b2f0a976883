"""Protocols, historical evidence, verification bindings and verified results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from academy.formats.doc_bridge.artifacts import Edition, Kind, create, is_stale, read
from academy.formats.doc_bridge.primitives import (
    CATEGORIES,
    COUNT,
    DATE_TIME,
    HASH,
    IDENTIFIER,
    MODEL_REFERENCE,
    POSITIVE,
    REFERENCE,
    SAFE_TEXT,
    SEAL,
    VERSION_1,
    maybe,
    unique,
)
from academy.formats.doc_bridge.shapes import (
    Optional,
    Path,
    Shape,
    anything,
    boolean,
    closed,
    listed,
    mapping,
    number,
    one_of,
    refine,
)

PROTOCOL_MODEL = closed(
    {
        "id": IDENTIFIER,
        "role": one_of("low-cost", "reference"),
        "status": one_of("planned", "pinned"),
        "provider": maybe(IDENTIFIER),
        "model": maybe(MODEL_REFERENCE),
        "version": maybe(REFERENCE),
        "promptContractHash": maybe(HASH),
    },
    refine(
        lambda model: (
            model["status"] != "pinned"
            or all(model.get(key) for key in ("provider", "model", "version"))
        ),
        "Pinned models require provider, model, and version.",
    ),
)
REPOSITORY = closed(
    {
        "id": IDENTIFIER,
        "visibility": one_of("public", "private", "anonymized"),
        "role": one_of("product", "consumer"),
    }
)
AGENT_SOURCE = "doc-bridge-registry-agent"
PROTOCOL_SCENARIO = closed(
    {
        "id": IDENTIFIER,
        "label": SAFE_TEXT,
        "source": one_of("repository-only", "deterministic-doc-bridge", AGENT_SOURCE),
        "modelIds": listed(IDENTIFIER, 1, 16),
        "registryAgent": maybe(one_of("none", "configured")),
        "requiresHumanApproval": boolean,
    }
)
METRIC = closed(
    {
        "id": IDENTIFIER,
        "family": one_of("discovery", "task", "documentation", "operations", "cost"),
        "unit": one_of("count", "milliseconds", "tokens", "bytes", "ratio", "percent", "currency"),
        "source": one_of("provider", "runner", "adjudicator", "doc-bridge", "human"),
        "required": boolean,
        "description": SAFE_TEXT,
    }
)
OUTCOME = closed(
    {
        "id": IDENTIFIER,
        "statement": SAFE_TEXT,
        "checks": Optional(listed(closed({"id": IDENTIFIER, "command": SAFE_TEXT}), 0, 16), list),
        "notApplicableReason": maybe(SAFE_TEXT),
    },
    refine(
        lambda outcome: bool(outcome["checks"] or outcome.get("notApplicableReason")),
        "An outcome requires an executable check or an explicit not-applicable reason.",
        ("checks",),
    ),
    refine(
        lambda outcome: not (outcome["checks"] and outcome.get("notApplicableReason")),
        "An outcome cannot have checks and a not-applicable reason.",
        ("notApplicableReason",),
    ),
)
PROTOCOL_BUDGET = closed(
    {
        "maxTokensPerTask": POSITIVE,
        "maxRuntimeMsPerTask": POSITIVE,
        "maxRuns": POSITIVE,
        "maxNetworkRequests": COUNT,
    }
)
FORBIDDEN_FIELDS = one_of(
    "repository-content",
    "paths",
    "prompts",
    "credentials",
    "private-identifiers",
    "raw-agent-responses",
)
PRIVACY = closed(
    {
        "mode": one_of("anonymized"),
        "forbiddenFields": listed(FORBIDDEN_FIELDS, 1, 16),
        "publicationRequiresHumanReview": one_of(True),
    }
)
TARGET = closed(
    {
        "metricId": IDENTIFIER,
        "direction": one_of("decrease", "increase", "no-regression"),
        "threshold": number(),
    }
)
STOPPING = closed(
    {
        "minControlledRounds": POSITIVE,
        "consecutiveNoMaterialImprovementRounds": POSITIVE,
        "targets": listed(TARGET, 0, 32),
    }
)


def protocol_fields(_edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a protocol."""
    return {
        "type": one_of("study-protocol"),
        "schemaVersion": VERSION_1,
        "protocolVersion": REFERENCE,
        "title": SAFE_TEXT,
        "evidenceClasses": listed(one_of("historical", "controlled"), 1, 2),
        "repositories": listed(REPOSITORY, 1, 64),
        "taskCategories": listed(one_of(*CATEGORIES), 1, 4),
        "models": listed(PROTOCOL_MODEL, 2, 16),
        "scenarios": listed(PROTOCOL_SCENARIO, 3, 8),
        "metrics": listed(METRIC, 1, 128),
        "outcomes": listed(OUTCOME, 1, 64),
        "budget": PROTOCOL_BUDGET,
        "privacy": PRIVACY,
        "stopping": STOPPING,
    }


def check_protocol(protocol: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """The cross checks in the order of the original."""
    for key, label in (
        ("repositories", "repository"),
        ("models", "model"),
        ("scenarios", "scenario"),
        ("metrics", "metric"),
        ("outcomes", "outcome"),
    ):
        yield from unique((item["id"] for item in protocol[key]), label, (key,))
    checks = (check["id"] for outcome in protocol["outcomes"] for check in outcome["checks"])
    yield from unique(checks, "outcome check", ("outcomes",))
    models = {model["id"] for model in protocol["models"]}
    for index, scenario in enumerate(protocol["scenarios"]):
        yield from check_scenario(scenario, models, ("scenarios", index))
    metrics = {metric["id"] for metric in protocol["metrics"]}
    for index, target in enumerate(protocol["stopping"]["targets"]):
        if target["metricId"] not in metrics:
            yield (
                f"Stopping target references unknown metric {target['metricId']}.",
                ("stopping", "targets", index, "metricId"),
            )


def check_scenario(scenario: Any, models: set[str], path: Path) -> Iterator[tuple[str, Path]]:
    """Known models, and a Registry agent exactly where the source says so."""
    name = scenario["id"]
    for model in scenario["modelIds"]:
        if model not in models:
            yield f"Scenario {name} references unknown model {model}.", (*path, "modelIds")
    configured = scenario.get("registryAgent") == "configured"
    if scenario["source"] == AGENT_SOURCE and not configured:
        yield f"Scenario {name} requires a configured Registry agent.", (*path, "registryAgent")
    if scenario["source"] != AGENT_SOURCE and configured:
        yield f"Scenario {name} cannot configure a Registry agent.", (*path, "registryAgent")


PROTOCOL = Kind(
    "study-protocol",
    "study protocol",
    protocol_fields,
    check_protocol,
    "Invalid content hash: expected {expected}.",
)

MISSING_STATUS = one_of("missing", "not-analyzed", "blocked", "not-applicable")
MISSING_METRIC = closed({"metricId": IDENTIFIER, "status": MISSING_STATUS, "reason": SAFE_TEXT})
SOURCE_KINDS = one_of(
    "validation-plan", "verification-run", "benchmark", "study-artifact", "issue", "pull-request"
)
HISTORICAL_RECORD = closed(
    {
        "id": IDENTIFIER,
        "evidenceClass": one_of("historical"),
        "observedAt": DATE_TIME,
        "subject": closed({"kind": one_of("consumer", "aggregate"), "id": IDENTIFIER}),
        "source": closed({"kind": SOURCE_KINDS, "reference": REFERENCE}),
        "docBridgeVersion": maybe(REFERENCE),
        "sourceRevisionHash": maybe(HASH),
        "snapshotHash": maybe(HASH),
        "reportHash": maybe(HASH),
        "workflowRunId": maybe(REFERENCE),
        "verificationRunId": maybe(REFERENCE),
        "status": one_of(
            "validated", "partially-validated", "not-analyzed", "blocked", "not-applicable"
        ),
        "metrics": Optional(mapping(IDENTIFIER, number()), dict),
        "missingMetrics": Optional(listed(MISSING_METRIC, 0, 10_000), list),
        "limitations": listed(SAFE_TEXT, 1, 32),
    },
    refine(
        lambda record: bool(record["metrics"] or record["missingMetrics"]),
        "A historical record must contain metrics or explicit missing metrics.",
        ("metrics",),
    ),
)


def historical_fields(_edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a registry of historical evidence."""
    return {
        "type": one_of("historical-evidence-registry"),
        "schemaVersion": VERSION_1,
        "registryVersion": REFERENCE,
        "records": listed(HISTORICAL_RECORD, 0, 10_000),
    }


def check_historical(registry: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """No metric is missing twice in a record."""
    for index, record in enumerate(registry["records"]):
        named = (missing["metricId"] for missing in record["missingMetrics"])
        yield from unique(named, "missing metric", ("records", index, "missingMetrics"))


HISTORICAL = Kind(
    "historical-evidence-registry",
    "historical evidence",
    historical_fields,
    check_historical,
    "Invalid content hash: expected {expected}.",
)


def check_against_protocol(registry: Any, protocol: Any) -> Iterator[tuple[str, Path]]:
    """Record ids are unique and consumers are known; ids of metrics are not looked at."""
    ids = (record["id"] for record in registry["records"])
    yield from unique(ids, "historical record", ("records",))
    known = {repository["id"] for repository in protocol["repositories"]}
    for index, record in enumerate(registry["records"]):
        subject = record["subject"]
        if subject["kind"] == "consumer" and subject["id"] not in known:
            yield (
                f"Historical record {record['id']} references unknown consumer {subject['id']}.",
                ("records", index, "subject", "id"),
            )


BINDING_FIELDS: Mapping[str, Shape | Optional] = {
    "type": one_of("controlled-study-verification"),
    "schemaVersion": VERSION_1,
    "verificationRunId": REFERENCE,
    "sourceRevisionHash": HASH,
    "protocolHash": HASH,
    "configurationHash": HASH,
    "baselineHash": HASH,
    "artifactHashes": mapping(
        IDENTIFIER,
        HASH,
        refine(bool, "At least one study artifact hash is required."),
        refine(lambda hashes: len(hashes) <= 128, "Study artifact hash count exceeds the limit."),
    ),
    "privacy": closed(
        {
            "mode": one_of("anonymized"),
            "checkedArtifactCount": POSITIVE,
            "forbiddenMatchCount": one_of(0),
            "publicationReview": one_of("pending", "approved"),
        }
    ),
    "budget": closed(
        {
            "maxTokens": POSITIVE,
            "usedTokens": COUNT,
            "maxRuntimeMs": POSITIVE,
            "usedRuntimeMs": COUNT,
        },
        refine(
            lambda budget: budget["usedTokens"] <= budget["maxTokens"],
            "Study token budget was exceeded.",
            ("usedTokens",),
        ),
        refine(
            lambda budget: budget["usedRuntimeMs"] <= budget["maxRuntimeMs"],
            "Study runtime budget was exceeded.",
            ("usedRuntimeMs",),
        ),
    ),
}


def binding_fields(_edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a verification binding."""
    return BINDING_FIELDS


def no_defects(_value: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """A binding has no cross checks."""
    return iter(())


BINDING = Kind(
    "controlled-study-verification",
    "verification binding",
    binding_fields,
    no_defects,
    "Invalid study verification binding content hash.",
)


def result_fields(_edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a verified result: any value, with the binding that vouches for it."""
    return {
        "type": one_of("controlled-study-verified-result"),
        "schemaVersion": VERSION_1,
        "verification": closed({**BINDING_FIELDS, **SEAL}),
        "result": maybe(anything),
    }


def check_result(result: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """The binding inside verifies; that its hashes belong to the value is not checked."""
    if is_stale(result["verification"]):
        yield BINDING.stale, ("verification", "contentHash")


VERIFIED_RESULT = Kind(
    "controlled-study-verified-result",
    "verified result",
    result_fields,
    check_result,
    "Invalid controlled study result content hash.",
)


def verified_result(result: Any, binding: Any) -> dict[str, Any]:
    """Wrap a value with a binding. Raises Defects for a binding that does not hold."""
    return create(
        VERIFIED_RESULT,
        {
            "type": VERIFIED_RESULT.type,
            "schemaVersion": 1,
            "verification": read(BINDING, binding),
            "result": result,
        },
    )
