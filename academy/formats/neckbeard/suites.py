"""Where the suites of an upload are, and every fixture of one, looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from academy.formats.neckbeard.documents import FIXTURE_LIMITS, Document, read_document
from academy.formats.neckbeard.facts import CLASSES, FIXTURE_NAME, SINGLE_TASK, TRAJECTORIES
from academy.formats.neckbeard.original import Outcome, run_original
from academy.formats.neckbeard.remarks import Remark
from academy.formats.neckbeard.rules import Fixture, examine
from academy.formats.reading import LIMITS, Files

ROOT = "fixtures"
FOLDERS = frozenset({*CLASSES, TRAJECTORIES})
MISNAMED = frozenset({"task.yml", "task.yaml"})


@dataclass(frozen=True, slots=True)
class Examined:
    """A suite folder with its fixtures in path order, and what the original's runner says."""

    root: PurePosixPath
    fixtures: tuple[Fixture, ...]
    original: Outcome


def is_fixture(path: PurePosixPath) -> bool:
    """Whether the original would load it: the name decides, at any depth."""
    return path.name == FIXTURE_NAME


def is_misnamed(path: PurePosixPath) -> bool:
    """Whether it is named almost like a fixture, so that nobody would ever load it."""
    return path.name.lower() in MISNAMED and not is_fixture(path)


def is_candidate(path: PurePosixPath) -> bool:
    """A fixture, or what was surely meant to be one; a repo/ folder may hold any other name."""
    return is_fixture(path) or (is_misnamed(path) and "repo" not in path.parts)


def roots_of(files: Files) -> list[PurePosixPath]:
    """The suite folders: each called fixtures, else the one folder that the layout points to."""
    paths = [path for path in files if is_candidate(path)]
    named = {root for path in paths if (root := named_root(path)) is not None}
    if named:
        return sorted(named)
    above = {path.parents[2] for path in paths if len(path.parts) > 2}
    return [above.pop() if len(above) == 1 else PurePosixPath()] if paths else []


def named_root(path: PurePosixPath) -> PurePosixPath | None:
    """The outermost folder called fixtures above the file."""
    above = [folder for folder in path.parents if folder.name == ROOT]
    return above[-1] if above else None


def examine_suite(files: Files, root: PurePosixPath) -> Examined:
    """Every fixture below the folder. One bad file never hides what is to be said of another."""
    paths = [path for path in files if path.is_relative_to(root)]
    fixtures = [examine(path, read(files, path), root) for path in paths if is_fixture(path)]
    fixtures += [misnamed(path) for path in paths if is_candidate(path) and not is_fixture(path)]
    fixtures.sort(key=lambda fixture: fixture.path)
    tree = {path: (lambda path=path: files.head(path, LIMITS.document_bytes)) for path in paths}
    return Examined(root, tuple(with_doubles(fixtures)), run_original(tree, root))


def read(files: Files, path: PurePosixPath) -> Document:
    """One document, however bad."""
    return read_document(files.head(path, FIXTURE_LIMITS.yaml_bytes + 1), str(path))


def misnamed(path: PurePosixPath) -> Fixture:
    """A file that only the right name would make a fixture."""
    said = f"a fixture is called {FIXTURE_NAME}; under the name {path.name!r} it is not seen"
    return Fixture(path, Document(), SINGLE_TASK, (Remark("S-LAYOUT", said),))


def with_doubles(fixtures: Sequence[Fixture]) -> Iterable[Fixture]:
    """Fixtures with a remark on those whose id came before. Both kinds share one space of ids."""
    first: dict[str, PurePosixPath] = {}
    for fixture in fixtures:
        earlier = first.get(fixture.id) if fixture.id else None
        if earlier is not None:
            said = f"the id {fixture.id!r} is also that of {earlier}"
            line = fixture.document.line("id")
            fixture = fixture.saying(Remark("S-UNIQUE", said, "id", line))
        elif fixture.id:
            first[fixture.id] = fixture.path
        yield fixture
