"""Boards on pages: tables of boards, the figure of a row."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from academy.templatetags.display import interval, metric_value
from leaderboard import presenting
from leaderboard.models import Board

register = template.Library()


@register.inclusion_tag("leaderboard/_board_table.html")
def boards_table(user: Any) -> dict[str, Any]:
    """All boards that this person may see."""
    return {"boards": presenting.board_rows(Board.objects.visible_to(user).order_by("title", "pk"))}


@register.inclusion_tag("leaderboard/_board_table.html")
def boards_of_version(version: Any, user: Any) -> dict[str, Any]:
    """The boards of a version."""
    boards = Board.objects.visible_to(user).filter(versions=version).order_by("title", "pk")
    return {"boards": presenting.board_rows(boards)}


@register.simple_tag
def boards_of_run(run: Any, user: Any) -> SafeString:
    """Links to the boards on which a run may stand."""
    boards = Board.objects.visible_to(user).filter(versions=run.version_id).order_by("title", "pk")
    return format_html_join(
        " ", '<a class="btn" href="/boards/{}/">{}</a>', ((b.slug, b.title) for b in boards[:4])
    )


@register.simple_tag
def board_interval(axis: dict[str, Any], row: dict[str, Any], is_first: bool) -> SafeString:
    """The figure of one entry on the board's axis, with the same in words."""
    label = f"{row['shown']}"
    if row["shown_low"]:
        label += f", interval {row['shown_low']} to {row['shown_high']}"
    if row["score"] is None:
        return format_html('<span class="dim">–</span>')
    drawn: SafeString = interval(
        axis, row["low"], row["score"], row["high"], label, quiet=not is_first
    )
    return drawn


@register.filter
def column_value(value: float | None, column: dict[str, Any]) -> str:
    """A second number of a row."""
    text: str = metric_value(value, column["kind"], column["unit"], column["low"], column["high"])
    return text


@register.filter
def as_percent(share: float) -> str:
    """A share as per cent."""
    return f"{share * 100:g} %"
