"""The two errors that somebody can put right, and the rows in which their places are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum

SHOWN_PROBLEMS = 50


class Severity(StrEnum):
    """How much a problem matters: an error refuses, a warning and a note are only told."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong or worth knowing, and where: the row of every report."""

    file: str
    rule: str
    message: str
    line: int | None = None
    pointer: str = ""
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        pointer = f" {self.pointer}" if self.pointer else ""
        return f"{self.file}{line}{pointer}: {self.message} [{self.rule}]"

    def as_row(self) -> dict[str, object]:
        """The problem as plain values, always with the same keys."""
        return {**asdict(self), "severity": self.severity.value}


class AcademyError(Exception):
    """Something a person can put right; the text is a whole sentence that they may read."""


class ScoringError(AcademyError):
    """A grading that could never score anything."""


class FormatError(AcademyError):
    """Files that cannot be read, with every problem found up to a cap, and their whole number."""

    def __init__(self, problems: Iterable[Problem], total: int | None = None) -> None:
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        shown = "\n".join(str(problem) for problem in self.problems[:SHOWN_PROBLEMS])
        rest = self.total - min(len(self.problems), SHOWN_PROBLEMS)
        super().__init__(shown + (f"\nand {rest} more" if rest > 0 else ""))

    @classmethod
    def at(
        cls, file: str, rule: str, message: str, *, line: int | None = None, pointer: str = ""
    ) -> FormatError:
        """An error of one problem."""
        return cls([Problem(file, rule, message, line, pointer)])


class Problems:
    """Collects problems while a reader goes on, so that all of them are told at once.

    Past the limit only the number of errors is kept, and of notices of one kind in one file.
    """

    def __init__(self, limit: int = SHOWN_PROBLEMS) -> None:
        self.limit = limit
        self.errors: list[Problem] = []
        self.told: list[Problem] = []
        self.counts: Counter[tuple[str, str, Severity]] = Counter()
        self.total = 0

    @property
    def notices(self) -> list[Problem]:
        """Warnings and notes; of a kind that is too frequent in a file the first, and how many."""
        rest = [
            Problem(
                file,
                rule,
                f"and {count - self.limit:,} more of this kind, {count:,} in all",
                severity=severity,
            )
            for (file, rule, severity), count in self.counts.items()
            if count > self.limit
        ]
        return [*self.told, *rest]

    def _tell(self, notice: Problem) -> None:
        kind = (notice.file, notice.rule, notice.severity)
        self.counts[kind] += 1
        if self.counts[kind] <= self.limit:
            self.told.append(notice)

    def error(
        self, file: str, rule: str, message: str, *, line: int | None = None, pointer: str = ""
    ) -> None:
        """Note an error; past the limit only its number is kept."""
        self.total += 1
        if len(self.errors) < self.limit:
            self.errors.append(Problem(file, rule, message, line, pointer))

    def warn(
        self, file: str, rule: str, message: str, *, line: int | None = None, pointer: str = ""
    ) -> None:
        """Note a warning."""
        self._tell(Problem(file, rule, message, line, pointer, Severity.WARNING))

    def note(
        self, file: str, rule: str, message: str, *, line: int | None = None, pointer: str = ""
    ) -> None:
        """Note something worth knowing that is not wrong."""
        self._tell(Problem(file, rule, message, line, pointer, Severity.INFO))

    def extend(self, error: FormatError) -> None:
        """Take over the problems of an error that was caught on the way."""
        for problem in error.problems:
            if len(self.errors) < self.limit:
                self.errors.append(problem)
        self.total += error.total

    def raise_if_any(self) -> None:
        """Raise FormatError when at least one error was noted."""
        if self.total:
            raise FormatError(self.errors, self.total)
