"""What pages show of studies."""

from __future__ import annotations

from typing import Any

from django import template

from academy import studying
from academy.models import SuiteVersion

register = template.Library()


@register.inclusion_tag("academy/_pilot.html")
def pilot_mark(version: SuiteVersion) -> dict[str, Any]:
    """The mark of a pilot with all that it must carry; nothing for what is no pilot."""
    return {"pilot": studying.pilot_facts(version)}
