"""Doc Bridge: selection, evaluation, artifacts of the study, scans and the metrics report."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from academy.formats.doc_bridge import artifacts, hashing, observations, rounds, selection, studies
from academy.formats.doc_bridge.artifacts import Defects, Edition, Kind
from academy.formats.doc_bridge.plans import PAIRWISE, PLAN
from academy.formats.doc_bridge.rubric import Counts, adjudicate, evaluate_task
from academy.formats.doc_bridge.safety import is_safe, scan
from academy.formats.doc_bridge.studies import BINDING, HISTORICAL, PROTOCOL
from academy.formats.doc_bridge.suites import SUITE
from tests.conformance.base import Check, Context

NOT_CASES = {"about"}
EDITIONS = {"82fc074": Edition.FIRST, "3224164": Edition.SECOND, "64aa004": Edition.THIRD}
SUITE_FILE = "task-suite-v1.json"
PLAN_FILE = "run-plan-v1.json"
LEDGER_FILE = "phase4-public-pilot-ledger-v1.json"
PROTOCOL_FILE = "protocol-v1.json"
HISTORY_FILE = "historical-evidence-v1.json"
BINDING_FILE = "verification-binding-v1.json"
PILOT_SUITE_FILE = "phase4-public-pilot-task-suite-v1.json"
PILOT_PLAN_FILE = "phase4-public-pilot-run-plan-v1.json"
FILES_BY_TYPE = {
    "controlled-study-observation-ledger": LEDGER_FILE,
    "study-task-suite": SUITE_FILE,
    "study-protocol": PROTOCOL_FILE,
}


def lists_of(oracle: Mapping[str, Any]) -> dict[str, Any]:
    """Every list of cases by name; the nested ones are taken apart."""
    lists: dict[str, Any] = {}
    for name, listed in oracle.items():
        lists.update(UNFOLDED[name](listed) if name in UNFOLDED else {name: listed})
    return lists


def by_seed(listed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Cases of one strategy: seed, size and what is expected."""
    cases: list[dict[str, Any]] = []
    for seed, expected in listed.items():
        if isinstance(expected, list):
            cases += [
                {"id": f"{seed}/{case['sampleSize']}/{'+'.join(case['scenarioIds'])}"}
                | {"seed": seed, **case}
                for case in expected
            ]
        elif "count" in expected:
            cases.append({"id": seed, "seed": seed, **expected})
        else:
            cases += [
                {"id": f"{seed}/{size}", "seed": seed, "sampleSize": int(size), **case}
                for size, case in expected.items()
            ]
    return cases


def unfold_selections(selections: Mapping[str, Any]) -> dict[str, Any]:
    """The lists of selections."""
    lists: dict[str, Any] = {
        f"selections.{name}": by_seed(selections[name])
        for name in ("full", "balancedSamples", "pairwise")
        if name in selections
    }
    if "errors" in selections:
        lists["selections.errors"] = [
            {"id": f"{number}: {case['why']}, {case['sampleSize']}", **case}
            for number, case in enumerate(selections["errors"])
        ]
    if "pilot" in selections:
        lists["selections.pilot"] = [
            {"id": name, "name": name, "expected": expected}
            for name, expected in selections["pilot"].items()
        ]
    return lists


def unfold_worked(worked: Mapping[str, Any]) -> dict[str, Any]:
    """The steps that are shown for one task."""
    return {"worked": [{"id": key, "worked": worked} for key in worked if key not in WORKED_INPUT]}


def unfold_evaluations(listed: Mapping[str, Any]) -> dict[str, Any]:
    """The cases of the evaluator."""
    return {"evaluateStudyTask": listed["cases"]}


def unfold_adjudication(listed: Mapping[str, Any]) -> dict[str, Any]:
    """Cases of the deterministic rule, and the published pilot."""
    lists = {"adjudication": listed.get("cases", [])}
    lists["adjudication.pilotLedger"] = [
        {"id": case["observation"], **case} for case in listed.get("pilotLedger", [])
    ]
    return lists


def unfold_canonicalisation(listed: Mapping[str, Any]) -> dict[str, Any]:
    """Canonical texts, and the order of the locale."""
    lists = {
        "canonicalisation": [{"id": case["why"], **case} for case in listed.get("cases", [])],
    }
    if "localeCompareOrder" in listed:
        lists["canonicalisation.order"] = [{"id": "order", "order": listed["localeCompareOrder"]}]
    return lists


