"""What the reader of Every Eval Ever tells and refuses, by rule."""

from __future__ import annotations

import pytest

from academy.bundle import SuiteUpload
from academy.errors import FormatError
from academy.formats.every_eval_ever.parse import parse_suite
from academy.formats.reading import Files


def told(upload: SuiteUpload) -> set[str]:
    return {notice.rule for notice in upload.notices}


def refused(files: Files) -> dict[str, str]:
    """The rules that refuse files, each with its whole line."""
    with pytest.raises(FormatError) as caught:
        parse_suite(files)
    return {problem.rule: str(problem) for problem in caught.value.problems}
