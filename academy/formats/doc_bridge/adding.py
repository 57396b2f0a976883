"""Documents that come after their suite: run plans, protocols, bindings, evidence, coverage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from academy.bundle import JSON, BindingSpec, PlanSpec, SuiteSpec
from academy.errors import AcademyError
from academy.formats.doc_bridge.companions import binds
from academy.formats.doc_bridge.plans import PLAN
from academy.formats.doc_bridge.studies import BINDING
from academy.formats.doc_bridge.suites import SUITE
from academy.formats.reading import read_json

BOUND = ("sourceRevisionHash", "protocolHash", "configurationHash", "baselineHash")


def kept_with(suite: SuiteSpec) -> dict[str, Any]:
    """The documents kept with a suite, by path."""
    companions = suite.extra.get("companions")
    return dict(companions) if isinstance(companions, Mapping) else {}


def add_companions(suite: SuiteSpec, documents: Mapping[str, bytes]) -> SuiteSpec:
    """The suite with the documents that it does not keep yet, under their paths.

    The suite's own file written otherwise is none. Raises AcademyError for other content under a
    path that is taken.
    """
    kept = kept_with(suite)
    added: list[str] = []
    for path, data in sorted(documents.items()):
        value = read_json(data, path=path)
        if not isinstance(value, Mapping) or value.get("type") == SUITE.type:
            continue
        if value in kept.values():
            continue
        if path in kept or path in suite.sources:
            raise AcademyError(
                f"{path} is kept with {suite.slug}@{suite.version} with other content; "
                "what is kept does not change, so give the new file another name."
            )
        kept[path] = value
        added.append(path)
    extra: dict[str, JSON] = {**suite.extra, "companions": kept}
    return replace(suite, extra=extra, sources=(*suite.sources, *added))


def plans(suite: SuiteSpec) -> tuple[PlanSpec, ...]:
    """The run plans kept with a suite, and the verification runs that vouch for each."""
    documents = [one for one in kept_with(suite).values() if isinstance(one, Mapping)]
    bindings = [one for one in documents if one.get("type") == BINDING.type]
    found = {one["contentHash"]: one for one in documents if one.get("type") == PLAN.type}
    return tuple(plan_of(suite, plan, bindings) for plan in found.values())


def plan_of(
    suite: SuiteSpec, plan: Mapping[str, Any], bindings: list[Mapping[str, Any]]
) -> PlanSpec:
    """A run plan as plain values."""
    population = suite.attributes.get("planned_executions")
    return PlanSpec(
        name=plan["planVersion"],
        plan_hash=plan["contentHash"],
        suite_hash=plan["taskSuiteHash"],
        protocol_hash=plan["protocolHash"],
        source_revision=plan["sourceRevisionHash"],
        configuration_hash=plan["configurationHash"],
        seed=str(suite.attributes.get("seed", "")),
        strategy=plan["sampling"]["strategy"],
        sample=int(plan["sampling"]["sampleSize"]),
        population=population if isinstance(population, int) else 0,
        is_pilot=bool(suite.attributes.get("is_pilot")),
        content=plan,
        bindings=tuple(
            BindingSpec(
                verification_run=one["verificationRunId"],
                hashes={**{name: one[name] for name in BOUND}, **one["artifactHashes"]},
                content=one,
            )
            for one in bindings
            if binds(one, plan)
        ),
    )
