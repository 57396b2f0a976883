"""The routing table of one revision: 28 specialists, when each applies, when it is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from academy.bundle import JSON

REVISION = "f7d550bb6b24f001a386a7ac42d4026dcfc785f2"


@dataclass(frozen=True, slots=True)
class Row:
    """A specialist. `surfaces` are the change surfaces that lead to it.

    A `conditional` row applies to public repositories only.
    """

    skill: str
    applies_when: str
    skip_when: str
    provides: tuple[str, ...]
    surfaces: tuple[str, ...]
    conditional: bool = False

    def as_json(self) -> dict[str, JSON]:
        """The row as plain values."""
        return {
            "skill": self.skill,
            "applies_when": self.applies_when,
            "skip_when": self.skip_when,
            "neckbeard_provides": list(self.provides),
            "change_surfaces": list(self.surfaces),
            "conditional": self.conditional,
        }


ROWS = (
    Row(
        "product-discovery",
        "request without testable acceptance criteria, without a requirements "
        "artifact, or with a scope the stakeholders dispute",
        "scope fully specified, criteria testable, nobody disputes it",
        (
            "Contract",
            "ledger",
        ),
        ("Ambiguous scope",),
    ),
    Row(
        "product-methodology",
        "several requirements documents, backlog items or issues compete over one "
        "area, or a sequence or priority must be recorded",
        "requirements single and uncontested; nothing to prioritise",
        (
            "Contract",
            "ledger",
        ),
        ("Ambiguous scope",),
    ),
    Row(
        "product-design-and-ux",
        "what users see or how they move through it changes: templates, components, "
        "routes, flows, structure of information, UI state",
        "none of these created or changed",
        (
            "Contract",
            "ledger",
        ),
        ("User-facing behavior",),
    ),
    Row(
        "spec-driven-development",
        "a formal specification with gates, mapped criteria and decomposition is "
        "needed (SPEC.md, TASK-PLAN.md)",
        "one-surface fix that the change contract describes fully",
        (
            "Contract",
            "ledger",
            "stop rules",
        ),
        (),
    ),
    Row(
        "software-architecture-analysis",
        "module boundaries, service dependencies, cross-service contracts or system "
        "structure changed or to be understood",
        "confined to one function or module, no dependency or structure across components",
        (
            "Ledger",
            "assumptions list",
        ),
        ("Architecture",),
    ),
    Row(
        "c4-diagramming",
        "architecture change over several containers or services whose record needs diagrams",
        "fits within one container or service, no diagram needed",
        ("Ledger",),
        ("Architecture",),
    ),
    Row(
        "adr-authoring",
        "a weighty, hard-to-reverse technical decision must be recorded",
        "no such decision beyond the change contract",
        (
            "Decision-record template",
            "ledger",
        ),
        ("Architecture",),
    ),
    Row(
        "api-design-and-evolution",
        "a public API surface changed or created: OpenAPI/AsyncAPI, protobuf/gRPC, "
        "REST, GraphQL, webhook contract, SDK",
        "no public interface or protocol definition touched",
        (
            "Contract",
            "ledger",
            "boundary verification",
        ),
        ("API/interface",),
    ),
    Row(
        "systematic-debugging",
        "a bug, failure or regression is reported with logs, traces or steps and the "
        "root cause must be found",
        "not a bug fix; no failure evidence; wanted behaviour known",
        (
            "Contract",
            "ledger",
            "boundary verification",
        ),
        (),
    ),
    Row(
        "secure-software-engineering",
        "auth, untrusted-input handling, secrets, cryptography or code across a trust "
        "boundary touched",
        "none of these in the change surface",
        (
            "Contract",
            "ledger",
            "trust-boundary checks",
        ),
        ("Security",),
    ),
    Row(
        "security-audit-methodology",
        "an audit artifact is asked for (SECURITY-AUDIT.md, threat model, STRIDE), or "
        "such files are touched and a review after the build is required",
        "no audit asked for and no such files in need of one",
        ("Ledger",),
        ("Security",),
    ),
    Row(
        "web-accessibility",
        "user-facing markup, styles, ARIA, keyboard/focus contracts or error-recovery "
        "UI changed; WCAG in scope",
        "none of these touched",
        (
            "Ledger",
            "non-negotiable confirmation",
        ),
        ("User-facing behavior",),
    ),
    Row(
        "qa-methodology",
        "VERIFICATION-PLAN.md or a test strategy required, CI quality gates changed, "
        "or an independent owner of the plan needed",
        "none of these beyond the implementer's own focused tests",
        (
            "Ledger",
            "boundary verification",
        ),
        (),
    ),
    Row(
        "technical-documentation",
        "documentation for users or consumers changes: README, reference, guides, inline docs",
        "none of these touched",
        ("Ledger",),
        ("Documentation",),
    ),
    Row(
        "verification-methodology",
        "a VERIFICATION.md verdict with layered evidence is required at the delivery boundary",
        "one focused test run, no such artifact",
        (
            "Ledger",
            "boundary rules",
        ),
        (),
    ),
    Row(
        "release-engineering",
        "version files, changelogs, release configuration, promotion rules, rollout or "
        "rollback changed",
        "none of these touched",
        (
            "Contract",
            "ledger",
            "rollback evidence",
        ),
        ("Operational",),
    ),
    Row(
        "site-reliability-engineering",
        "SLO/SLI, incident runbooks, recovery procedures, dashboards or alerting changed",
        "none of these touched",
        (
            "Contract",
            "ledger",
            "rollback evidence",
        ),
        ("Operational",),
    ),
    Row(
        "platform-engineering",
        "infrastructure as code, deployment pipelines, container/orchestration or "
        "provisioning files changed",
        "none of these changed",
        (
            "Contract",
            "ledger",
        ),
        ("Operational",),
    ),
    Row(
        "programming-principles",
        "mainly a refactoring, a code review or a quality assessment; wide structural "
        "reorganisation",
        "new implementation or targeted bug fix, no structural reorganisation or "
        "review as the main aim",
        (
            "Contract",
            "ledger",
            "boundary verification",
        ),
        (),
    ),
    Row(
        "backend-engineering",
        "server-side logic, service architecture, database access, API implementation, "
        "middleware or integration changed",
        "none of these changed",
        (
            "Contract",
            "ledger",
        ),
        ("Implementation domain",),
    ),
    Row(
        "frontend-engineering",
        "client application code, components, state, browser APIs or rendering changed",
        "none of these changed",
        (
            "Contract",
            "ledger",
        ),
        (
            "User-facing behavior",
            "Implementation domain",
        ),
    ),
    Row(
        "mobile-development",
        "source of a mobile app changes, on any of iOS, Android, Flutter, React Native",
        "no mobile source touched; web or backend only",
        (
            "Contract",
            "ledger",
        ),
        (
            "Implementation domain",
            "Mobile app code",
        ),
    ),
    Row(
        "documents",
        "a PDF, Word, Excel or PowerPoint deliverable is wanted for people",
        "markdown or the repository's own format; no office file asked for",
        (
            "Contract",
            "ledger",
        ),
        ("Office-format deliverables",),
    ),
    Row(
        "cli-builder",
        "a command-line interface created or changed: arguments, flags, subcommands, "
        "JSON output, dry run, exit codes",
        "none of these touched",
        (
            "Contract",
            "ledger",
        ),
        ("Implementation domain",),
    ),
    Row(
        "data-engineering",
        "schemas, migrations, ETL/ELT, data quality checks or analytical SQL changed",
        "none of these touched",
        (
            "Contract",
            "ledger",
        ),
        ("Data (schema/migration)",),
    ),
    Row(
        "data-architect",
        "a data-model artifact, storage evaluation, governance definition or "
        "cross-system data flow needed first",
        "none needed; schema changes mechanical",
        (
            "Contract",
            "ledger",
        ),
        ("Data (schema/migration)",),
    ),
    Row(
        "agent-evals-and-observability",
        "agent behaviour changed: evals, task contracts, graders, trajectory fixtures, "
        "prompt templates, telemetry",
        "none of these touched",
        (
            "Contract",
            "ledger",
        ),
        ("AI/agent behavior",),
    ),
    Row(
        "opensource-contributions",
        "public remote, open-source licence and a contribution guide all present, and "
        "contribution norms arise (public/OSS only)",
        "private or internal repository, recorded as non-public repository; also where "
        "no norm question arises",
        (
            "Contract",
            "ledger",
        ),
        (),
        conditional=True,
    ),
)
BY_SKILL: Mapping[str, Row] = MappingProxyType({row.skill: row for row in ROWS})
CROSS_CUTTING = (
    "spec-driven-development",
    "systematic-debugging",
    "qa-methodology",
    "verification-methodology",
    "programming-principles",
)
# Work that belongs to one specialist outright, so that the whole journey is not due.
WHOLE_HANDOVER: Mapping[str, str] = MappingProxyType(
    {
        "technical-documentation": "pure documentation without delivery risk",
        "systematic-debugging": "self-contained debugging, only cause and fix wanted",
        "spec-driven-development": "formal specification writing",
    }
)
# The specialist whose engagement goes with a phase that can be skipped.
PHASE_SKILLS: Mapping[str, str] = MappingProxyType(
    {
        "3": "software-architecture-analysis",
        "4": "spec-driven-development",
        "5": "qa-methodology",
    }
)


def as_json() -> dict[str, JSON]:
    """The table as it is stored beside the verdicts of reviewers."""
    return {
        "revision": REVISION,
        "rows": [row.as_json() for row in ROWS],
        "cross_cutting": list(CROSS_CUTTING),
        "whole_handover": dict(WHOLE_HANDOVER),
        "no_specialist": "allowed when no row applies; the run must say so in its own words",
        "leads": "one lead per stage",
    }
