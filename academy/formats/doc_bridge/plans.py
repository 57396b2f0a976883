"""Run plans and the two local configurations that a run needs beside its plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from academy.formats.doc_bridge.artifacts import Edition, Kind
from academy.formats.doc_bridge.primitives import (
    AMOUNT,
    HASH,
    IDENTIFIER,
    MODEL_REFERENCE,
    POSITIVE,
    REFERENCE,
    SCENARIOS,
    VERSION_1,
    maybe,
    unique,
)
from academy.formats.doc_bridge.shapes import (
    Optional,
    Path,
    Shape,
    above,
    at_most,
    boolean,
    closed,
    integer,
    length,
    listed,
    one_of,
    pattern,
    refine,
    text,
    told_apart,
)

PAIRWISE = "pairwise-task-strata"
BALANCED = "balanced-task-strata"
MODEL = closed(
    {
        "id": IDENTIFIER,
        "role": one_of("low-cost", "reference"),
        "provider": IDENTIFIER,
        "model": MODEL_REFERENCE,
        "version": REFERENCE,
        "parametersHash": HASH,
        "contextLimit": POSITIVE,
        "toolConfigurationHash": HASH,
        "promptContractHash": HASH,
    }
)
ASSISTED = "registry-assisted"
SCENARIO = closed(
    {
        "id": one_of(*SCENARIOS),
        "agentId": maybe(IDENTIFIER),
        "agentVersion": maybe(REFERENCE),
        "network": one_of(False),
    },
    refine(
        lambda scenario: bool(
            scenario["id"] != ASSISTED or (scenario.get("agentId") and scenario.get("agentVersion"))
        ),
        "Registry-assisted scenarios require agent identity and version.",
    ),
    refine(
        lambda scenario: bool(
            scenario["id"] == ASSISTED
            or not (scenario.get("agentId") or scenario.get("agentVersion"))
        ),
        "Only registry-assisted scenarios may declare an agent.",
    ),
)
SAMPLING = told_apart(
    "strategy",
    {
        BALANCED: closed({"strategy": one_of(BALANCED), "sampleSize": POSITIVE}),
        PAIRWISE: closed(
            {
                "strategy": one_of(PAIRWISE),
                "sampleSize": POSITIVE,
                "scenarioIds": listed(one_of(*SCENARIOS), 2, 2),
            }
        ),
    },
)
BUDGET = closed(
    {
        "maxTokens": POSITIVE,
        "maxRuntimeMs": POSITIVE,
        "maxOutputBytes": POSITIVE,
        "maxAttempts": integer(above(0), at_most(3)),
    }
)


def plan_fields(edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a run plan. The first edition plans exactly 24 tasks."""
    low, high = (24, 24) if edition is Edition.FIRST else (1, 256)
    return {
        "type": one_of("controlled-study-run-plan"),
        "schemaVersion": VERSION_1,
        "planVersion": REFERENCE,
        "protocolVersion": REFERENCE,
        "protocolHash": HASH,
        "taskSuiteHash": HASH,
        "sourceRevisionHash": HASH,
        "configurationHash": HASH,
        "docBridgeVersion": REFERENCE,
        "models": listed(MODEL, 2, 2),
        "scenarios": listed(SCENARIO, 3, 3),
        "taskIds": listed(IDENTIFIER, low, high),
        "sampling": SAMPLING,
        "budget": BUDGET,
        "runId": REFERENCE,
    }


def check_plan(plan: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """The cross checks in the order of the original."""
    yield from unique((model["id"] for model in plan["models"]), "model", ("models",))
    yield from unique((item["id"] for item in plan["scenarios"]), "scenario", ("scenarios",))
    yield from unique(plan["taskIds"], "task", ("taskIds",))
    if len({model["role"] for model in plan["models"]}) != 2:
        yield "The run plan requires one low-cost and one reference model.", ("models",)
    known = {scenario["id"] for scenario in plan["scenarios"]}
    if len(known) != len(SCENARIOS):
        yield "The run plan requires all three controlled scenarios.", ("scenarios",)
    sampling = plan["sampling"]
    chosen = sampling["scenarioIds"] if sampling["strategy"] == PAIRWISE else list(known)
    if any(scenario not in known for scenario in chosen):
        yield "Sampling references an unknown scenario.", ("sampling", "scenarioIds")
    strata = len(plan["models"]) * len(chosen)
    size = sampling["sampleSize"]
    if size > len(plan["taskIds"]) * strata or size % strata:
        yield (
            "Sampling must be a positive balanced subset of the task strata.",
            ("sampling", "sampleSize"),
        )


PLAN = Kind(
    "controlled-study-run-plan",
    "run plan",
    plan_fields,
    check_plan,
    "Invalid controlled run-plan content hash.",
)

PRICING = closed(
    {
        "currency": one_of("USD"),
        "inputPerMillionUsd": AMOUNT,
        "cachedInputPerMillionUsd": AMOUNT,
        "outputPerMillionUsd": AMOUNT,
    }
)
COMMAND: Mapping[str, Shape | Optional] = {
    "command": text(*length(1, 512)),
    "args": Optional(listed(text(*length(0, 2048)), 0, 64), list),
    "envAllowlist": Optional(listed(text(pattern("[A-Z][A-Z0-9_]{0,127}")), 0, 64), list),
    "providerNetwork": boolean,
    "maxInputBytes": integer(above(0), at_most(8_000_000)),
    "maxOutputBytes": integer(above(0), at_most(256_000)),
    "pricing": maybe(PRICING),
}


def provider_fields(_edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a provider configuration, which is local to a machine."""
    provider = closed(
        {
            "modelId": IDENTIFIER,
            "scenarioIds": listed(one_of(*SCENARIOS), 1, 3),
            **COMMAND,
        }
    )
    adjudicator = closed({"id": IDENTIFIER, "modelId": IDENTIFIER, **COMMAND})
    return {
        "type": one_of("study-provider-cli-config"),
        "schemaVersion": VERSION_1,
        "configVersion": REFERENCE,
        "providers": listed(provider, 1, 16),
        "adjudicator": maybe(adjudicator),
    }


def check_providers(configuration: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """A model runs a scenario through one provider only."""
    pairs = [
        f"{provider['modelId']} {scenario}"
        for provider in configuration["providers"]
        for scenario in provider["scenarioIds"]
    ]
    yield from unique(pairs, "provider", ("providers",))


PROVIDERS = Kind(
    "study-provider-cli-config",
    "provider configuration",
    provider_fields,
    check_providers,
    "Invalid study provider configuration content hash.",
)


def repository_fields(edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a repository configuration, which is local to a machine."""
    low, high = (6, 6) if edition is Edition.FIRST else (1, 64)
    entry = closed({"id": IDENTIFIER, "root": text(*length(1, 4096))})
    return {
        "type": one_of("controlled-study-repository-config"),
        "schemaVersion": VERSION_1,
        "configVersion": REFERENCE,
        "repositories": listed(entry, low, high),
    }


def check_repositories(configuration: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """A repository has one root."""
    ids = (entry["id"] for entry in configuration["repositories"])
    yield from unique(ids, "repository", ("repositories",))


REPOSITORIES = Kind(
    "controlled-study-repository-config",
    "repository configuration",
    repository_fields,
    check_repositories,
    "Invalid study repository configuration content hash.",
)
