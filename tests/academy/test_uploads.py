"""Folder, file and zip give the same files and digest; what may not be there is refused by name."""

from __future__ import annotations

import gc
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from academy.errors import AcademyError, FormatError
from academy.formats.reading import Limits
from academy.uploads import Upload, open_stream, open_upload

CONTENTS = {"a.json": b"{}", "sub/b.txt": b"text\n", "sub/deeper/c": b""}


def make_folder(root: Path, contents: dict[str, bytes]) -> Path:
    for name, data in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def make_zip(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return path


def contents_of(upload: Upload) -> dict[str, bytes]:
    return {str(path): data for path, data in upload.files.items()}


def test_a_folder_and_a_zip_of_the_same_files_are_the_same_upload(tmp_path: Path) -> None:
    folder = open_upload(make_folder(tmp_path / "f", CONTENTS))
    archive = open_upload(make_zip(tmp_path / "f.zip", dict(reversed(CONTENTS.items()))))
    assert contents_of(folder) == contents_of(archive) == CONTENTS
    assert folder.digest == archive.digest
    assert (folder.size, archive.size) == (7, 7)
    assert (folder.name, archive.name) == ("f", "f.zip")


@pytest.mark.parametrize(
    "other",
    [
        {**CONTENTS, "a.json": b"{ }"},
        {**CONTENTS, "d": b""},
        {"a.json": b"{}", "sub/b.txt": b"text\n", "sub/c": b""},
    ],
)
def test_another_byte_name_or_file_is_another_digest(
    tmp_path: Path, other: dict[str, bytes]
) -> None:
    first = open_upload(make_folder(tmp_path / "a", CONTENTS))
    assert open_upload(make_folder(tmp_path / "b", other)).digest != first.digest


def test_the_digest_of_one_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"[1]\n")
    upload = open_upload(tmp_path / "a.jsonl")
    assert upload.digest == hashlib.sha256(b"[1]\n").hexdigest()
    assert contents_of(upload) == {"a.jsonl": b"[1]\n"}


def test_hidden_things_are_left_out_with_a_reason(tmp_path: Path) -> None:
    hidden = {".git/config": b"", "sub/.DS_Store": b"", "__MACOSX/x": b"", "node_modules/y/z": b""}
    folder = open_upload(make_folder(tmp_path / "f", {**CONTENTS, **hidden}))
    archive = open_upload(make_zip(tmp_path / "f.zip", {**CONTENTS, **hidden}))
    assert contents_of(folder) == contents_of(archive) == CONTENTS
    assert folder.digest == archive.digest
    assert [report.path for report in folder.left_out] == [
        ".git",
        "__MACOSX",
        "node_modules",
        "sub/.DS_Store",
    ]
    assert len(archive.left_out) == 4
    assert all(report.reason for report in (*folder.left_out, *archive.left_out))


