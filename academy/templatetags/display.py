"""How values look on pages: icons, steps, figures, foreign text; no rules and no queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from academy import foreign, markup
from academy.blinding import blinded

register = template.Library()

AXIS_WIDTH = 216
MARGIN = 4


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """A symbol of the sprite; always beside a word."""
    return format_html(
        '<svg class="i{}" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" {size}" if size else "",
        name,
    )


@register.simple_tag
def ladder(step: int, label: str) -> SafeString:
    """The verification step of 1 to 4 with its word."""
    bars = format_html_join(
        "",
        '<rect class="{}" x="{}" y="{}" width="4" height="{}" rx="1"/>',
        (
            ("on" if place < step else "off", 5 * place, 9 - 3 * place, 5 + 3 * place)
            for place in range(4)
        ),
    )
    return format_html(
        '<span class="st"><svg class="lad" viewBox="0 0 20 14" aria-hidden="true">{}</svg>'
        "<span>{}</span></span>",
        bars,
        label,
    )


STATUS = {
    "ok": ("ok", "check"),
    "bad": ("bad", "x"),
    "warn": ("warn", "clock"),
    "flag": ("warn", "flag"),
    "na": ("na", "dash"),
}


@register.simple_tag
def status(kind: str, text: str) -> SafeString:
    """How something went: an icon and a word."""
    css, name = STATUS[kind]
    return format_html('<span class="st {}">{}{}</span>', css, icon(name), text)


def scale_of(low: float, high: float) -> Any:
    """A function from values to x of the interval figure."""
    span = (high - low) or 1.0
    width = AXIS_WIDTH - 2 * MARGIN

    def place(value: float) -> float:
        return MARGIN + width * (min(max(value, low), high) - low) / span

    return place


def ticks_of(low: float, high: float) -> list[float]:
    """Five even ticks of an axis."""
    return [low + (high - low) * step / 4 for step in range(5)]


@register.simple_tag
def interval_axis(axis: dict[str, Any]) -> SafeString:
    """The head of a column of intervals: its axis."""
    place = scale_of(axis["low"], axis["high"])
    ticks = ticks_of(axis["low"], axis["high"])
    anchors = ["", "mid", "mid", "mid", "e"]
    parts = [
        axis_tick(anchor, place(tick), tick_text(tick * axis["scale"]))
        for anchor, tick in zip(anchors, ticks, strict=True)
    ]
    names = format_html_join(
        "",
        '<text class="r {}" x="{}" y="-3">{}</text>',
        (axis_name(place(at), text) for at, text in axis.get("names", ())),
    )
    return format_html(
        '<svg class="fig ivh" viewBox="0 -12 {} 36" aria-hidden="true">{}{}</svg>',
        AXIS_WIDTH,
        names,
        mark_safe("".join(parts)),
    )


def axis_name(x: float, text: str) -> tuple[str, str, str]:
    """The anchor, place and text of what stands over a line of an axis, kept inside it."""
    if x < AXIS_WIDTH / 3:
        return "", f"{max(0.0, x - MARGIN):.1f}", text
    if x > AXIS_WIDTH * 2 / 3:
        return "e", f"{min(AXIS_WIDTH, x + MARGIN):.1f}", text
    return "mid", f"{x:.1f}", text


def axis_tick(anchor: str, x: float, text: str) -> SafeString:
    """One tick of an axis."""
    return format_html(
        '<text class="{}" x="{}" y="10">{}</text><line class="axis" x1="{}" x2="{}" y1="16"'
        ' y2="22"/>',
        anchor,
        f"{x:.1f}",
        text,
        f"{x:.1f}",
        f"{x:.1f}",
    )


def tick_text(value: float) -> str:
    """A tick's number without needless digits."""
    return f"{value:g}" if abs(value) < 1e6 else f"{value:.0e}"


@register.simple_tag
def interval(
    axis: dict[str, Any],
    low: float | None,
    point: float | None,
    high: float | None,
    label: str,
    quiet: bool = False,
) -> SafeString:
    """A score with its interval on the column's axis; the label says the same in words."""
    if point is None:
        return mark_safe('<span class="dim">–</span>')
    if not axis["low"] <= point <= axis["high"]:
        return mark_safe('<span class="dim xs">beyond the axis</span>')
    place = scale_of(axis["low"], axis["high"])
    grid = "".join(
        f'<line class="grid-l" x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="0" y2="22"/>'
        for tick in ticks_of(axis["low"], axis["high"])[1:4]
    )
    refs = "".join(
        f'<line class="ref" x1="{place(ref):.1f}" x2="{place(ref):.1f}" y1="0" y2="22"/>'
        for ref in axis["refs"]
    )
    band = ""
    if low is not None and high is not None:
        width = max(2.0, place(high) - place(low))
        band = (
            f'<rect class="band" x="{place(low):.1f}" y="7" width="{width:.1f}" height="8" rx="4"/>'
        )
    return format_html(
        '<svg class="fig iv{}" viewBox="0 0 {} 22" role="img" aria-label="{}">{}'
        '<circle class="pt" cx="{}" cy="11" r="4.5"/></svg>',
        " q" if quiet else "",
        AXIS_WIDTH,
        label,
        mark_safe(grid + refs + band),
        f"{place(point):.1f}",
    )


