"""Arguments that come as JSON are held against what a function says it takes, before it is called.

The annotations are the one description of that, so an error can name the argument and its place.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from academy.bundle import JSON

# What lies between 0 and 1, wherever it is asked for.
SHARES = {"confidence", "power"}
WORDS = {int: "a whole number", float: "a finite number", bool: "true or false", str: "a text"}


def call(function: Callable[..., object], arguments: JSON) -> object:
    """Call a function with an object of arguments by name, or a list of them by position.

    ValueError that names the argument for one that is missing, unknown or not of its kind; whatever
    the function raises goes through. A whole number may be written like 3.0.
    """
    signature = inspect.signature(function)
    named = arguments if isinstance(arguments, Mapping) else {}
    listed = [] if isinstance(arguments, Mapping) else arguments
    if not isinstance(listed, list | tuple):
        raise ValueError(f"arguments are an object or a list, not {_shown(arguments)}")
    try:
        bound = signature.bind(*listed, **named)
    except TypeError as error:
        names = ", ".join(signature.parameters)
        raise ValueError(f"{error}; the arguments are {names}") from None
    kinds = get_type_hints(function)
    for name, value in bound.arguments.items():
        bound.arguments[name] = _held(value, kinds[name], name)
    return function(*bound.args, **bound.kwargs)


def _held(value: Any, kind: Any, where: str) -> Any:
    """The value as its kind has it; ValueError for one that is of no such kind."""
    choices = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    if any(_is_array(choice) for choice in choices):
        return _array(value, where)
    problems = []
    for choice in choices:
        try:
            return _held_as(value, choice, where)
        except ValueError as error:
            problems.append(error)
    # An object or a list that is nearly right says more than that it is none of the others.
    raise max(problems, key=lambda error: len(str(error).partition(" ")[0]))


def _held_as(value: Any, kind: Any, where: str) -> Any:
    origin = get_origin(kind)
    if origin is Literal:
        return _one_of(value, get_args(kind), where)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _one_of(value, [one.value for one in kind], where)
    if is_dataclass(kind):
        return _object(value, kind, where)
    if origin is tuple or origin is Sequence:
        return _list(value, kind, where)
    if origin is Mapping:
        if not isinstance(value, Mapping):
            raise ValueError(f"{where} is an object, not {_shown(value)}")
        return {key: _held(one, get_args(kind)[1], f"{where}.{key}") for key, one in value.items()}
    if kind is types.NoneType:
        if value is not None:
            raise ValueError(f"{where} is null, not {_shown(value)}")
        return None
    return _scalar(value, kind, where)


def _scalar(value: Any, kind: Any, where: str) -> Any:
    if kind is Hashable:
        if isinstance(value, list | Mapping):
            raise ValueError(f"{where} is a label, not {_shown(value)}")
        return value
    is_number = isinstance(value, int | float)
    is_fit = {
        int: is_number and (isinstance(value, int) or value.is_integer()),
        float: is_number and abs(value) <= sys.float_info.max,
    }.get(kind, isinstance(value, kind))
    if not is_fit:
        raise ValueError(f"{where} is {WORDS[kind]}, not {_shown(value)}")
    if where.rpartition(".")[2] in SHARES and not 0 < value < 1:
        raise ValueError(f"{where} lies between 0 and 1, not at {_shown(value)}")
    return int(value) if kind is int and isinstance(value, float) else value


def _list(value: Any, kind: Any, where: str) -> Any:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{where} is a list, not {_shown(value)}")
    parts = get_args(kind)
    if get_origin(kind) is not tuple:
        parts = parts * len(value)
    if len(parts) != len(value):
        raise ValueError(f"{where} has {len(parts)} entries, not {len(value)}")
    held = zip(value, parts, strict=True)
    return [_held(one, part, f"{where}[{place}]") for place, (one, part) in enumerate(held)]


def _object(value: Any, kind: Any, where: str) -> Any:
    """An object with the fields of a dataclass. What makes the dataclass reads its arrays."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} is an object, not {_shown(value)}")
    known = {field.name: field for field in fields(kind)}
    if unknown := sorted(set(value) - set(known)):
        raise ValueError(f"{where} has no {unknown[0]!r}; its fields are {', '.join(known)}")
    for name, field in known.items():
        if name not in value and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{where} lacks {name!r}")
    kinds = get_type_hints(kind)
    return {
        name: one
        if any(_is_array(choice) for choice in get_args(kinds[name]))
        else _held(one, kinds[name], f"{where}.{name}")
        for name, one in value.items()
    }


def _array(value: Any, where: str) -> Any:
    """Numbers in lists, of any depth; null is a missing one."""
    if isinstance(value, list | tuple):
        return [_array(one, f"{where}[{place}]") for place, one in enumerate(value)]
    return value if value is None else _scalar(value, float, where)


def _one_of(value: Any, known: Sequence[Any], where: str) -> Any:
    if value not in known:
        raise ValueError(f"{where} is {_shown(value)}, not one of {', '.join(map(str, known))}")
    return value


def _is_array(kind: Any) -> bool:
    """Whether a kind is one of numpy's: of its arrays, or of what it reads as one."""
    return (getattr(typing.get_origin(kind) or kind, "__module__", "") or "").startswith("numpy")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
