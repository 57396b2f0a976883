"""Observations (one execution of one task each) and the ledgers that collect them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from academy.formats.doc_bridge.artifacts import DEFAULT_EDITION, Defects, Edition, Kind, create
from academy.formats.doc_bridge.hashing import ALGORITHM_KEY, HASH_KEY, normalized_hash
from academy.formats.doc_bridge.plans import MODEL, SCENARIO
from academy.formats.doc_bridge.primitives import (
    AMOUNT,
    CATEGORIES,
    COUNT,
    DATE_TIME,
    DIFFICULTIES,
    EXECUTION_STATUSES,
    HASH,
    IDENTIFIER,
    OUTCOME,
    REFERENCE,
    SAFE_TEXT,
    SCENARIOS,
    SEAL,
    TOKEN_METHOD,
    VERSION_1,
    maybe,
    unique,
)
from academy.formats.doc_bridge.shapes import (
    Optional,
    Path,
    Rule,
    Shape,
    at_least,
    at_most,
    closed,
    integer,
    length,
    listed,
    mapping,
    nullable,
    number,
    one_of,
    refine,
    text,
)

TASK = closed(
    {
        "taskId": IDENTIFIER,
        "repositoryId": IDENTIFIER,
        "category": one_of(*CATEGORIES),
        "scenarioId": one_of(*SCENARIOS),
        "modelId": IDENTIFIER,
        "replicate": COUNT,
        "variantId": IDENTIFIER,
        "difficulty": maybe(one_of(*DIFFICULTIES)),
    }
)
EXECUTION = closed(
    {
        "status": one_of(*EXECUTION_STATUSES),
        "exitCode": nullable(integer()),
        "signal": nullable(text()),
        "durationMs": COUNT,
        "responseBytes": COUNT,
        "stderrBytes": COUNT,
        "stdoutHash": maybe(HASH),
        "stderrHash": maybe(HASH),
        "inputTokens": maybe(COUNT),
        "outputTokens": maybe(COUNT),
        "tokenMethod": maybe(TOKEN_METHOD),
        "toolCalls": maybe(COUNT),
        "firstEvidenceLatencyMs": maybe(COUNT),
        "errorCode": maybe(IDENTIFIER),
    },
    refine(
        lambda run: "tokenMethod" in run or not ("inputTokens" in run or "outputTokens" in run),
        "Token counts require a provider or estimate method.",
        ("tokenMethod",),
    ),
)
EVIDENCE_ID = text(
    *length(1, 256),
    refine(
        lambda value: not any(sign in value for sign in "\0\r\n"),
        "Evidence IDs cannot contain control characters.",
    ),
)
ADJUDICATION = closed(
    {
        "status": one_of("pending", "automated", "human-approved", "human-rejected"),
        "actor": maybe(IDENTIFIER),
        "method": maybe(REFERENCE),
        "outcome": maybe(OUTCOME),
        "confidence": maybe(number(at_least(0), at_most(1))),
        "reasonCodes": maybe(listed(IDENTIFIER, 0, 16)),
        "configurationHash": maybe(HASH),
        "reason": maybe(SAFE_TEXT),
        "tokenMethod": maybe(TOKEN_METHOD),
    },
    refine(
        lambda verdict: (
            verdict["status"] != "automated"
            or all(key in verdict for key in ("actor", "method", "outcome"))
        ),
        "Automated adjudication requires actor, method, and outcome.",
    ),
)
MEASUREMENTS = mapping(text(*length(1, 128)), AMOUNT)
OBSERVATION_FIELDS: Final[Mapping[str, Shape | Optional]] = {
    "type": one_of("controlled-study-observation"),
    "schemaVersion": VERSION_1,
    "observationVersion": REFERENCE,
    "observedAt": DATE_TIME,
    "runId": REFERENCE,
    "planHash": HASH,
    "task": TASK,
    "model": MODEL,
    "scenario": SCENARIO,
    "execution": EXECUTION,
    "contextBytes": COUNT,
    "contextTokens": maybe(COUNT),
    "contextTokenMethod": maybe(TOKEN_METHOD),
    # Published observations carry it here; the specification lists it with the execution.
    "firstEvidenceLatencyMs": maybe(COUNT),
    "evidenceIds": listed(EVIDENCE_ID, 0, 128),
    "round": maybe(REFERENCE),
    "taskOutcome": maybe(OUTCOME),
    "evidenceQuality": maybe(one_of("high", "medium", "low")),
    "safetyOutcome": maybe(one_of("safe", "unsafe", "not-applicable")),
    "clarificationRequests": maybe(COUNT),
    "reworkCount": maybe(COUNT),
    "measurements": maybe(MEASUREMENTS),
    "adjudication": ADJUDICATION,
}
CONTEXT_RULE: Final[Rule] = refine(
    lambda found: "contextTokens" not in found or "contextTokenMethod" in found,
    "Context token counts require a provider or estimate method.",
    ("contextTokenMethod",),
)


def observation_fields(_edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of an observation; later editions only added optional ones."""
    return OBSERVATION_FIELDS


def check_observation(found: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """The execution speaks of the model and the scenario that are copied beside it."""
    task, model, scenario = found["task"], found["model"]["id"], found["scenario"]["id"]
    if task["modelId"] != model:
        yield (
            f"Observation task model {task['modelId']} does not match model {model}.",
            ("task", "modelId"),
        )
    if task["scenarioId"] != scenario:
        yield (
            f"Observation task scenario {task['scenarioId']} does not match scenario {scenario}.",
            ("task", "scenarioId"),
        )


OBSERVATION = Kind(
    "controlled-study-observation",
    "observation",
    observation_fields,
    check_observation,
    "Invalid controlled observation content hash.",
    (CONTEXT_RULE,),
)
WHOLE_OBSERVATION = closed({**OBSERVATION_FIELDS, **SEAL}, CONTEXT_RULE)


def ledger_fields(_edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a ledger."""
    return {
        "type": one_of("controlled-study-observation-ledger"),
        "schemaVersion": VERSION_1,
        "ledgerVersion": REFERENCE,
        "observations": listed(WHOLE_OBSERVATION, 0, 100_000),
    }


def check_ledger(ledger: Any, _edition: Edition) -> Iterator[tuple[str, Path]]:
    """No observation twice. The original looks at no inner hash; `runs` does."""
    hashes = (found[HASH_KEY] for found in ledger["observations"])
    yield from unique(hashes, "observation", ("observations",))


LEDGER = Kind(
    "controlled-study-observation-ledger",
    "observation ledger",
    ledger_fields,
    check_ledger,
    "Invalid observation-ledger content hash.",
)


def upsert(
    ledger: Mapping[str, Any], observation: Mapping[str, Any], edition: Edition = DEFAULT_EDITION
) -> dict[str, Any]:
    """The ledger with the observation. The same again changes nothing.

    Raises Defects when the run and the whole task object are there with other contents; a task
    that differs only in difficulty or variant is another observation.
    """
    task = normalized_hash(observation["task"])
    for known in ledger["observations"]:
        if known["runId"] != observation["runId"] or normalized_hash(known["task"]) != task:
            continue
        if known[HASH_KEY] != observation[HASH_KEY]:
            run = observation["runId"]
            raise Defects(message=f"Observation {run} already exists with different contents.")
        return dict(ledger)
    payload = {key: value for key, value in ledger.items() if key not in (HASH_KEY, ALGORITHM_KEY)}
    payload["observations"] = [*ledger["observations"], observation]
    return create(LEDGER, payload, edition)
