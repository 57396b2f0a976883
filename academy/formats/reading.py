"""The only reader of foreign bytes: text, JSON, JSON lines, YAML and archives, within limits."""

from __future__ import annotations

from academy.formats.archive_reading import read_zip
from academy.formats.json_reading import line_of, read_json
from academy.formats.jsonl_reading import Line, read_jsonl
from academy.formats.limits import LIMITS, Limits
from academy.formats.members import Files, path_problem, safe_path
from academy.formats.text_reading import check_text, pointer, read_text
from academy.formats.yaml_reading import read_yaml, read_yaml_lines

__all__ = [
    "LIMITS",
    "Files",
    "Limits",
    "Line",
    "check_text",
    "line_of",
    "path_problem",
    "pointer",
    "read_json",
    "read_jsonl",
    "read_text",
    "read_yaml",
    "read_yaml_lines",
    "read_zip",
    "safe_path",
]
