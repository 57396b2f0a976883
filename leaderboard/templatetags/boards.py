"""Boards on pages: tables of boards, sorting links, and the small figures of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from academy.templatetags.display import count as counted
from academy.templatetags.display import dollars, interval, metric_value, milliseconds
from leaderboard import appraising, listing
from leaderboard.choices import Choice
from leaderboard.digits import shown
from leaderboard.models import Board

register = template.Library()

SLICE_WIDTH = 96
NAMED = 3


@register.inclusion_tag("leaderboard/_board_table.html")
def boards_table(user: Any) -> dict[str, Any]:
    """All boards that this person may see."""
    return _table(Board.objects.visible_to(user).order_by("title", "pk"))


@register.inclusion_tag("leaderboard/_board_table.html")
def boards_of_version(version: Any, user: Any) -> dict[str, Any]:
    """The boards of a version."""
    boards = Board.objects.visible_to(user).filter(versions=version).order_by("title", "pk")
    return {**_table(boards), "pilots": []}


@register.inclusion_tag("leaderboard/_board_table.html")
def boards_of_suite(suite: Any, user: Any) -> dict[str, Any]:
    """The boards over any version of a suite."""
    boards = Board.objects.visible_to(user).filter(versions__suite=suite).distinct()
    return {**_table(boards.order_by("title", "pk")), "pilots": []}


def _table(boards: Iterable[Board]) -> dict[str, Any]:
    """The rows of a table of boards, and what the pilots among them must say of themselves. A page
    that is of one suite or version says that itself."""
    rows = listing.board_rows(boards)
    return {"boards": rows, "pilots": listing.pilots_in(rows)}


@register.simple_tag
def first_page(user: Any) -> dict[str, Any]:
    """What the first page tells of boards."""
    return listing.first_page(user)


@register.inclusion_tag("leaderboard/_version_facts.html")
def version_facts(version: Any, user: Any) -> dict[str, Any]:
    """What can be said of a version: gate, limits, baselines, detectable differences, room left."""
    metrics = list(version.metrics.order_by("ordinal", "pk"))
    return {"version": version, "metrics": metrics, **appraising.version_facts(version, user)}


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
        return mark_safe('<span class="dim">–</span>')
    drawn: SafeString = interval(
        axis, row["low"], row["score"], row["high"], label, quiet=not is_first
    )
    return drawn


@register.simple_tag
def slice_interval(axis: dict[str, Any], cell: dict[str, Any] | None) -> SafeString:
    """The small figure of an entry in a slice."""
    if not cell or cell["score"] is None or cell["low"] is None:
        return mark_safe('<span class="dim">–</span>')
    start, end = float(axis["low"]), float(axis["high"])

    def place(value: float) -> float:
        inside = min(max(value, start), end) - start
        return 3 + (SLICE_WIDTH - 6) * inside / ((end - start) or 1.0)

    low, high = place(cell["low"]), place(cell["high"])
    return format_html(
        '<svg class="fig" width="{0}" height="18" viewBox="0 0 {0} 18" role="img"'
        ' aria-label="interval {1} to {2}"><line class="grid-l" x1="{3}" x2="{3}" y1="0" y2="18"/>'
        '<rect class="band q" x="{4}" y="6" width="{5}" height="6" rx="3"/>'
        '<circle class="pt" cx="{6}" cy="9" r="3.5"/></svg>',
        SLICE_WIDTH,
        cell["shown_low"],
        cell["shown_high"],
        SLICE_WIDTH / 2,
        f"{low:.1f}",
        f"{max(2.0, high - low):.1f}",
        f"{place(cell['score']):.1f}",
    )


@register.simple_tag
def distribution(cell: dict[str, Any], scale: list[int]) -> SafeString:
    """How often each rating was given, as bars on one height, with the same in words."""
    most = max(cell["counts"], default=0) or 1
    bars = format_html_join(
        "",
        '<rect class="band" x="{}" y="{}" width="18" height="{}"/>',
        (
            (22 * place, f"{22 - 20 * number / most:.1f}", f"{20 * number / most:.1f}")
            for place, number in enumerate(cell["counts"])
        ),
    )
    words = ", ".join(
        f"{number} times {step}" for step, number in zip(scale, cell["counts"], strict=True)
    )
    width = 22 * len(scale)
    return format_html(
        '<svg class="fig" width="{0}" height="24" viewBox="0 0 {0} 24" role="img"'
        ' aria-label="{1}">{2}<line class="axis" x1="0" x2="{0}" y1="22.5" y2="22.5"/></svg>',
        width,
        words,
        bars,
    )


@register.simple_tag
def sort_link(choice: Choice, name: str, label: str, direction: str = "up") -> SafeString:
    """A heading that sorts by its column; a second click turns the order round. The column that
    gives the order has an arrow."""
    sort = f"-{name}" if choice.sort == name else name
    arrow = {"descending": " ↓", "ascending": " ↑"}.get(_order(choice, name, direction), "")
    return format_html('<a href="{}">{}{}</a>', choice.query(sort=sort), label, arrow)


@register.filter
def rank_spread(row: dict[str, Any]) -> str:
    """Where an entry may truly stand, as one place or two ends; nothing where it is not known."""
    low, high = row["rank_low"], row["rank_high"]
    if low is None:
        return ""
    return str(low) if low == high else f"{low}–{high}"


@register.filter
def by_reason(differences: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """What moved since a snapshot, by its reason, in the order in which reasons come first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for change in differences:
        found.setdefault(change["why"], []).append(change)
    return list(found.items())


