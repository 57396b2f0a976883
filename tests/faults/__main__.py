"""python -m tests.faults [--json]: every fault of this folder, tried on real processes.

Prints name, whether it went well, and what went wrong; exit status 1 when anything did.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one fault was borne."""

    name: str
    ok: bool
    detail: str


class Collector:
    """Takes the outcomes while pytest goes through the folder."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome of a test, or of a set-up or an end that went wrong."""
        if report.when != "call" and report.passed:
            return
        name = report.nodeid.rpartition("::")[2].removeprefix("test_").replace("_", " ")
        seconds = f"{report.duration:.1f} s"
        detail = seconds if report.passed else f"{seconds}: {told(report)}"
        self.outcomes.append(Outcome(name, report.passed, detail))


def told(report: pytest.TestReport) -> str:
    """Why a test did not pass, in one line."""
    lines = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
    return (lines[0][1:].strip() if lines else str(report.longrepr))[:500]


def main() -> int:
    """Try everything and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    asked = parser.parse_args()
    collector = Collector()
    with redirect_stdout(io.StringIO()) as log:
        code = pytest.main([str(Path(__file__).parent)], plugins=[collector])
    if not collector.outcomes:
        sys.stderr.write(log.getvalue())
    if asked.json:
        text = json.dumps([asdict(outcome) for outcome in collector.outcomes], indent=2)
    else:
        text = "\n".join(
            f"{'ok    ' if outcome.ok else 'FAILED'}  {outcome.name}  ({outcome.detail})"
            for outcome in collector.outcomes
        )
    sys.stdout.write(text + "\n")
    return 0 if code == pytest.ExitCode.OK and collector.outcomes else 1


if __name__ == "__main__":
    sys.exit(main())
