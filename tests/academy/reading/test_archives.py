"""Archives give the files that are in them, or are refused by name."""

from __future__ import annotations

import io
import os
import struct
import time
import zipfile
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.errors import FormatError
from academy.formats.reading import Limits, path_problem, read_zip, safe_path
from tests.academy.reading.refusals import refusal


def make_zip(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def test_a_zip_gives_its_files_in_order() -> None:
    files = read_zip(make_zip({"b/two.json": b"2", "a.json": b"1", "c/": b""}), path="a.zip")
    assert list(files) == [PurePosixPath("a.json"), PurePosixPath("b/two.json")]
    assert files["b/two.json"] == b"2"
    with files.open("b/two.json") as first, files.open("a.json") as second:
        assert (first.read(), second.read()) == (b"2", b"1")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../../etc/hostname", "climbs"),
        ("a/../../b", "climbs"),
        ("/etc/hostname", "absolute"),
        ("C:\\Windows\\x", "backslash"),
        ("C:/Windows/x", "drive"),
        ("a\\b.json", "backslash"),
        ("CON.json", "reserved"),
        ("sub/nul", "reserved"),
        ("lpt1.tar.gz", "reserved"),
        ("aux .txt", "reserved"),
        ("a/.. /b", "dots and spaces"),
        ("...", "dots and spaces"),
        ("new\nline", "control"),
        ("x" * 300, "longer than 255"),
        ("a/" * 40 + "b", "deeper than 32"),
    ],
)
def test_a_bad_path_is_refused_by_name(name: str, words: str) -> None:
    problem = refusal(lambda: read_zip(make_zip({"fine.json": b"", name: b"x"}), path="a.zip"))
    assert (problem.file, problem.rule) == ("a.zip", "path")
    assert words in problem.message
    assert repr(name) in problem.message
    assert safe_path(name) is None
    assert words in (path_problem(name) or "")


def test_an_ordinary_path_is_taken() -> None:
    for text in (
        "a.json",
        "./a//b.json",
        "console.json",
        "a..b/c",
        "ünï/ç.yaml",
        "com.txt",
        ".x",
        "m-check.../a",
    ):
        assert safe_path(text) == PurePosixPath(text)
    assert safe_path("") is None
    assert safe_path(".") is None


@pytest.mark.parametrize(
    "names",
    [
        ["A.json", "a.json"],
        ["dir/a.json", "DIR/A.json"],
        ["dir", "DIR/a.json"],
        ["caf\u00e9.json", "cafe\u0301.json"],
        ["a", "a/b"],
        ["a/b", "a"],
        ["a/b", "a//b"],
        ["a/b", "./a/b"],
        ["x", "x/"],
    ],
)
def test_names_that_collide_are_refused(names: list[str]) -> None:
    data = make_zip(dict.fromkeys(names, b""))
    problem = refusal(lambda: read_zip(data, path="a.zip"))
    assert problem.rule == "path-collision"


def test_an_entry_that_comes_twice_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.json", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.json", b"2")
    problem = refusal(lambda: read_zip(buffer.getvalue(), path="a.zip"))
    assert "'a.json' is there twice" in problem.message


def special_entry(mode: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("link.json")
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/hostname")
    return buffer.getvalue()


@pytest.mark.parametrize(("mode", "words"), [(0o120777, "symbolic link"), (0o010644, "neither")])
def test_links_and_devices_are_refused(mode: int, words: str) -> None:
    problem = refusal(lambda: read_zip(special_entry(mode), path="a.zip"))
    assert problem.rule == "archive-link"
    assert words in problem.message


def test_an_encrypted_entry_is_refused() -> None:
    data = bytearray(make_zip({"a.json": b"{}"}))
    for signature, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.index(signature) + place] |= 1
    assert refusal(lambda: read_zip(bytes(data), path="a.zip")).rule == "archive-encrypted"


def test_a_method_that_needs_much_memory_is_refused() -> None:
    data = make_zip({"a.json": b"{}"}, zipfile.ZIP_LZMA)
    assert refusal(lambda: read_zip(data, path="a.zip")).rule == "archive-method"


def test_an_archive_that_expands_a_thousandfold_is_refused() -> None:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a", "w") as out,
    ):
        for _ in range(64):
            out.write(bytes(2**20))
    problem = refusal(lambda: read_zip(buffer.getvalue(), path="a.zip"))
    assert problem.rule == "archive-ratio"
    limits = Limits(archive_bytes=2**20)
    assert (
        refusal(lambda: read_zip(buffer.getvalue(), path="a", limits=limits)).rule == "archive-size"
    )


def many_entries(count: int) -> bytes:
    """A zip of empty entries, written by hand since the library takes seconds for it."""
    local, central = io.BytesIO(), io.BytesIO()
    for number in range(count):
        name = b"%d" % number
        offset = local.tell()
        local.write(struct.pack("<4s5H3L2H", b"PK\x03\x04", 10, 0, 0, 0, 33, 0, 0, 0, len(name), 0))
        local.write(name)
        central.write(
            struct.pack(
                "<4s4B4HL2L5H2L", b"PK\x01\x02", 10, 3, 10, 0, 0, 0, 0, 33, 0, 0, 0, len(name),
                0, 0, 0, 0, 0, offset,
            )
        )  # fmt: skip
        central.write(name)
    count16 = count & 0xFFFF if count < 0xFFFF else 1
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, count16, count16, central.tell(), local.tell(), 0
    )
    return local.getvalue() + central.getvalue() + end


def test_two_hundred_thousand_empty_entries_are_refused_whatever_the_trailer_says() -> None:
    data = many_entries(200_000)
    started = time.perf_counter()
    assert refusal(lambda: read_zip(data, path="a.zip")).rule == "archive-entries"
    assert time.perf_counter() - started < 0.5
    assert len(read_zip(many_entries(1000), path="a.zip")) == 1000


def test_a_member_larger_than_the_archive_says_is_refused() -> None:
    data = bytearray(make_zip({"a.json": b"[" + b"1," * 5000 + b"1]"}))
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<L", 100)
    files = read_zip(bytes(data), path="a.zip")
    assert refusal(lambda: files["a.json"]).rule == "archive-damaged"


def test_a_second_name_hidden_in_an_entry_is_refused() -> None:
    data = make_zip({"a.json_b": b"{}"}).replace(b"a.json_b", b"a.json\x00b")
    assert refusal(lambda: read_zip(data, path="a.zip")).rule == "path"


@given(st.integers(0, 10**6), st.integers(0, 255), st.booleans())
@settings(max_examples=150)
def test_a_damaged_archive_is_refused_or_gives_what_was_in_it(
    place: int, byte: int, cut: bool
) -> None:
    contents = {"a.json": b'{"a": 1}' * 50, "b/c.txt": os.urandom(0) + b"text" * 20}
    whole = make_zip(contents)
    place %= len(whole)
    bad = whole[:place] if cut else whole[:place] + bytes([byte]) + whole[place + 1 :]
    try:
        files = read_zip(bad, path="a.zip")
        read = [files[path] for path in files]
    except FormatError:
        return
    assert all(data in contents.values() for data in read)
