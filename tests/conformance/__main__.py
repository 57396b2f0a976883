"""python -m tests.conformance DATA_DIR [--json]: every case of every oracle file, counted."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from academy.check import write
from tests.conformance.base import Check, Context, Tally, Unreadable, oracles, run_list

MODULES = {
    "docbridge": "doc_bridge",
    "eee": "every_eval_ever",
    "mypcbench": "mypcbench",
    "neckbeard": "neckbeard",
    "opentakeoff": "opentakeoff",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """One list of cases: its name in the oracle and in the counts, and how a case is checked."""

    name: str
    key: str
    listed: Any
    check: Check | None
    context: Context


def lists_in(folder: Path) -> Iterator[Listed]:
    """Every list of one format. Lists that the module names as no cases are left out.

    A module whose oracle nests its lists names them all by `lists_of(oracle)`.
    """
    module = importlib.import_module(f"tests.conformance.{MODULES[folder.name]}")
    taken: set[str] = set()
    for path, oracle in oracles(folder):
        lists = module.lists_of(oracle) if hasattr(module, "lists_of") else oracle
        for name, listed in lists.items():
            if name in module.NOT_CASES or not isinstance(listed, list | dict):
                continue
            key = name if name not in taken else f"{path.stem}.{name}"
            taken.add(key)
            yield Listed(name, key, listed, module.CHECKS.get(name), Context(folder, oracle))


def run_format(folder: Path) -> dict[str, Tally]:
    """Every list of one format, counted."""
    return {
        found.key: run_list(found.name, found.listed, found.check, found.context)
        for found in lists_in(folder)
    }


def run_all(data: Path) -> dict[str, dict[str, Tally]]:
    """Every format that has a folder under the data folder."""
    return {
        folder.name: run_format(folder)
        for folder in sorted(data.iterdir())
        if folder.is_dir() and folder.name in MODULES
    }


def report(formats: dict[str, dict[str, Tally]]) -> dict[str, Any]:
    """The counts in the printed shape."""
    every = [tally for lists in formats.values() for tally in lists.values()]
    return {
        "formats": {
            name: {key: tally.as_json() for key, tally in lists.items()}
            for name, lists in formats.items()
        },
        "cases": sum(tally.cases for tally in every),
        "agree": sum(tally.agree for tally in every),
    }


def main(arguments: list[str] | None = None) -> int:
    """Print the counts; 0 when all agree, 1 when some differ, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"{options.data} is not a folder")
    try:
        formats = run_all(options.data)
    except Unreadable as error:
        parser.error(str(error))
    counts = report(formats)
    if not counts["cases"]:
        parser.error(f"{options.data} has no oracle in a folder {' or '.join(MODULES)}")
    if options.json:
        # In ASCII, since a case may be named by what no terminal can show.
        write(json.dumps(counts, indent=2))
    else:
        for name, lists in formats.items():
            for key, tally in lists.items():
                write(f"{name:12} {key:28} {tally.agree:5} of {tally.cases}")
                for identity, reason in tally.reasons.items():
                    write(f"    {identity}: {reason[:300]}")
        write(f"{counts['agree']} of {counts['cases']} cases agree")
    return 0 if counts["agree"] == counts["cases"] else 1


if __name__ == "__main__":
    sys.exit(main())
