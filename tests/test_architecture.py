"""The rules of the house that no single file can keep: who imports whom, and who knows what."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from academy import formats, registry, scorers

ROOT = Path(__file__).resolve().parent.parent
APPS = ("academy", "adjudication", "leaderboard")


@cache
def contracts() -> list[dict[str, Any]]:
    """The rules that import-linter keeps."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return found


def layers(app: str) -> list[list[str]]:
    """The layers of an app from the edges down, each a list of its modules that are there."""
    contract = next(held for held in contracts() if held.get("containers") == [app])
    named = [[part.strip(" ()") for part in layer.split(":")] for layer in contract["layers"]]
    return [[name for name in layer if exists(app, name)] for layer in named]


def exists(app: str, name: str) -> bool:
    """Whether an app has a module or package of that name."""
    folder = ROOT / app
    return (folder / f"{name}.py").is_file() or (folder / name).is_dir()


def pure_modules() -> list[str]:
    """Every module that must do without Django: the lowest layer of each app, and what is below."""
    found = []
    for app in APPS:
        for name in layers(app)[-1]:
            found.append(f"{app}.{name}")
            if (ROOT / app / name).is_dir():
                found += modules_below(ROOT / app / name, f"{app}.{name}.")
    return [*found, "academy.check"]


def modules_below(folder: Path, prefix: str) -> list[str]:
    """The modules of a package, at any depth."""
    return sorted(
        prefix + ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if "samples" not in path.parts and path.name not in ("__init__.py", "__main__.py")
    )


IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
    found = {"django", "celery", "psycopg", "redis"} & set(sys.modules)
    if found:
        sys.exit(f"{name} brings in {', '.join(sorted(found))}")
print(len(sys.argv) - 1)
"""


def test_pure_modules_do_without_django_and_celery_in_a_fresh_interpreter() -> None:
    names = pure_modules()
    assert len(names) > 100
    assert {"academy.formats.base", "academy.scorers.base", "leaderboard.ranking"} <= set(names)
    ended = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.strip() == str(len(names))


def test_checking_files_needs_no_django(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    script = "import runpy, sys; sys.argv = ['check', sys.argv[1]]\ntry:\n runpy.run_module("
    script += "'academy.check', run_name='__main__')\nexcept SystemExit as ended:\n"
    script += " sys.exit(9 if {'django', 'celery'} & set(sys.modules) else ended.code)"
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr


def test_the_core_itself_is_empty_so_that_its_pure_part_imports_alone() -> None:
    assert (ROOT / "academy" / "__init__.py").read_text(encoding="utf-8") == ""


def own_files(*suffixes: str) -> Iterator[Path]:
    """The project's own files outside the folders of the formats."""
    for app in (*APPS, "templates", "static"):
        for path in sorted((ROOT / app).rglob("*")):
            parts = path.relative_to(ROOT).parts
            if path.suffix not in suffixes or "vendor" in parts or "__pycache__" in parts:
                continue
            if parts[:2] == ("academy", "formats") and len(parts) > 3:
                continue
            yield path


# A key may also be the name of a table, in the words of SQL.
TABLE = r"(?<!FROM )(?<!JOIN )(?<!REFERENCES )(?<!TABLE )(?<!ON )(?<!UPDATE )(?<!INTO )"


@pytest.mark.parametrize("key", list(registry.all_formats()))
def test_the_core_never_learns_the_name_of_a_format(key: str) -> None:
    named = re.compile(rf"{TABLE}(?<![\w-]){key}(?![\w-])", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in own_files(".py", ".html", ".js", ".css", ".svg")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if named.search(line)
    ]
    assert found == []


def test_no_format_imports_another() -> None:
    keys = [module.name for module in pkgutil.iter_modules(formats.__path__) if module.ispkg]
    found = []
    for key in keys:
        for path in (ROOT / "academy" / "formats" / key).rglob("*.py"):
            for other in set(keys) - {key}:
                if f"academy.formats.{other}" in path.read_text(encoding="utf-8"):
                    found.append(f"{path.relative_to(ROOT)} imports {other}")
    assert found == []


def test_every_format_and_scorer_is_found_by_walking_the_folders() -> None:
    keys = [module.name for module in pkgutil.iter_modules(formats.__path__) if module.ispkg]
    assert sorted(registry.all_formats()) == sorted(keys)
    named = {key for key, _mode in registry.all_scorers()}
    assert named >= {"percent_error", "rubric", "set_f1"}
    assert len(list(pkgutil.iter_modules(scorers.__path__))) > 1


def test_messages_are_sent_from_one_module_only() -> None:
    sending = re.compile(r"\.(delay|apply_async|delay_on_commit|send_task)\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in own_files(".py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if sending.search(line) and path != ROOT / "academy" / "tasks.py"
    ]
    assert found == []


def test_adjudication_and_leaderboard_never_import_each_other_nor_the_core_them() -> None:
    forbidden = {
        "academy": ("adjudication", "leaderboard"),
        "adjudication": ("leaderboard",),
        "leaderboard": ("adjudication",),
    }
    found = []
    for app, others in forbidden.items():
        for path in (ROOT / app).rglob("*.py"):
            if path.relative_to(ROOT).parts[:2] == ("academy", "project"):
                continue
            for line in path.read_text(encoding="utf-8").splitlines():
                for other in others:
                    if re.match(rf"\s*(from|import) {other}\b", line):
                        found.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert found == []


def test_columns_that_hold_plug_ins_have_no_choices() -> None:
    from academy.models import ReferenceTable, Run, Submission, Suite

    for model, name in (
        (Suite, "format"),
        (Run, "form"),
        (Submission, "form"),
        (ReferenceTable, "format"),
    ):
        assert not model._meta.get_field(name).choices


def test_no_model_is_ordered_by_itself() -> None:
    from django.apps import apps

    ordered = [
        model._meta.label
        for app in APPS
        for model in apps.get_app_config(app).get_models()
        if model._meta.ordering
    ]
    assert ordered == []


def test_templates_ask_the_database_nothing() -> None:
    asking = re.compile(r"\{[{%][^}]*\.(all|filter|exists|objects|values|order_by)\b[^}]*[}%]\}")
    found = [
        f"{path.relative_to(ROOT)}: {held[0]}"
        for path in (ROOT / "templates").rglob("*.html")
        for held in asking.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