def test_a_link_that_leads_outside_is_refused_by_name(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", CONTENTS)
    (folder / "out.json").symlink_to("/etc/hostname")
    (folder / "up").symlink_to(tmp_path)
    (folder / "self").symlink_to(folder / "self")
    with pytest.raises(FormatError) as caught:
        open_upload(folder)
    assert [problem.rule for problem in caught.value.problems][:2] == ["archive-link"] * 2
    assert "'out.json' is a link that leads outside" in str(caught.value)
    assert "'up' is a link that leads outside" in str(caught.value)


def test_a_link_within_the_folder_is_the_file_it_leads_to(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", CONTENTS)
    (folder / "same.json").symlink_to(folder / "a.json")
    (folder / "latest").symlink_to(folder / "sub")
    upload = open_upload(folder)
    assert contents_of(upload) == {**CONTENTS, "same.json": b"{}"}
    assert [(report.path, report.reason) for report in upload.left_out] == [
        ("latest", "a link that leads to no file")
    ]


def test_a_pipe_is_left_out_and_not_waited_for(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", CONTENTS)
    os.mkfifo(folder / "pipe")
    upload = open_upload(folder)
    assert contents_of(upload) == CONTENTS
    assert [report.path for report in upload.left_out] == ["pipe"]


def test_names_that_no_archive_may_have_are_refused_in_folders_too(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", {"CON.json": b"", "a.json": b"", "A.json": b""})
    (folder / os.fsdecode(b"b\xff")).touch()
    with pytest.raises(FormatError) as caught:
        open_upload(folder)
    assert sorted(problem.rule for problem in caught.value.problems) == [
        "path",
        "path",
        "path-collision",
    ]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(archive_entries=3), "more than 3 entries"),
        (Limits(upload_bytes=6), "too large from this file on"),
    ],
)
def test_a_folder_past_a_limit_is_refused(tmp_path: Path, limits: Limits, words: str) -> None:
    folder = make_folder(tmp_path / "f", CONTENTS)
    with pytest.raises(FormatError, match=words):
        open_upload(folder, limits=limits)


def test_a_large_file_is_not_held_in_memory(tmp_path: Path) -> None:
    (tmp_path / "large.jsonl").write_bytes(b"")
    os.truncate(tmp_path / "large.jsonl", 300 * 2**20)
    make_zip(tmp_path / "large.zip", {"a.bin": os.urandom(2**20) * 15})
    # The high-water mark of the process itself; that of getrusage begins with its parent's.
    code = (
        "import re, sys; from pathlib import Path; from academy.uploads import open_upload\n"
        "for name in sys.argv[1:]: open_upload(Path(name))\n"
        "print(re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    paths = [str(tmp_path / "large.jsonl"), str(tmp_path / "large.zip")]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 120 * 1024


def test_an_empty_upload_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    make_zip(tmp_path / "f.zip", {})
    for path in (tmp_path / "f", tmp_path / "f.zip"):
        with pytest.raises(FormatError, match="there is no file in it"):
            open_upload(path)


def test_what_is_not_there_or_not_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(AcademyError, match="There is no file or folder"):
        open_upload(tmp_path / "absent")
    (tmp_path / "a.tar.gz").touch()
    with pytest.raises(AcademyError, match="unpack it or zip it"):
        open_upload(tmp_path / "a.tar.gz")
    (tmp_path / "a.zip").write_bytes(b"no zip")
    with pytest.raises(FormatError, match="not a whole zip archive"):
        open_upload(tmp_path / "a.zip")


def test_files_of_a_zip_outlive_the_upload_and_close_what_they_opened(tmp_path: Path) -> None:
    files = open_upload(make_zip(tmp_path / "f.zip", CONTENTS)).files
    some = files.only([PurePosixPath("a.json")])
    del files
    gc.collect()
    assert some["a.json"] == b"{}"
    before = len(list(Path("/proc/self/fd").iterdir()))
    del some
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) == before - 1


def test_a_stream_is_copied_and_opened_as_what_it_is(tmp_path: Path) -> None:
    stream = io.BytesIO(make_zip(tmp_path / "f.zip", CONTENTS).read_bytes())
    spool = tmp_path / "spool"
    spool.mkdir()
    upload = open_stream("C:\\fakepath\\Tasks.ZIP", stream, folder=spool)
    assert contents_of(upload) == CONTENTS
    assert upload.name == "Tasks.ZIP"
    one = open_stream("../../up.json", io.BytesIO(b"{}"), folder=spool)
    assert contents_of(one) == {"up.json": b"{}"}
    assert not (tmp_path / "up.json").exists()


def test_a_stream_past_the_limit_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    limits = Limits(upload_bytes=1000)
    with pytest.raises(AcademyError, match="larger than 1000 bytes"):
        open_stream("a.json", io.BytesIO(bytes(1001)), folder=tmp_path, limits=limits)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "..", "CON.json", "a\x00b", "x" * 300])
def test_a_stream_with_an_unfit_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(AcademyError):
        open_stream(name, io.BytesIO(b"{}"), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
