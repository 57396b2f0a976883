"""Canonical JSON (RFC 8785 and the ECMAScript variant), numbers in ECMAScript form, digests."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from json.encoder import encode_basestring as quote

from academy.bundle import JSON

SAFE_INTEGER = 2**53
INDEX_LIKE = re.compile(r"0|[1-9][0-9]{0,9}")
INDEX_END = 2**32 - 1
PROTO = "__proto__"


def sha256_hex(data: bytes) -> str:
    """SHA-256 in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def digest(value: JSON) -> str:
    """SHA-256 of the canonical JSON of a value."""
    return sha256_hex(canonical_json(value))


def es_number(number: float) -> str:
    """A number as ECMAScript prints it (ECMA-262, Number::toString).

    Whole numbers past 2**53 first become the nearest double. Raises ValueError when the number is
    not finite or does not fit a double.
    """
    if isinstance(number, int):
        if -SAFE_INTEGER <= number <= SAFE_INTEGER:
            return int.__repr__(number)
        try:
            number = float(number)
        except OverflowError:
            raise ValueError("a whole number is too large for a double") from None
    if not math.isfinite(number):
        raise ValueError(f"{number} has no JSON form")
    text = float.__repr__(number)
    if "e" not in text:
        return ("0" if number == 0 else text[:-2]) if text.endswith(".0") else text
    return es_exponential(text)


def es_exponential(text: str) -> str:
    """Python's shortest form with an exponent, as ECMAScript lays the same digits out."""
    mantissa, _, exponent = text.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = fraction if fraction != "0" else ""
    digits = whole + fraction
    point = int(exponent) + 1
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def utf16_order(key: str) -> bytes:
    """A sort key by UTF-16 code units; lone surrogates sort as the units they are."""
    return key.encode("utf-16-be", "surrogatepass")


def by_code_units(keys: Iterable[str]) -> list[str]:
    """Keys by UTF-16 code units. Code points give another order only past U+FFFF."""
    ordered = sorted(keys)
    if not all(map(str.isascii, ordered)):
        ordered.sort(key=utf16_order)
    return ordered


def by_ecmascript(keys: Iterable[str]) -> list[str]:
    """Whole-number keys by number, then the others by UTF-16 code units."""
    ordered = by_code_units(keys)
    indices = [key for key in ordered if INDEX_LIKE.fullmatch(key) and int(key) < INDEX_END]
    if not indices:
        return ordered
    named = set(indices)
    return sorted(indices, key=int) + [key for key in ordered if key not in named]


def text_of(value: JSON, order: Callable[[Iterable[str]], list[str]]) -> str:
    """The text of a value with the keys of every object in this order."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int | float):
        return es_number(value)
    if isinstance(value, dict | Mapping):
        inner = [f"{quote(key)}:{text_of(value[key], order)}" for key in order(value)]
        return "{" + ",".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([text_of(item, order) for item in value]) + "]"
    raise TypeError(f"{type(value).__name__} is no JSON value")


def encode(value: JSON, order: Callable[[Iterable[str]], list[str]]) -> bytes:
    """The text of a value in UTF-8; lone surrogates as escapes, the one place they can be."""
    return text_of(value, order).encode("utf-8", "backslashreplace")


def canonical_json(value: JSON) -> bytes:
    """Canonical JSON by RFC 8785, for every value that the reader accepts.

    Whole numbers past 2**53 become doubles, as any reader of the RFC would take them. A lone
    surrogate, for which the RFC has no form, is written as its escape. Raises ValueError for
    numbers that are not finite and TypeError for what is no JSON value.
    """
    return encode(value, by_code_units)


def ecmascript_json(value: JSON, *, keep_proto: bool = False) -> bytes:
    """JSON as a sorted rebuild in ECMAScript writes it: whole-number keys first, in numeric order.

    Members named `__proto__` vanish, as they do where an object is rebuilt by assignment;
    `keep_proto` keeps them.
    """
    return encode(value, by_ecmascript if keep_proto else by_ecmascript_without_proto)


def by_ecmascript_without_proto(keys: Iterable[str]) -> list[str]:
    """The ECMAScript order of all keys but `__proto__`."""
    return [key for key in by_ecmascript(keys) if key != PROTO]


def plain(value: object) -> object:
    """Containers that the standard encoder does not know, as ones that it does."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def python_json(value: JSON, *, ascii_only: bool = True, spaces: bool = False) -> bytes:
    """JSON as Python writes it with sorted keys: `1` and `1.0` differ, keys by code point.

    Several public recipes are defined this way. Raises ValueError for numbers that are not finite.
    """
    separators = (", ", ": ") if spaces else (",", ":")
    text = json.dumps(
        value,
        sort_keys=True,
        ensure_ascii=ascii_only,
        separators=separators,
        allow_nan=False,
        default=plain,
    )
    return text.encode("utf-8", "backslashreplace")
