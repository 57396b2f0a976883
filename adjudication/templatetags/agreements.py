"""Agreement of people on the pages of other apps."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from academy.correction import ENOUGH_DOUBLE
from adjudication.agreeing import agreements_on_version
from adjudication.agreement import cohen_kappa, gwet_ac1, percent_agreement
from adjudication.report_pages import SHARE_AXIS, agreement_row

register = template.Library()

TABLES = ([[95, 2], [3, 0]], [[40, 5], [5, 50]])


@register.inclusion_tag("adjudication/_version_agreement.html")
def agreement_on_version(version: Any, user: Any) -> dict[str, Any]:
    """How far people agree on the criteria of a version."""
    found = agreements_on_version(version, user)
    return {
        "version": version,
        "rows": [agreement_row(one) for one in found.by_scale],
        "first": found.first,
        "axis": SHARE_AXIS,
        "enough": ENOUGH_DOUBLE,
    }


@register.simple_tag
def agreement_enough() -> int:
    """The doubly decided records below which nothing is concluded."""
    return ENOUGH_DOUBLE


@register.simple_tag
def agreement_cases() -> SafeString:
    """Rows of reference values of agreement, computed by the functions of the reports."""
    rows = []
    for table in TABLES:
        counts = " / ".join(str(number) for line in table for number in line)
        figures = (percent_agreement(table), cohen_kappa(table), gwet_ac1(table))
        shown = ", ".join(
            "–" if one.point is None else f"{one.point:.4f}".replace("-", "−") for one in figures
        )
        rows.append((counts, shown))
    row = '<tr><th>Agreement {}: percent, kappa, AC1</th><td class="n">{}</td></tr>'
    return format_html_join("", row, rows)
