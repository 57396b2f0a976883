"""What the original's runner, the written schema and the journey rules would each say of files."""

from __future__ import annotations

from collections.abc import Iterator

from academy.errors import Problem, Severity
from academy.formats.neckbeard.facts import TRAJECTORY
from academy.formats.neckbeard.original import Outcome, Seen
from academy.formats.neckbeard.remarks import verdict_of
from academy.formats.neckbeard.rules import LISTS, Fixture
from academy.formats.neckbeard.suites import Examined, examine_suite, roots_of
from academy.formats.reading import Files

DECIDING_FIELDS = ("kind", "id", "class", "expected_boundary", "path", "terminal_state")


def compatibility(files: Files) -> tuple[Problem, ...]:
    """Every finding of the three under its code, and per suite how the verdicts stand together."""
    return tuple(
        problem for root in roots_of(files) for problem in told(examine_suite(files, root))
    )


def told(examined: Examined) -> Iterator[Problem]:
    """The findings on one suite."""
    yield Problem(str(examined.root), "verdicts", summary(examined), severity=Severity.INFO)
    for objection in examined.original.objections:
        file = objection.file or str(examined.root)
        yield Problem(file, objection.code or "R-USAGE", objection.gist)
    for fixture in examined.fixtures:
        for remark in fixture.remarks:
            if remark.code.startswith(("S-", "J-")):
                yield remark.as_code(str(fixture.path))


def summary(examined: Examined) -> str:
    """The verdicts in one sentence."""
    original = examined.original
    schema = schema_verdict(examined)
    parted = divergence(original, schema)
    return (
        f"The original's runner would end with exit {original.exit} ({original.verdict}, "
        f"{len(original.objections)} errors on {original.stream}); by the written schema the "
        f"suite is {schema}" + (f"; they part: {parted}." if parted else ".")
    )


def schema_verdict(examined: Examined) -> str:
    """The verdict of the written schema on all fixtures together."""
    return verdict_of(tuple(remark for one in examined.fixtures for remark in one.remarks))


def divergence(original: Outcome, schema: str) -> str | None:
    """How the runner and the written schema part, if they do."""
    if original.verdict == "crash":
        return "runner-crash"
    if original.verdict == "valid":
        return {"invalid": "runner-lenient", "unspecified": "spec-silent"}.get(schema)
    return "runner-strict" if schema == "valid" else None


def differences(examined: Examined) -> Iterator[Problem]:
    """Warnings on fixtures that are good and that the original would refuse or read otherwise."""
    seen = {one.path: one for one in examined.original.seen}
    objections = examined.original.objections
    for fixture in examined.fixtures:
        file = str(fixture.path)
        said = [one for one in objections if one.file == file]
        for one in said:
            message = f"the original's runner would refuse this: {one.gist} ({one.code})"
            yield Problem(file, "original-refuses", message, severity=Severity.WARNING)
        if not said and fixture.path in seen:
            yield from read_otherwise(fixture, seen[fixture.path])


def read_otherwise(fixture: Fixture, seen: Seen) -> Iterator[Problem]:
    """Fields that the runner accepts as something else than they are."""
    document = fixture.document
    for name in (*DECIDING_FIELDS, "visibility"):
        if name in document.fields and seen.fields.get(name, "") != document.text(name):
            yield Problem(
                str(fixture.path),
                "original-reads-otherwise",
                f"the original's runner would read another value of {name!r}",
                document.line(name),
                f"/{name}",
                Severity.WARNING,
            )
    for name in LISTS if fixture.kind == TRAJECTORY else ():
        if document.text(name) and not seen.fields.get(name, "").strip("| "):
            yield Problem(
                str(fixture.path),
                "original-checks-nothing",
                f"the original's runner would see no entry of {name!r} and check none",
                document.line(name),
                f"/{name}",
                Severity.INFO,
            )
