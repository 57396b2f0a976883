"""What a study wants to be executed, as the plan of a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from academy.bundle import JSON, SuiteSpec
from academy.errors import AcademyError
from academy.formats.doc_bridge.hashing import normalized_hash
from academy.formats.doc_bridge.plans import BALANCED, PAIRWISE, PLAN
from academy.formats.doc_bridge.sampling import select_corrected
from academy.formats.doc_bridge.selection import Execution, select_executions
from academy.formats.doc_bridge.suites import planned_runs
from academy.formats.doc_bridge.tasks import native_suite
from academy.scorers.base import Mode

STRATEGIES: Final[Mapping[str, str]] = {
    "": "",
    "full": "",
    "balanced": BALANCED,
    BALANCED: BALANCED,
    "pairwise": PAIRWISE,
    PAIRWISE: PAIRWISE,
}
OPTIONS: Final = ("sample", "strategy", "scenarios", "mode", "plan")


def plan(suite: SuiteSpec, options: Mapping[str, JSON]) -> JSON:
    """The executions that are wanted, in order.

    Options: `sample` (a size; none wants everything), `strategy` ("full", "balanced",
    "pairwise"), `scenarios` (two ids for pairwise; without them the suite's first two), `mode`
    ("reference", as the original selects, or "strict", with its faults put right), `plan` (the
    version, run id or hash of a run plan kept with the suite, which then says the rest). Raises
    AcademyError for what cannot be selected.
    """
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise AcademyError(f"A plan has no option {unknown[0]!r}; known are {', '.join(OPTIONS)}.")
    document = native_suite(suite)
    size, sampling, source = asked_sample(suite, document, options)
    mode = chosen_mode(options.get("mode"))
    select = select_executions if mode is Mode.REFERENCE else select_corrected
    rows = select(document, size, sampling)
    return {
        "mode": str(mode),
        "strategy": sampling.get("strategy") or "full",
        "sample": size,
        "scenarios": list(sampling.get("scenarioIds") or document["scenarioIds"]),
        "plan": source,
        "seed": document["ordering"]["seed"],
        "suite_hash": document["contentHash"],
        "population": list(document["population"]),
        "tasks": len(document["tasks"]),
        "replicates": int(document["replicatesPerTask"]),
        "planned_executions": planned_runs(document),
        "is_sample": len(rows) < planned_runs(document),
        "is_pilot": bool(suite.attributes.get("is_pilot")),
        "wanted": len(rows),
        "normalized_hash": normalized_hash([row.as_json() for row in rows]),
        "strata": strata_of(rows),
        "executions": [wanted(document, row) for row in rows],
    }


def asked_sample(
    suite: SuiteSpec, document: Mapping[str, Any], options: Mapping[str, JSON]
) -> tuple[float | None, dict[str, Any], JSON]:
    """Size, sampling, and the name of the run plan that said so."""
    if options.get("plan"):
        kept = kept_plan(suite, str(options["plan"]))
        sampling = dict(kept["sampling"])
        return sampling.pop("sampleSize"), sampling, kept["planVersion"]
    named = str(options.get("strategy") or "")
    if named not in STRATEGIES:
        raise AcademyError(f"There is no strategy {named!r}; known are full, balanced, pairwise.")
    size = options.get("sample")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int | float)):
        raise AcademyError(f"The sample must be a number, not {size!r}.")
    sampling = {"strategy": STRATEGIES[named]} if STRATEGIES[named] else {}
    if sampling.get("strategy") == PAIRWISE:
        scenarios = options.get("scenarios") or list(document["scenarioIds"][:2])
        if not isinstance(scenarios, list | tuple):
            raise AcademyError("The scenarios of a pairwise sample must be a list of ids.")
        sampling["scenarioIds"] = list(scenarios)
    return size, sampling, None


def kept_plan(suite: SuiteSpec, name: str) -> Mapping[str, Any]:
    """A run plan kept with the suite, by version, run id or hash."""
    companions = suite.extra.get("companions")
    documents = companions.values() if isinstance(companions, Mapping) else ()
    plans = [one for one in documents if isinstance(one, Mapping) and one["type"] == PLAN.type]
    for one in plans:
        if name in (one["planVersion"], one["runId"], one["contentHash"]):
            return one
    known = ", ".join(str(one["planVersion"]) for one in plans) or "none"
    raise AcademyError(f"The suite keeps no run plan {name!r}; known: {known}.")


def chosen_mode(value: JSON) -> Mode:
    """The mode by its name; the original's selection where none is named."""
    try:
        return Mode(str(value or Mode.REFERENCE))
    except ValueError:
        raise AcademyError(f"There is no mode {value!r}; known are reference and strict.") from None


def strata_of(rows: Sequence[Execution]) -> list[JSON]:
    """How many executions each model, scenario and replicate has."""
    counts = Counter((row.modelId, row.scenarioId, row.replicate) for row in rows)
    return [
        {"model": model, "scenario": scenario, "replicate": replicate, "wanted": count}
        for (model, scenario, replicate), count in sorted(counts.items())
    ]


def wanted(document: Mapping[str, Any], row: Execution) -> dict[str, JSON]:
    """A row in the original's words, and where its record will be."""
    task = next(task for task in document["tasks"] if task["id"] == row.taskId)
    variants = [variant["id"] for variant in task["variants"]]
    return {
        **row.as_json(),
        "record": {
            "task": row.taskId,
            "model": row.modelId,
            "scenario": row.scenarioId,
            "replicate": row.replicate + 1,
            "variant": variants.index(row.variantId),
        },
    }
