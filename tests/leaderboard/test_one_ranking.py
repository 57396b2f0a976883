"""There is one ranking function in the whole project, and nothing else makes ranks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ("academy", "adjudication", "leaderboard")
RANKING = ROOT / "leaderboard" / "ranking.py"
# How others would make ranks: in the database, with SciPy, or in a template.
ELSEWHERE = re.compile(r"rankdata|\bDenseRank\b|\bRank\(|(?i:rank\(\s*\)\s+over)")


def modules() -> Iterator[Path]:
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts and "samples" not in path.parts:
                yield path


def ranks_written(path: Path) -> list[str]:
    """The places where a module gives a value of its own to something called rank."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        named: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.Call):
            named = [(held.arg or "", held.value) for held in node.keywords]
        elif isinstance(node, ast.Dict):
            named = [
                (str(key.value), value)
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
            ]
        for name, value in named:
            is_taken = isinstance(value, ast.Attribute | ast.Subscript | ast.IfExp | ast.Constant)
            is_taken |= "get" in ast.dump(value) and isinstance(value, ast.Call)
            # The function itself, or the value of a variable of the name.
            is_taken |= "id='rank'" in ast.dump(value)
            if name == "rank" and not is_taken:
                found.append(f"{path.relative_to(ROOT)}:{value.lineno}")
    return found


def test_only_one_module_makes_a_rank_and_all_others_take_it() -> None:
    assert ranks_written(RANKING)
    elsewhere = [place for path in modules() if path != RANKING for place in ranks_written(path)]
    assert elsewhere == []


def test_no_module_or_template_ranks_by_other_means() -> None:
    templates = sorted((ROOT / "templates").rglob("*.html"))
    told = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in (*modules(), *templates)
        if (found := ELSEWHERE.search(path.read_text("utf-8")))
    ]
    assert told == []


def test_the_ranking_function_is_called_in_one_place_for_all_that_is_shown() -> None:
    callers = set()
    for path in modules():
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            is_import = isinstance(node, ast.ImportFrom) and node.module == "leaderboard.ranking"
            if is_import and any(name.name == "rank" for name in node.names):
                callers.add(path.relative_to(ROOT).as_posix())
    # `statistics` offers it by name to whoever checks the numbers.
    assert callers == {"leaderboard/computing.py", "leaderboard/statistics.py"}
