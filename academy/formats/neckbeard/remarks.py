"""What is said about a fixture, under a code of its own, and what each code means for an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from academy.errors import Problem, Severity


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark on one fixture. `code` may end in `:<field>`, `mild` makes an error a warning."""

    code: str
    message: str
    field: str = ""
    line: int | None = None
    mild: bool = False

    @property
    def family(self) -> str:
        """The code without its field."""
        return self.code.partition(":")[0]

    @property
    def severity(self) -> Severity:
        """How severe an import takes it."""
        severity = RULES[self.family][1]
        return WARNING if self.mild and severity is ERROR else severity

    def as_problem(self, file: str) -> Problem:
        """The remark as an import reports it: a rule name, and how severe the import takes it."""
        rule = RULES[self.family][0]
        return Problem(file, rule, self.message, self.line, pointer_to(self.field), self.severity)

    def as_code(self, file: str) -> Problem:
        """The remark as the compatibility report tells it: under its code."""
        place = pointer_to(self.field)
        return Problem(file, self.code, self.message, self.line, place, self.severity)


def pointer_to(field: str) -> str:
    """The JSON pointer of a field of the document's top."""
    return f"/{field.replace('~', '~0').replace('/', '~1')}" if field else ""


ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
# S: the written schema. J: the journey rules. U: the schema is silent, so a verdict by the schema
# is "unspecified". H: ours, the schema is content.
RULES: Mapping[str, tuple[str, Severity]] = MappingProxyType(
    {
        "S-YAML": ("yaml-syntax", ERROR),
        "S-YAML-TOP": ("not-a-mapping", ERROR),
        "S-REQ": ("required-field", ERROR),
        "S-TYPE": ("field-type", ERROR),
        "S-ENUM": ("unknown-word", ERROR),
        "S-ID-DIR": ("id-differs-from-folder", ERROR),
        "S-UNIQUE": ("double-id", ERROR),
        "S-LAYOUT": ("layout", ERROR),
        "S-KIND": ("unknown-kind", ERROR),
        "S-PHASE-FORMAT": ("phase-form", ERROR),
        "S-PHASE-UNKNOWN": ("unknown-phase", ERROR),
        "S-PHASE-LABEL": ("phase-name", ERROR),
        "S-PHASE-EMPTY": ("no-phases", ERROR),
        "S-SKIP-REASON": ("skip-without-reason", ERROR),
        "S-SKIP-GATE-REASON": ("skip-without-reason", ERROR),
        "S-GATE-FORMAT": ("gate-form", ERROR),
        "S-GATE-UNKNOWN": ("unknown-gate", ERROR),
        "S-GATE-VERDICT-MISSING": ("gate-without-verdict", ERROR),
        "S-GATE-VERDICT": ("unknown-verdict", ERROR),
        "S-GATE-DESC": ("gate-without-description", ERROR),
        "S-FULL-PHASES": ("full-path-phases", ERROR),
        "S-FULL-GATES": ("full-path-gates", ERROR),
        "S-FULL-SHA": ("full-path-sha", ERROR),
        "S-SHA-FORM": ("sha-form", ERROR),
        "J-MANDATORY-PHASE": ("mandatory-phase", ERROR),
        "J-SKIP-FORBIDDEN": ("forbidden-skip", ERROR),
        "J-SILENT-PHASE": ("silent-phase", ERROR),
        "J-PHASE-BOTH": ("phase-in-both-lists", ERROR),
        "J-PHASE-ORDER": ("phase-order", WARNING),
        "J-MANDATORY-GATE": ("mandatory-gate", ERROR),
        "J-SILENT-GATE": ("silent-gate", ERROR),
        "J-GATE-BOTH": ("gate-in-both-lists", ERROR),
        "J-GATE-REPEATED": ("gate-repeated", ERROR),
        "J-BLOCKED-STATE": ("blocked-gate-state", ERROR),
        "U-ID": ("id-form", WARNING),
        "U-FIELD": ("unknown-field", WARNING),
        "U-INTENT": ("intent-outside-adversarial", WARNING),
        "U-KIND": ("empty-kind", WARNING),
        "U-SHA": ("short-sha", WARNING),
        "U-REENTRY": ("phase-reentry", INFO),
        "U-REASON": ("trivial-reason", WARNING),
        "U-LIMIT": ("limit", ERROR),
        "U-SEPARATOR": ("line-separator", ERROR),
        "U-MERGE": ("yaml-merge", ERROR),
        "H-ALIAS": ("yaml-alias", ERROR),
        "H-ENCODING": ("encoding", ERROR),
        "H-TEXT": ("text", ERROR),
        "H-INTENT": ("adversarial-intent", ERROR),
        "H-TAG": ("yaml-tag", WARNING),
        "H-TYPED": ("text-like-number", WARNING),
        "H-TAB": ("tab-after-colon", WARNING),
        "H-SEPARATOR": ("line-separator-in-quotes", WARNING),
        "H-CR": ("line-ends", WARNING),
    }
)


def verdict_of(remarks: tuple[Remark, ...]) -> str:
    """What the written schema says: "invalid", "unspecified" where it is silent, or "valid"."""
    if any(remark.code.startswith("S-") for remark in remarks):
        return "invalid"
    silent = any(remark.code.startswith(("U-", "J-")) for remark in remarks)
    return "unspecified" if silent else "valid"
