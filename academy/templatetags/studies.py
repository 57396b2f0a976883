"""Studies on pages: what a pilot must say of itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template

from academy import piloting
from academy.models import SuiteVersion

register = template.Library()


@register.inclusion_tag("academy/_pilot.html")
def pilot_mark(version: SuiteVersion) -> dict[str, Any]:
    """The mark of a pilot with all that it must carry; nothing for what is no pilot."""
    return {"pilot": piloting.pilot_facts(version)}


@register.inclusion_tag("academy/_pilots.html")
def pilots_of(rows: Iterable[Any], path: str = "") -> dict[str, Any]:
    """What the pilots of a list say of themselves, each once. The rows are versions, or lead to
    one by a dotted path as in a template; a row that leads to none is passed over."""
    variable = template.Variable(f"row.{path}" if path else "row")
    found = [variable.resolve({"row": row}) for row in rows]
    return {"pilots": piloting.named_pilots(version for version in found if version is not None)}
