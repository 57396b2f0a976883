"""Runs of a few lines, and the records that they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from academy.models import InstanceRecord, Run
from tests import factories as make


def lines(*executions: dict[str, Any], **header: Any) -> Mapping[str, Any]:
    """The file of a run: its header and its executions."""
    return make.line_run(*executions, **header)


def records_of(run: Run) -> list[InstanceRecord]:
    """The records of a run, in order."""
    return list(InstanceRecord.objects.of_run(run.pk).order_by("id"))
