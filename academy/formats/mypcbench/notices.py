"""What is odd about a task that can be imported all the same: told, never repaired."""

from __future__ import annotations

from decimal import Decimal

from academy.bundle import TaskSpec
from academy.errors import Problems
from academy.formats.mypcbench.documents import Document
from academy.formats.mypcbench.schemas import Form, schema_errors
from academy.formats.reading import pointer

TOLERANCE = Decimal("0.001")


def note_oddities(task: TaskSpec, document: Document, problems: Problems) -> None:
    """Note the first deviation from the schema, and weights that do not sum to 1."""
    if task.criteria:
        total = sum((Decimal(repr(held.weight)) for held in task.criteria), Decimal(0))
        if abs(total - 1) > TOLERANCE:
            problems.warn(
                document.path,
                "weight-sum",
                f"{task.external_id}: the weights sum to {total:f}; scores are shares of the sum.",
                pointer=f"{document.at}/grading/rubrics",
            )
    for form in (Form.PAPER, Form.STRICT):
        errors = schema_errors(document.data, form) if "grading" in document.data else ()
        if not errors:
            continue
        first = errors[0]
        at = document.at + pointer(*first.path)
        message = f"{task.external_id}: {first.message} ({form} form of the schema)."
        if form is Form.PAPER:
            problems.warn(document.path, "schema", message, pointer=at)
        else:
            problems.note(document.path, "schema", message, pointer=at)
        return
