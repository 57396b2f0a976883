"""What the documents point to is there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from adjudication import agreement
from leaderboard import statistics

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "deploy/*.md", "academy/**/README.md")
    for path in ROOT.glob(pattern)
    if "samples" not in path.parts
)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
PATH = re.compile(r"(?<=[\s`])(?:academy|docs|deploy|requirements)/[\w./-]*\w(?=[\s`,.])")
COMMAND = re.compile(r"manage\.py ([a-z_]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_paths_and_commands_of_a_document_are_there(document: Path) -> None:
    text = document.read_text("utf-8")
    links = [document.parent / link for link in LINK.findall(text)]
    paths = [ROOT / path for path in PATH.findall(text) if "<" not in path]
    assert [str(path) for path in [*links, *paths] if not path.exists()] == []
    assert set(COMMAND.findall(text)) <= set(get_commands())


def test_every_format_has_a_page() -> None:
    formats = {path.parent.name for path in ROOT.glob("academy/formats/*/__init__.py")}
    assert formats == {path.stem for path in ROOT.glob("docs/formats/*.md")}


def test_every_decision_is_in_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text("utf-8")
    missing = [
        path.name
        for path in ROOT.glob("docs/decisions/*.md")
        if f"decisions/{path.name}" not in index
    ]
    assert missing == []


def test_statistics_are_documented_with_their_names_and_arguments() -> None:
    functions = {**statistics.FUNCTIONS, **agreement.FUNCTIONS}
    written = (ROOT / "docs/statistics-by-name.md").read_text("utf-8")
    told = re.findall(r"^(\w+)\(([^)]*)\)$", written, re.MULTILINE)
    assert dict(told) == {
        name: ", ".join(inspect.signature(function).parameters)
        for name, function in functions.items()
    }
    assert len(told) == len(functions)