@register.filter
def moves_in_short(differences: list[dict[str, Any]]) -> str:
    """The first reason of what moved, whom it moved, and how many moved besides."""
    (reason, first), *_rest = by_reason(differences)
    names = [held["name"] for held in first[:NAMED]]
    others = len(differences) - len(names)
    more = f" and {others} other{'s' if others > 1 else ''}" if others else ""
    return f"{reason[:1].upper()}{reason[1:]}: {', '.join(names)}{more}"


@register.filter
def thousands(value: int) -> str:
    """A whole number with commas."""
    return f"{value:,}"


@register.simple_tag
def sort_state(choice: Choice, name: str, direction: str = "up") -> SafeString:
    """The aria-sort of a heading, if the table is in its order."""
    order = _order(choice, name, direction)
    return format_html(' aria-sort="{}"', order) if order else mark_safe("")


def _order(choice: Choice, name: str, direction: str) -> str:
    """The order of a column as aria-sort names it; "" if the table is in another one's."""
    if choice.sort.removeprefix("-") != name and not (name == "score" and not choice.sort):
        return ""
    falls = name == "score" and direction == "up"
    if choice.sort.startswith("-"):
        falls = not falls
    return "descending" if falls else "ascending"


@register.simple_tag
def slice_url(choice: Choice, name: str) -> str:
    """The address of the same board cut to a slice."""
    return choice.query(slice=name)


USAGE = {"cost_micros": dollars, "tokens_out": counted, "wall_ms": milliseconds}


@register.simple_tag
def usage_cell(row: dict[str, Any], name: str) -> SafeString:
    """The median of cost, tokens or time, with the share of records that carry it."""
    held = row["usage"].get(name)
    if not held:
        return mark_safe('<td class="n">–</td>')
    share = held["share"]
    if share < 1:
        return format_html(
            '<td class="n">{}<small>{} % known</small></td>',
            USAGE[name](held["median"]),
            f"{share * 100:.0f}",
        )
    return format_html('<td class="n">{}</td>', USAGE[name](held["median"]))


@register.simple_tag
def movement_cell(row: dict[str, Any], metric: dict[str, Any]) -> SafeString:
    """How a row moved since the snapshot before: its score, and its rank where that differs."""
    if row["movement"] == "new":
        return mark_safe('<td class="n"><span class="tag acc">new</span></td>')
    told = format_html('<td class="n">{}', change_text(row, metric))
    if row["rank"] != row["rank_before"]:
        before = "not ranked" if row["rank_before"] is None else f"rank {row['rank_before']}"
        told += format_html("<small>was {}</small>", before)
    return told + mark_safe("</td>")


def change_text(row: dict[str, Any], metric: dict[str, Any]) -> str:
    """The change of a score with its sign and the digits in which it is shown."""
    change = row["change"]
    if not change:
        return "–" if change is None else "0"
    texts = (row["shown"], row["shown_before"])
    digits = max(len(text.partition(".")[2]) for text in texts)
    text = f"{change:+.{digits}f}".replace("-", "−")
    is_better = (change > 0) == (metric["direction"] == "up")
    return format_html('<span class="{}">{}</span>', "up" if is_better else "down", text)


@register.filter
def column_value(value: float | None, column: dict[str, Any]) -> str:
    """A second number of a row."""
    text: str = metric_value(value, column["kind"], column["unit"], column["low"], column["high"])
    return text


@register.filter
def scaled(value: float | None, standings: dict[str, Any]) -> str:
    """A number of the board's metric as its scores are written."""
    if value is None:
        return "–"
    return shown(value, standings["digits"], standings["metric"]["scale"])


@register.filter
def share(value: float | None) -> str:
    """A chance as per cent, or a dash."""
    return "–" if value is None else f"{value * 100:.0f} %"


@register.filter
def as_percent(share: float) -> str:
    """A share as per cent."""
    return f"{share * 100:g} %"


@register.filter
def as_percentage(value: float) -> str:
    """A share as per cent with one decimal."""
    return f"{value * 100:.1f} %"


@register.simple_tag
def rate_span(rate: dict[str, float | None]) -> SafeString:
    """A share as per cent with its interval below it."""
    if rate["point"] is None:
        return mark_safe('<span class="dim">–</span>')
    told = format_html("<b>{}</b>", as_percentage(rate["point"]))
    if rate["low"] is None or rate["high"] is None:
        return told
    low, high = as_percentage(rate["low"]), as_percentage(rate["high"])
    return told + format_html('<small class="nb">{} – {}</small>', low, high)


@register.filter
def p_number(value: float | None) -> str:
    """A p-value with as many digits as a reader uses; a tiny one is not 0."""
    if value is None:
        return "–"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


@register.filter
def p_value(value: float | None) -> str:
    """A p-value in a sentence."""
    text = p_number(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