@register.filter
def short_digest(value: str) -> SafeString:
    """A digest as it is shown: its beginning and end, the whole in the title."""
    if not value:
        return mark_safe('<span class="dim">–</span>')
    return format_html('<span title="{}">sha256 {}…{}</span>', value, value[:16], value[-4:])


@register.filter
def dash(value: Any) -> Any:
    """Unknown is a dash, never an empty cell and never 0."""
    return "–" if value is None or value == "" else value


@register.filter
def milliseconds(value: Any) -> str:
    """A time span in the unit a reader would choose."""
    if not isinstance(value, int | float):
        return "–"
    seconds = value / 1000
    if seconds < 1:
        return f"{value:.0f} ms"
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@register.filter
def span(value: Any) -> str:
    """A time since the first step; one before it has a true minus."""
    if isinstance(value, int | float) and value < 0:
        return f"−{milliseconds(-value)}"
    return milliseconds(value)


@register.filter
def dollars(micros: Any) -> str:
    """Millionths of a US dollar as money."""
    if not isinstance(micros, int | float):
        return "–"
    value = micros / 1e6
    return f"${value:,.2f}" if value >= 0.01 or value == 0 else f"${value:.4f}"


@register.filter
def count(value: Any) -> str:
    """A large number in thousands or millions."""
    if not isinstance(value, int | float):
        return "–"
    if value < 10_000:
        return f"{value:,.0f}"
    return f"{value / 1000:,.0f} k" if value < 10_000_000 else f"{value / 1e6:,.0f} M"


@register.filter
def number(value: Any) -> str:
    """A number with up to four significant decimals and a true minus."""
    if not isinstance(value, int | float):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}".replace("-", "−") if abs(value) < 1e9 else f"{value:.3e}"


@register.simple_tag
def metric_value(value: Any, kind: str, unit: str, low: Any = None, high: Any = None) -> str:
    """A value of a metric with its unit; shares of 0..1 as per cent."""
    if not isinstance(value, int | float):
        return "–"
    if kind in ("pass", "graded") and (low, high) in ((0.0, 1.0), (None, None)):
        return f"{value * 100:.1f} %"
    text = f"{value:,.2f}" if isinstance(value, float) else str(value)
    return f"{text} {unit}".strip().replace("-", "−")


@register.filter
def ago(at: datetime | Literal[""] | None) -> SafeString:
    """How long ago, with the full time for who wants it; what a template lacks is unknown."""
    if not at:
        return mark_safe('<span class="dim">–</span>')
    seconds = (timezone.now() - at).total_seconds()
    if seconds < 60:
        text = "just now" if seconds < 10 else f"{seconds:.0f} s ago"
    elif seconds < 3600:
        text = f"{seconds / 60:.0f} min ago"
    elif seconds < 86_400:
        text = f"{seconds / 3600:.0f} h ago"
    else:
        text = at.strftime("%-d %b %Y")
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>',
        at.isoformat(),
        at.strftime("%-d %B %Y, %H:%M:%S"),
        text,
    )


@register.filter
def stamp(at: datetime | Literal[""] | None) -> SafeString:
    """The full time in UTC; what a template lacks is unknown."""
    if not at:
        return mark_safe('<span class="dim">–</span>')
    return format_html(
        '<time datetime="{}">{} UTC</time>', at.isoformat(), at.strftime("%-d %b %Y, %H:%M")
    )


@register.filter(name="foreign")
def foreign_text(value: Any) -> SafeString:
    """Text from outside: escaped, with control and direction characters made visible."""
    text = foreign.as_text(value)
    return format_html_join(
        "",
        "{}",
        (
            (format_html('<span class="ctl">{}</span>', part),) if special else (part,)
            for special, part in foreign.segments(text)
        ),
    )


@register.filter
def masked(value: Any, mask: Any) -> SafeString:
    """Foreign text with the names a mask hides; without a mask just foreign text."""
    if not mask:
        return foreign_text(value)
    # Names go before a value becomes JSON, where the escape of a line end would cover one.
    pieces = markup.plain(foreign.as_text(blinded(value, mask)))
    return mark_safe(markup.render(pieces, mask=mask).html)


@register.filter
def pretty(value: Any) -> str:
    """A JSON value as indented text; text stays as it is."""
    return foreign.as_text(value)


@register.filter
def words(value: str) -> str:
    """A key as words."""
    return str(value).replace("_", " ").replace("-", " ")


@register.filter
def lookup(mapping: dict[str, Any], key: str) -> Any:
    """A value of a mapping, or None."""
    return mapping.get(key) if mapping else None
