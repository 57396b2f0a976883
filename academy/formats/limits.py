"""How much of anything a reader takes before it refuses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is refused before it can do harm: bytes, items, levels.

    `archive_ratio` counts only from `archive_ratio_from` unpacked bytes on, since small texts
    compress well without being a trap. `number_digits` bounds the digits of a whole number.
    """

    document_bytes: int = 64 * 2**20
    line_bytes: int = 16 * 2**20
    depth: int = 200
    nodes: int = 5_000_000
    number_digits: int = 1000
    yaml_bytes: int = 2**20
    yaml_nodes: int = 50_000
    yaml_aliases: int = 100
    yaml_depth: int = 60
    archive_bytes: int = 2 * 2**30
    archive_entries: int = 20_000
    archive_ratio: int = 200
    archive_ratio_from: int = 16 * 2**20
    upload_bytes: int = 4 * 2**30
    path_bytes: int = 1024
    path_depth: int = 32


LIMITS = Limits()
