"""python -m tests.acceptance [NAME] [--json]: one check, or all; exit 0 when they hold, else 1."""

from __future__ import annotations

import argparse
import json
import pkgutil
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from academy.check import write
from tests import acceptance
from tests.acceptance.base import Failed, Product

Check = Callable[[Sequence[str], Product], Any]


def checks() -> dict[str, Check]:
    """All checks by name."""
    found = {}
    for module in pkgutil.iter_modules(acceptance.__path__):
        if module.name.startswith("_"):
            continue
        check = getattr(import_module(f"{acceptance.__name__}.{module.name}"), "check", None)
        if check is not None:
            found[module.name.replace("_", "-")] = check
    return dict(sorted(found.items()))


def perform(name: str, check: Check, arguments: Sequence[str], product: Product) -> dict[str, Any]:
    """The row of one check. What it gives besides a sentence stands in the row too."""
    try:
        told = check(arguments, product)
    except Failed as error:
        return {"name": name, "ok": False, "detail": str(error)}
    except Exception as error:  # noqa: BLE001 - one broken check must not hide the others
        last = traceback.format_exc().strip().splitlines()[-3:]
        return {"name": name, "ok": False, "detail": f"{type(error).__name__}: {' | '.join(last)}"}
    if isinstance(told, str):
        return {"name": name, "ok": True, "detail": told}
    return {"name": name, "ok": True, **told}


def main(words: Sequence[str]) -> int:
    """Perform the named checks, or all that need no argument."""
    known = checks()
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance", description=__doc__)
    parser.add_argument("name", choices=["all", *known], nargs="?", default="all")
    parser.add_argument("arguments", nargs="*", help="what the check asks for")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    chosen = parser.parse_args(words)
    names = [chosen.name]
    if chosen.name == "all":
        names = [name for name in known if not getattr(known[name], "wants_arguments", False)]
    product = Product()
    try:
        rows = [perform(name, known[name], chosen.arguments, product) for name in names]
    finally:
        product.close()
    if chosen.json:
        # In ASCII, since a case may hold what no terminal can show, such as half a surrogate pair.
        write(json.dumps(rows, indent=1))
    else:
        for row in rows:
            write(f"{'ok  ' if row['ok'] else 'FAIL'} {row['name']}: {row['detail']}")
            for result in row.get("results", []):
                write(json.dumps(result))
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
