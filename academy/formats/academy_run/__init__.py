"""The project's own form of a run, accepted for the suites of every format (see README.md)."""

from __future__ import annotations

from academy.formats.academy_run.checking import published_schemas
from academy.formats.academy_run.export import export_run
from academy.formats.academy_run.runs import claims_run, parse_run
from academy.formats.academy_run.viewing import view
from academy.formats.base import Format

FORMAT = Format(
    key="academy_run",
    label="Academy run",
    summary="A header line and a line per execution, for the suites of every format.",
    claims_run=claims_run,
    parse_run=parse_run,
    view=view,
    export_run=export_run,
    schemas=published_schemas,
)
