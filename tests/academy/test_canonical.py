"""Canonical texts agree with the RFC, with ECMAScript's rules and with published vectors."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from types import MappingProxyType

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import JSON
from academy.canonical import (
    canonical_json,
    digest,
    ecmascript_json,
    es_number,
    python_json,
    sha256_hex,
)

NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
@settings(max_examples=200)
def test_the_canonical_text_is_that_of_the_reference_library(value: JSON) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@given(VALUES)
@settings(max_examples=100)
def test_the_canonical_text_is_json_of_the_same_value_and_canonical_again(value: JSON) -> None:
    text = canonical_json(value)
    again = json.loads(text, parse_int=float)
    assert again == value
    assert canonical_json(again) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=300)
def test_a_number_keeps_its_value(number: float) -> None:
    text = es_number(number)
    assert float(text) == number
    assert es_number(float(text)) == text


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        # Appendix B of RFC 8785.
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_a_number_prints_as_the_rfc_says(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert es_number(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (244.0, "244"),
        (1e16, "10000000000000000"),
        (1.5e300, "1.5e+300"),
        (123456789012345678, "123456789012345680"),
        (2**53 + 1, "9007199254740992"),
        (-(2**53) - 1, "-9007199254740992"),
        (10**20, "100000000000000000000"),
        (10**21, "1e+21"),
        (1e-5, "0.00001"),
        (1.25e-6, "0.00000125"),
        (1e-7, "1e-7"),
    ],
)
def test_whole_and_small_numbers_print_as_ecmascript_prints_them(number: float, text: str) -> None:
    assert es_number(number) == text


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**400])
def test_a_number_without_a_double_has_no_text(number: float) -> None:
    for write in (canonical_json, ecmascript_json):
        with pytest.raises(ValueError, match=r"no JSON form|too large"):
            write([number])


def test_what_is_no_json_value_has_no_text() -> None:
    with pytest.raises(TypeError):
        canonical_json({"a": b"bytes"})


def test_keys_are_ordered_by_utf16_code_units() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6", "10", "2", ""]
    ordered = ["", "\r", "1", "10", "2", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical_json(dict.fromkeys(keys, 1)))) == ordered


def test_ecmascript_puts_whole_number_keys_first() -> None:
    keys = ["b", "10", "2", "01", "-1", "4294967294", "4294967295", "1.5", "0", "a", "²"]
    ordered = ["0", "2", "10", "4294967294", "-1", "01", "1.5", "4294967295", "a", "b", "²"]
    assert list(json.loads(ecmascript_json(dict.fromkeys(keys, 1)))) == ordered


def test_only_what_must_be_is_escaped() -> None:
    text = 'é \u2028 \x07 \x7f \ud800 / " \\ \n \x1f'
    expected = '"é \u2028 \\u0007 \x7f \\ud800 / \\" \\\\ \\n \\u001f"'.encode()
    assert canonical_json(text) == ecmascript_json(text) == expected


def test_proto_members_vanish_only_where_the_original_loses_them() -> None:
    value: JSON = {"x": {"__proto__": {"y": 1}, "k": 2}}
    assert ecmascript_json(value) == b'{"x":{"k":2}}'
    assert ecmascript_json(value, keep_proto=True) == canonical_json(value)


def test_values_of_other_containers_are_the_same_text() -> None:
    value: JSON = MappingProxyType({"b": (1, 2.0), "a": MappingProxyType({})})
    assert canonical_json(value) == b'{"a":{},"b":[1,2]}'
    assert digest(value) == sha256_hex(b'{"a":{},"b":[1,2]}')


def test_python_texts_tell_whole_numbers_from_decimal_ones() -> None:
    value: JSON = {"b": 1, "a": [1.0, "é"]}
    assert python_json(value) == b'{"a":[1.0,"\\u00e9"],"b":1}'
    assert python_json(value, ascii_only=False, spaces=True) == '{"a": [1.0, "é"], "b": 1}'.encode()
    assert python_json(MappingProxyType({"a": (1,)})) == b'{"a":[1]}'
    with pytest.raises(ValueError, match="JSON"):
        python_json([math.nan])


def test_the_published_vectors_agree(conformance_data: Path) -> None:
    oracle = json.loads((conformance_data / "opentakeoff" / "oracle.json").read_bytes())
    for case in oracle["canonical"]:
        text = ecmascript_json(json.loads(case["jsonText"]))
        assert (text.decode(), sha256_hex(text)) == (case["canonical"], case["sha256"])