def unfold_verification(listed: Mapping[str, Any]) -> dict[str, Any]:
    """Bindings, the wrapped result and privacy scans."""
    lists = {"verification.binding": listed.get("binding", [])}
    lists["verification.privacyScan"] = listed.get("privacyScan", [])
    if "verifiedResultExample" in listed:
        lists["verification.result"] = [{"id": "example", **listed["verifiedResultExample"]}]
    return lists


def unfold_pilot(listed: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics report of the published pilot."""
    return {"metrics.pilotLedger": [{"id": "pilot", **listed}]}


WORKED_INPUT = {"task", "seed"}
UNFOLDED: dict[str, Callable[[Any], dict[str, Any]]] = {
    "selections": unfold_selections,
    "worked": unfold_worked,
    "evaluateStudyTask": unfold_evaluations,
    "adjudication": unfold_adjudication,
    "canonicalisation": unfold_canonicalisation,
    "verification": unfold_verification,
    "pilotLedger": unfold_pilot,
}


def document(context: Context, file: str) -> Any:
    """A data file."""
    return json.loads(context.read(file))


def payload(value: Mapping[str, Any]) -> dict[str, Any]:
    """An artifact without its two hash keys."""
    return {k: v for k, v in value.items() if k not in ("contentHash", "contentHashAlgo")}


def told(ours: object, theirs: object) -> str | None:
    """What differs, or None."""
    return None if ours == theirs else f"got {ours!r}, expected {theirs!r}"


def edited(value: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """A value after edits by JSON pointer."""
    value = copy.deepcopy(value)
    for operation in operations:
        *parents, last = [
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        ]
        parent = value
        for part in parents:
            parent = parent[int(part)] if isinstance(parent, list) else parent[part]
        if operation["op"] == "remove":
            del parent[int(last) if isinstance(parent, list) else last]
        elif isinstance(parent, list):
            if last == "-":
                parent.append(operation["value"])
            else:
                parent[int(last)] = operation["value"]
        else:
            parent[last] = operation["value"]
    return value


def outcome(attempt: Callable[[], object]) -> dict[str, Any]:
    """What the original's answer would say; wording of shape issues is not part of the contract."""
    try:
        attempt()
    except Defects as defects:
        if defects.issues:
            found = [{"code": issue.code, "path": issue.dotted} for issue in defects.issues]
            return {"ok": False, "errorClass": "ZodError", "issues": found}
        return {"ok": False, "errorClass": "Error", "message": defects.message}
    return {"ok": True}


def contract(expected: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of an expectation that are the contract."""
    kept = dict(expected)
    if "issues" in kept:
        kept["issues"] = [{k: issue[k] for k in ("code", "path")} for issue in kept["issues"]]
    return kept


def attempt(kind: Kind, value: Any, edition: Edition, entry: str = "create") -> dict[str, Any]:
    """Make or read an artifact."""
    if entry == "create":
        return outcome(lambda: artifacts.create(kind, value, edition))
    whole = value if "contentHash" in value else hashing.sealed(value)
    return outcome(lambda: artifacts.read(kind, whole, edition))


def check_edits(kind: Kind, file: str, pick: Callable[[Any], Any] = payload) -> Check:
    """A check of edits to the payload of a data file."""

    def check(case: Any, context: Context) -> str | None:
        value = edited(pick(document(context, file)), case["ops"])
        expected = case["expected"]
        versions = expected if set(expected) <= set(EDITIONS) else {"3224164": expected}
        for version, answer in versions.items():
            ours = attempt(kind, value, EDITIONS[version], case.get("entry", "create"))
            if ours != contract(answer):
                return f"{version}: {told(ours, contract(answer))}"
        return None

    return check


def check_historical(case: Any, context: Context) -> str | None:
    """A registry, then the registry against the protocol."""
    protocol = document(context, PROTOCOL_FILE)
    value = edited(payload(document(context, HISTORY_FILE)), case["ops"])

    def build() -> None:
        registry = artifacts.create(HISTORICAL, value)
        for message, path in studies.check_against_protocol(registry, protocol):
            raise Defects(message=message, path=path)

    return told(outcome(build), contract(case["expected"]))


def seeded_suite(context: Context, seed: str | None = None) -> Any:
    """The canonical suite under a seed."""
    suite = document(context, SUITE_FILE)
    if seed is not None:
        suite["ordering"]["seed"] = seed
    return suite


def compare_rows(rows: list[selection.Execution], expected: Mapping[str, Any]) -> str | None:
    """Rows against their number, hashes and, where they are written out, themselves."""
    texts = [row.row for row in rows]
    ours: dict[str, Any] = {
        "count": len(rows),
        "normalizedHash": hashing.normalized_hash([row.as_json() for row in rows]),
        "rowsSha256": hashlib.sha256("\n".join(texts).encode()).hexdigest(),
        "rows": texts,
    }
    kept = {key: value for key, value in expected.items() if key in ours}
    return told({key: ours[key] for key in kept}, kept)


def check_selection(case: Any, context: Context) -> str | None:
    """The whole list, a balanced or a pairwise sample."""
    sampling = None
    if "scenarioIds" in case:
        sampling = {"strategy": PAIRWISE, "scenarioIds": case["scenarioIds"]}
    suite = seeded_suite(context, case["seed"])
    return compare_rows(selection.select_executions(suite, case.get("sampleSize"), sampling), case)


def select_or_message(suite: Any, size: Any, sampling: Any, expected: Any) -> str | None:
    """A selection that may be refused."""
    if size == "NaN":
        size = math.nan
    try:
        rows = selection.select_executions(suite, size, sampling)
    except selection.SelectionError as error:
        ours = {"ok": False, "errorClass": "Error", "message": str(error)}
        return told(ours, {key: expected.get(key) for key in ours})
    return compare_rows(rows, expected) if expected["ok"] else "was selected"


def check_selection_error(case: Any, context: Context) -> str | None:
    """Sizes and samplings that the original refuses, and one that it takes."""
    return select_or_message(seeded_suite(context), case["sampleSize"], case["sampling"], case)


def check_pilot_selection(case: Any, context: Context) -> str | None:
    """Samples of the pilot suite; a name tells strategy and size."""
    suite, plan = document(context, PILOT_SUITE_FILE), document(context, PILOT_PLAN_FILE)
    if case["name"] == "matchesPublishedLedgerOrder":
        ledger = document(context, LEDGER_FILE)
        sampling = plan["sampling"]
        rows = selection.select_executions(suite, sampling["sampleSize"], sampling)
        published = [found["task"] for found in ledger["observations"]]
        same = [row.as_json() for row in rows] == [
            {key: task[key] for key in rows[0].as_json()} for task in published
        ]
        return told(same, case["expected"])
    named = re.fullmatch(r"(full|balanced|pairwise)(?:-([0-9]+))?(?:-.*)?", case["name"])
    if named is None:
        return "the name tells no strategy"
    sampling = plan["sampling"] if named[1] == "pairwise" else None
    size = int(named[2]) if named[2] else None
    return select_or_message(suite, size, sampling, case["expected"])


def check_worked(case: Any, context: Context) -> str | None:
    """The keys that put rows and tasks in order, written out."""
    worked, key = case["worked"], case["id"]
    suite = seeded_suite(context, worked["seed"])
    every = selection.all_executions(suite, suite["scenarioIds"])
    seed = worked["seed"]
    if key == "pairwiseTaskOrderKeys":
        ours = [{"seed": seed, "taskId": task["id"]} for task in suite["tasks"]]
        return compare_keys(ours, worked[key])
    own = [row for row in every if row.taskId == worked["task"]]
    if key == "step2":
        return compare_keys([{"seed": seed, **row.as_json()} for row in own], worked[key])
    cells = [{"seed": seed, **row.as_json()} for row in own]
    variants = {hashing.normalized_hash(without(cell)): cell["variantId"] for cell in cells}
    for shown in worked[key]:
        if variants.get(shown["sha256"]) != shown["assignedVariant"]:
            return f"another variant for {shown['canonical']}"
    ranked = sorted(variants)
    for shown in worked[key]:
        if ranked[shown["rank"]] != shown["sha256"]:
            return f"another rank for {shown['canonical']}"
    return compare_keys([without(cell) for cell in cells], worked[key])


def without(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A row before it has a wording."""
    return {key: value for key, value in cell.items() if key != "variantId"}


def compare_keys(ours: list[dict[str, Any]], shown: list[Mapping[str, Any]]) -> str | None:
    """Shown canonical texts and hashes against ours, in order of the hash where all are shown."""
    texts = {
        hashing.normalized_hash(value): hashing.normalized_text(value).decode() for value in ours
    }
    for line in shown:
        if texts.get(line["sha256"]) != line["canonical"]:
            return f"no such key: {line['canonical']}"
    hashes = [line["sha256"] for line in shown]
    return told(hashes, sorted(texts)) if len(hashes) == len(texts) else None


def task_of(context: Context, name: str) -> Mapping[str, Any]:
    """A task of the suite, or one that the oracle makes up."""
    made_up = context.oracle["evaluateStudyTask"]["tasks"].get(name)
    if made_up is not None:
        return {
            "checks": len(made_up["acceptanceChecks"]),
            "required": made_up["evidenceRequirements"],
        }
    task = next(task for task in seeded_suite(context)["tasks"] if task["id"] == name)
    return {
        "checks": len(task["acceptanceChecks"]),
        "required": [evidence["id"] for evidence in task["evidenceRequirements"]],
    }


def check_evaluation(case: Any, context: Context) -> str | None:
    """The evaluator."""
    task = task_of(context, case["task"])
    ours = evaluate_task(task["checks"], len(task["required"]), case["input"])
    return told(ours, case["expected"])


def check_adjudication(case: Any, context: Context) -> str | None:
    """The deterministic rule of each edition."""
    task, given = task_of(context, case["task"]), case["input"]
    ours = {
        version: adjudicate(
            status=given["executionStatus"],
            counts=Counts.of(given["measurements"]),
            evidence_ids=given["evidenceIds"],
            checks=task["checks"],
            required=task["required"],
            edition=EDITIONS[version],
        )
        for version in case["expected"]
    }
    return told(ours, case["expected"])


def check_pilot_adjudication(case: Any, context: Context) -> str | None:
    """A published observation by every edition, and what was published."""
    tasks = {task["id"]: task for task in document(context, PILOT_SUITE_FILE)["tasks"]}
    keys = ("taskId", "scenarioId", "modelId", "replicate", "variantId")
    for found in document(context, LEDGER_FILE)["observations"]:
        if "|".join(str(found["task"][key]) for key in keys) != case["observation"]:
            continue
        task = tasks[found["task"]["taskId"]]
        ours = {
            version: adjudicate(
                status=found["execution"]["status"],
                counts=Counts.of(found.get("measurements")),
                evidence_ids=found["evidenceIds"],
                checks=len(task["acceptanceChecks"]),
                required=[evidence["id"] for evidence in task["evidenceRequirements"]],
                edition=edition,
            )
            for version, edition in EDITIONS.items()
        }
        ours["published"] = found["adjudication"]["outcome"]
        return told(ours, {key: case[key] for key in ours})
    return "no such observation"


def check_safe_text(case: Any, _context: Context) -> str | None:
    """Whether a text may be published."""
    return told(is_safe(case["text"]), case["safe"])


def check_canonical(case: Any, _context: Context) -> str | None:
    """The normalised text and its hash."""
    value = json.loads(case["jsonInput"])
    ours = [hashing.normalized_text(value), hashing.normalized_hash(value)]
    return told(ours, [case["canonical"].encode("utf-8", "backslashreplace"), case["sha256"]])


def check_order(case: Any, _context: Context) -> str | None:
    """The order in which groups are listed."""
    return told(sorted(case["order"], key=rounds.collated), list(case["order"]))


def build_ledger(*found: Mapping[str, Any]) -> dict[str, Any]:
    """A ledger of the given observations."""
    return artifacts.create(
        observations.LEDGER,
        {
            "type": "controlled-study-observation-ledger",
            "schemaVersion": 1,
            "ledgerVersion": "v1",
            "observations": list(found),
        },
    )


def check_ledger(case: Any, context: Context) -> str | None:
    """What may come together in a ledger; the cases are told by their names."""
    first = document(context, LEDGER_FILE)["observations"][0]

    def changed(path: str, value: Any) -> dict[str, Any]:
        ops = [{"op": "set", "path": path, "value": value}]
        return artifacts.create(observations.OBSERVATION, edited(payload(first), ops))

    def stale() -> dict[str, Any]:
        value = build_ledger(first)
        value["observations"] = [{**first, "contentHash": "0" * 64}]
        return artifacts.read(observations.LEDGER, hashing.sealed(payload(value)))

    def add(other: Mapping[str, Any]) -> Callable[[], dict[str, Any]]:
        return lambda: observations.upsert(build_ledger(first), other)

    hashes: dict[str, Callable[[], dict[str, Any]]] = {
        "empty-ledger-hash": build_ledger,
        "one-observation-hash": lambda: build_ledger(first),
    }
    if case["id"] in hashes:
        return told(hashes[case["id"]]()["contentHash"], case["expected"])
    attempts: dict[str, Callable[[], dict[str, Any]]] = {
        "same-run-and-task-different-contents": lambda: add(
            changed("/contextBytes", first["contextBytes"] + 1)
        )(),
        "same-run-and-task-same-contents": add(first),
        "same-task-other-run": lambda: add(changed("/runId", "another-run"))(),
        "same-run-task-differs-only-in-difficulty": lambda: add(
            changed("/task/difficulty", "hard")
        )(),
        "same-run-task-differs-only-in-variant": lambda: add(
            changed("/task/variantId", "variant-z")
        )(),
        "duplicate-observation-in-ledger": lambda: build_ledger(first, first),
        "inner-observation-hash-not-rechecked": stale,
    }
    if case["id"] not in attempts:
        return "no such construction"
    return told(outcome(attempts[case["id"]]), contract(case["expected"]))


def check_scan(case: Any, context: Context) -> str | None:
    """A privacy scan of a value or of a data file."""
    value = (
        case["input"] if case["type"] is None else document(context, FILES_BY_TYPE[case["type"]])
    )
    ours = scan(value).as_json()
    return told(ours, {key: case[key] for key in ours})


def check_result(case: Any, context: Context) -> str | None:
    """A value wrapped with the published binding."""
    wrapped = studies.verified_result(case["result"], document(context, BINDING_FILE))
    return told(wrapped["contentHash"], case["contentHash"])


def check_pilot_metrics(case: Any, context: Context) -> str | None:
    """The report on the published pilot."""
    report = rounds.report_of(document(context, LEDGER_FILE)["observations"])
    ours = {
        **report,
        "groupOrder": [f"{group['scope']}/{group['key']}" for group in report["groups"]],
        "comparisonStatuses": statuses(report),
    }
    kept = {key: value for key, value in case.items() if key != "id"}
    return told({key: ours.get(key) for key in kept}, kept)


def statuses(report: Mapping[str, Any]) -> list[list[str]]:
    """The word for every comparison."""
    return [[item["scope"], item["key"], item["status"]] for item in report["comparisons"]]


def check_scenario(case: Any, _context: Context) -> str | None:
    """The report on a few observations."""
    report = rounds.report_of(case["observations"], case["options"])
    overall = [item for item in report["comparisons"] if item["scope"] == "aggregate"]
    ours = {
        **report,
        "aggregateGroups": [g for g in report["groups"] if g["scope"] == "aggregate"],
        "aggregateComparison": overall[0] if overall else None,
        "statuses": statuses(report),
    }
    expected = case["expected"]
    return told({key: ours.get(key) for key in expected}, expected)


CHECKS: dict[str, Check] = {
    "selections.full": check_selection,
    "selections.balancedSamples": check_selection,
    "selections.pairwise": check_selection,
    "selections.errors": check_selection_error,
    "selections.pilot": check_pilot_selection,
    "worked": check_worked,
    "evaluateStudyTask": check_evaluation,
    "adjudication": check_adjudication,
    "adjudication.pilotLedger": check_pilot_adjudication,
    "invalidSuites": check_edits(SUITE, SUITE_FILE),
    "safeText": check_safe_text,
    "canonicalisation": check_canonical,
    "canonicalisation.order": check_order,
    "runPlans": check_edits(PLAN, PLAN_FILE),
    "observations": check_edits(
        observations.OBSERVATION, LEDGER_FILE, lambda ledger: payload(ledger["observations"][0])
    ),
    "ledgers": check_ledger,
    "protocol": check_edits(PROTOCOL, PROTOCOL_FILE),
    "historical": check_historical,
    "verification.binding": check_edits(BINDING, BINDING_FILE),
    "verification.privacyScan": check_scan,
    "verification.result": check_result,
    "metrics.pilotLedger": check_pilot_metrics,
    "scenarios": check_scenario,
}
