"""The documents around a suite: which suite they belong to, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from academy.bundle import FileReport, FileStatus
from academy.formats.doc_bridge.documents import (
    COVERAGE_TYPE,
    RUN_TYPES,
    Document,
    is_piece,
    refused,
)
from academy.formats.doc_bridge.expectations import is_expectations
from academy.formats.doc_bridge.plans import PLAN, PROVIDERS, REPOSITORIES
from academy.formats.doc_bridge.scorecard import SCORECARD_TYPE
from academy.formats.doc_bridge.studies import (
    BINDING,
    HISTORICAL,
    PROTOCOL,
    check_against_protocol,
)
from academy.formats.doc_bridge.suites import SUITE

LOCAL = "local to the machine of a run; it is checked and nothing of it is kept"
REASONS: Mapping[str, str] = {
    PROVIDERS.type: LOCAL,
    REPOSITORIES.type: LOCAL,
    SCORECARD_TYPE: "readiness thresholds; they belong to no suite and nothing of them is loaded",
    "controlled-study-metrics": "a report; it is computed again from records",
    "controlled-study-verified-result": "a result with its binding; nothing of it is loaded",
}
RUN_REASON = "observations; load this file as a run of its suite"
RESULT_REASON = "a published result; its numbers are computed from records, nothing is loaded"
ORPHANS: Mapping[str, str] = {
    PLAN.type: "a run plan for the suite {suite}, which is not in this upload",
    PROTOCOL.type: "a protocol that no plan or suite of this upload names",
    HISTORICAL.type: "historical evidence on no repository of a suite of this upload",
    BINDING.type: "a verification binding for a revision and configuration that no plan here has",
    COVERAGE_TYPE: "coverage of the suite {suite}, which is not in this upload",
}


@dataclass(slots=True)
class Family:
    """A suite and the documents that belong to it, by path."""

    suite: Document
    members: dict[str, Document] = field(default_factory=dict)

    def of(self, kind_type: str) -> list[Document]:
        """The members of one type."""
        return [member for member in self.members.values() if member.type == kind_type]


def families_of(documents: Sequence[Document]) -> list[Family]:
    """Every sound suite with the sound documents that belong to it, nearest links first."""
    families = [Family(found) for found in documents if found.kind is SUITE and not found.defects]
    sound = [found for found in documents if found.kind is not SUITE and not found.defects]
    for belongs in (plan_belongs, protocol_belongs, other_belongs):
        for found in sound:
            for family in families:
                if belongs(found, family):
                    family.members[found.path] = found
    for family in families:
        family.members = dict(sorted(family.members.items()))
    return families


def plan_belongs(found: Document, family: Family) -> bool:
    """A plan names its suite by hash."""
    return found.kind is PLAN and bool(found.value["taskSuiteHash"] == family.suite.hash)


def protocol_belongs(found: Document, family: Family) -> bool:
    """A protocol is named by hash in a plan; by its version only where no plan speaks."""
    if found.kind is not PROTOCOL:
        return False
    named = {plan.value["protocolHash"] for plan in family.of(PLAN.type)}
    if named:
        return found.hash in named
    known = {repository["id"] for repository in found.value["repositories"]}
    suite = family.suite.value
    return (
        found.value["protocolVersion"] == suite["protocolVersion"]
        and set(suite["population"]) <= known
    )


def other_belongs(found: Document, family: Family) -> bool:
    """Evidence on its repositories, bindings of its plans, coverage by hash."""
    suite = family.suite.value
    if found.kind is HISTORICAL:
        subjects = {record["subject"]["id"] for record in found.value["records"]}
        return bool(subjects & set(suite["population"]))
    if found.kind is BINDING:
        return any(binds(found.value, plan.value) for plan in family.of(PLAN.type))
    return found.type == COVERAGE_TYPE and bool(
        found.value.get("suiteContentHash") == family.suite.hash
    )


def binds(binding: Mapping[str, Any], plan: Mapping[str, Any]) -> bool:
    """Whether a binding vouches for the state that a plan names."""
    return all(
        binding[name] == plan[name]
        for name in ("sourceRevisionHash", "protocolHash", "configurationHash")
    )


def check_families(families: Sequence[Family]) -> None:
    """Hold historical evidence against the protocol that belongs to the same suite."""
    for family in families:
        for protocol in family.of(PROTOCOL.type):
            for registry in family.of(HISTORICAL.type):
                for message, path in check_against_protocol(registry.value, protocol.value):
                    registry.add(message, path, "cross-check")
        family.members = {
            path: member for path, member in family.members.items() if not member.defects
        }


def report_on(found: Document, families: Sequence[Family], slugs: Mapping[str, str]) -> FileReport:
    """What became of a document that is no suite."""
    if found.defects:
        return refused(found)
    owners = [family for family in families if found.path in family.members]
    if owners:
        slug = slugs[owners[0].suite.path]
        label = found.kind.label if found.kind else "document"
        named = ", ".join(slugs[owner.suite.path] for owner in owners)
        reason = f"kept with {named} as its {label}"
        return FileReport(found.path, FileStatus.RECOGNISED, reason, slug)
    return FileReport(found.path, FileStatus.RECOGNISED, orphan_reason(found))


def orphan_reason(found: Document) -> str:
    """Why a sound document is not kept."""
    if found.type in RUN_TYPES or is_piece(found.value):
        return RUN_REASON
    if found.type in ORPHANS:
        suite = found.value.get("taskSuiteHash", found.value.get("suiteContentHash", ""))
        return ORPHANS[found.type].format(suite=suite)
    if is_expectations(found.value):
        return "local expectations; they are never published, so nothing of them is kept"
    return REASONS.get(found.type, RESULT_REASON)
