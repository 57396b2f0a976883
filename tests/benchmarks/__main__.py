"""python -m tests.benchmarks NAME … [--scale N] [--json]: ratios, and which targets are met."""

from __future__ import annotations

import argparse
import json
import pkgutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tests import benchmarks
from tests.benchmarks.measuring import Report, lines

MOST = 100

PARTS = frozenset(
    {"__main__", "addresses", "filling", "filling_review", "measuring", "serving", "settings"}
)


def names() -> list[str]:
    """All benchmarks: the modules of this package that are no part of how they are made."""
    found = {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}
    return sorted(name.replace("_", "-") for name in found - PARTS)


def measure(name: str, scale: float) -> dict[str, Any]:
    """The report of one benchmark. Each has a database and settings of its own, so that a process
    measures only one."""
    start = time.perf_counter()
    module = import_module(f"{benchmarks.__name__}.{name.replace('-', '_')}")
    report: Report = module.run(scale=scale)
    report.facts["took"] = f"{time.perf_counter() - start:.0f} s"
    return report.as_json()


def measure_apart(name: str, scale: float) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks", name, "--scale", str(scale), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)[0]
    return found


def main(words: Sequence[str]) -> int:
    """Run the named benchmarks one after the other. Exit 0 whatever the targets say."""
    listed = names()
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(listed)}; all by default")
    parser.add_argument("--scale", type=float, default=1.0, help="times as much data")
    parser.add_argument("--json", action="store_true", help="print the reports as JSON")
    chosen = parser.parse_args(words)
    unknown = [name for name in chosen.name if name not in listed]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(listed)}")
    if not 0 < chosen.scale <= MOST:
        parser.error(f"the scale is above 0 and at most {MOST}")
    wanted = chosen.name or listed
    told = []
    for name in wanted:
        act = measure if len(wanted) == 1 else measure_apart
        told.append(act(name, chosen.scale))
        if not chosen.json:
            sys.stdout.write("\n".join(lines(told[-1])) + "\n")
            sys.stdout.flush()
    if chosen.json:
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    # Whoever is ended still ends the servers it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
