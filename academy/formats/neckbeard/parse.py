"""Files to suites: all or nothing, every error told, every file accounted for."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from academy.bundle import AssetSpec, FileReport, FileStatus, SuiteSpec, SuiteUpload
from academy.errors import FormatError, Problem, Problems, Severity
from academy.formats.neckbeard.compatibility import differences
from academy.formats.neckbeard.dimensions import dimension_gradings, dimension_metrics
from academy.formats.neckbeard.facts import SINGLE_TASK, TRAJECTORY
from academy.formats.neckbeard.routing import routing_notices
from academy.formats.neckbeard.rules import Fixture
from academy.formats.neckbeard.scoring import check
from academy.formats.neckbeard.suite_rules import suite_notices
from academy.formats.neckbeard.suites import (
    FOLDERS,
    ROOT,
    Examined,
    examine_suite,
    is_candidate,
    roots_of,
)
from academy.formats.neckbeard.tasks import build_task
from academy.formats.reading import Files

SLUG = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
NAMELESS = frozenset({ROOT, "eval", "evals"})
MARKS = (b"expected_boundary:", b"kind: trajectory")
REPO_NAMED = re.compile(r"\brepo/[\w./-]*\w")
NEIGHBOURS = {
    "evals.json": "the evaluation cases of a skill are another format; import the file by itself",
    "trigger-queries.json": "trigger queries of a skill; nothing here scores them",
    "trigger-cases.json": "trigger cases of a skill; nothing here scores them",
}


def claims(files: Files) -> bool:
    """Whether a fixture lies where the layout puts one, or looks like one wherever it lies."""
    for path in files:
        if is_candidate(path):
            folders = {folder.name for folder in path.parents}
            if folders & FOLDERS or any(mark in files.head(path) for mark in MARKS):
                return True
    return False


def parse_suite(files: Files) -> SuiteUpload:
    """Every suite folder of the files. Raises FormatError with every bad place of all of them."""
    problems = Problems()
    roots = roots_of(files)
    if not roots:
        raise FormatError.at("", "no-fixtures", "the files hold no task.yaml")
    examined = [examine_suite(files, root) for root in roots]
    for one in examined:
        for problem in refusals(one):
            problems.error(
                problem.file,
                problem.rule,
                problem.message,
                line=problem.line,
                pointer=problem.pointer,
            )
    problems.raise_if_any()
    slugs = slugs_of(roots)
    suites = tuple(build_suite(files, one, slug) for one, slug in zip(examined, slugs, strict=True))
    notices = tuple(notice for one in examined for notice in notices_on(one, files))
    return SuiteUpload(suites=suites, files=tuple(reports(files, suites)), notices=notices)


def refusals(examined: Examined) -> Iterator[Problem]:
    """What keeps a suite from being imported."""
    for fixture in examined.fixtures:
        for remark in fixture.remarks:
            problem = remark.as_problem(str(fixture.path))
            if problem.severity is Severity.ERROR:
                yield problem


def notices_on(examined: Examined, files: Files) -> Iterator[Problem]:
    """What is worth knowing of a suite that can be imported."""
    for fixture in examined.fixtures:
        for remark in fixture.remarks:
            problem = remark.as_problem(str(fixture.path))
            if problem.severity is not Severity.ERROR:
                yield problem
        yield from routing_notices(fixture)
        yield from absent_files(fixture, files)
    yield from differences(examined)
    yield from suite_notices(examined)


def absent_files(fixture: Fixture, files: Files) -> Iterator[Problem]:
    """Files that the context speaks of and that did not come along; the prose is all there is."""
    named = dict.fromkeys(REPO_NAMED.findall(fixture.document.text("context")))
    absent = [name for name in named if fixture.path.parent / name not in files]
    if absent:
        said = f"the context names {', '.join(absent)}, which did not come along"
        line = fixture.document.line("context")
        yield Problem(
            str(fixture.path), "context-without-files", said, line, "/context", Severity.INFO
        )


def build_suite(files: Files, examined: Examined, slug: str) -> SuiteSpec:
    """The suite of a folder without errors. Its version is named after its content."""
    for grading in dimension_gradings():
        check(None, grading.params)
    tasks = tuple(
        build_task(fixture, tuple(assets_of(files, fixture))) for fixture in examined.fixtures
    )
    kinds = Counter(task.kind for task in tasks)
    holdouts = sum(task.holdout for task in tasks)
    return SuiteSpec(
        slug=slug,
        title=f"{slug} fixtures",
        description=(
            f"{kinds[SINGLE_TASK]} single tasks and {kinds[TRAJECTORY]} trajectories, "
            f"{len(tasks) - holdouts} public and {holdouts} held out. Rated by people on eight "
            "dimensions, which are never added up."
        ),
        format="neckbeard",
        tasks=tasks,
        metrics=dimension_metrics(),
        sealed=True,
        extra={"root": str(examined.root)},
        sources=tuple(
            path for task in tasks for path in (task.source, *(one.path for one in task.assets))
        ),
    )


def assets_of(files: Files, fixture: Fixture) -> Iterator[AssetSpec]:
    """The repository context of a fixture: its repo/ folder and what its context names."""
    folder = fixture.path.parent
    context = fixture.document.text("context")
    for path in files:
        if path == fixture.path or not path.is_relative_to(folder):
            continue
        ref = path.relative_to(folder)
        if ref.parts[0] == "repo" or str(ref) in context:
            yield AssetSpec(ref=str(ref), sha256=digest_of(files, path), path=str(path))


def digest_of(files: Files, path: PurePosixPath) -> str:
    """SHA-256 of a member, streamed."""
    with files.open(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def slugs_of(roots: Sequence[PurePosixPath]) -> list[str]:
    """A name for each suite: the nearest telling folder at or above it, else the format's."""
    slugs = [slug_of(root) for root in roots]
    if len(set(slugs)) == len(slugs):
        return slugs
    return [f"{slug}-{place}" for place, slug in enumerate(slugs, start=1)]


def slug_of(root: PurePosixPath) -> str:
    """The nearest folder whose name is a slug and says something."""
    names = [folder.name for folder in (root, *root.parents)]
    telling = [name for name in names if name not in NAMELESS and SLUG.fullmatch(name)]
    return telling[0] if telling else "neckbeard"


def reports(files: Files, suites: Sequence[SuiteSpec]) -> Iterator[FileReport]:
    """What became of every file."""
    imported = {source: suite.slug for suite in suites for source in suite.sources}
    for path in files:
        name = str(path)
        if name in imported:
            yield FileReport(name, FileStatus.IMPORTED, suite=imported[name])
        else:
            yield FileReport(name, FileStatus.RECOGNISED, reason_for(path, suites))


def reason_for(path: PurePosixPath, suites: Sequence[SuiteSpec]) -> str:
    """Why a file is not loaded."""
    if path.name in NEIGHBOURS:
        return NEIGHBOURS[path.name]
    if path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING")):
        return "a licence text"
    if path.suffix in (".md", ".txt", ".rst"):
        return "prose beside the fixtures; no machine reads it"
    if any(path.is_relative_to(PurePosixPath(str(suite.extra["root"]))) for suite in suites):
        return "no fixture, and no context of one names it"
    return "outside the folder of fixtures"
