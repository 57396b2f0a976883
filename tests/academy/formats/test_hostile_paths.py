"""References and archives that lead elsewhere are refused by name, in every format."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from academy import intake
from academy.errors import FormatError
from academy.importing import ImportOptions
from academy.recording import RecordingOptions
from tests import factories as make
from tests.academy.formats.hostile_making import (
    BY_NAME,
    SAMPLES,
    At,
    Sender,
    has_place,
    path_in,
    replaced,
)
from tests.academy.test_formats import contents_of

pytestmark = pytest.mark.django_db
PATHS: list[tuple[str, str, At]] = [
    ("academy_run-two_replicates", "run.jsonl", (1, "artifacts", 0, "path")),
    ("every_eval_ever-trajectories", "_samples.jsonl", (0, "trajectory", "uri")),
    ("opentakeoff-practice_tree", ".task.json", ("planset", "assetRef")),
    ("opentakeoff-practice_tree", "suite.json", ("tasks", 0, "file")),
    ("skill_evals-tea-maker", "evals.json", ("evals", 0, "files")),
]
OUTSIDE = ("../../etc/hostname", "/etc/hostname", "C:\\windows\\x.json", "a/../../x", "CON.json")


@pytest.mark.parametrize(("name", "ending", "at"), PATHS, ids=lambda part: str(part)[:40])
def test_references_that_lead_elsewhere_are_refused_by_name(name: str, ending: str, at: At) -> None:
    sample = BY_NAME[name]
    contents, path = contents_of(sample), path_in(sample, ending)
    sender = Sender(sample)
    for outside in OUTSIDE:
        value = [outside] if at[-1] == "files" else outside
        error = sender.refused({**contents, path: replaced(contents[path], path, at, value)})
        found = [one for one in error.problems if has_place(one, path)]
        assert any(repr(outside)[1:-1] in one.message for one in found), str(error)[:400]


def archive(contents: Mapping[str, bytes], add: Callable[[zipfile.ZipFile], None]) -> bytes:
    """A zip of some files and what else is put into it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for path, data in contents.items():
            made.writestr(path, data)
        add(made)
    return stream.getvalue()


def entry(name: str, data: bytes = b"x") -> Callable[[zipfile.ZipFile], None]:
    return lambda made: made.writestr(zipfile.ZipInfo(name), data)


def link(made: zipfile.ZipFile) -> None:
    """An entry that is a link to a file of the machine."""
    member = zipfile.ZipInfo("link.json")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    made.writestr(member, "/etc/hostname")


def zeros(made: zipfile.ZipFile) -> None:
    """An entry that expands a thousandfold."""
    with made.open("pad.bin", "w") as member:
        for _ in range(64):
            member.write(bytes(2**20))


def many(made: zipfile.ZipFile) -> None:
    """More entries than anybody needs."""
    for number in range(20_001):
        made.writestr(zipfile.ZipInfo(f"e/{number}"), b"")


ARCHIVES: dict[str, tuple[Callable[[zipfile.ZipFile], None], str]] = {
    "climbing": (entry("../../etc/hostname"), "../../etc/hostname"),
    "absolute": (entry("/etc/hostname"), "/etc/hostname"),
    "windows": (entry("C:\\windows\\x.json"), "windows"),
    "reserved": (entry("CON.json"), "CON.json"),
    "link": (link, "link.json"),
    "expands": (zeros, "times its size"),
    "entries": (many, "20000 entries"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_that_would_do_harm_are_refused_whole(name: str, tmp_path: Path) -> None:
    add, words = ARCHIVES[name]
    for sample in SAMPLES:
        path = tmp_path / f"{sample}.zip"
        path.write_bytes(archive(contents_of(sample), add))
        before = make.whole_database()
        with pytest.raises(FormatError) as caught:
            if sample.has_suite():
                intake.import_suite_path(path, options=ImportOptions())
            else:
                intake.import_run_path(path, options=RecordingOptions())
        assert words in str(caught.value).replace("\\\\", "\\"), str(caught.value)[:300]
        assert make.changed_tables(before) == []
