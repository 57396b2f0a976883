"""Differences of two entrants as texts with a sign, and as figures about zero."""

from __future__ import annotations

from typing import Any

from leaderboard.axes import nice
from leaderboard.digits import shown
from leaderboard.entries import Policy

Json = dict[str, Any]
SLICE_WIDTH = 150


def signed(value: float, digits: int, scale: int) -> str:
    """A difference with its sign, a true minus, and no sign on nothing."""
    text = shown(value, digits, scale)
    if not any(c not in "0." for c in text.lstrip("-")):
        return text.lstrip("-")
    return f"−{text[1:]}" if text.startswith("-") else f"+{text}"


def figures(
    difference: float | None, low: float | None, high: float | None, scale: int
) -> list[Json]:
    """The difference on an axis about zero, drawn wide and narrow."""
    if difference is None or low is None or high is None:
        return []
    reach = nice(max(abs(low), abs(high), abs(difference)) * 1.05)
    made = []
    for name, width in (("lg", 560), ("sm", 326)):
        middle, half = width / 2, width / 2 - 14

        def at(value: float, middle: float = middle, half: float = half) -> float:
            return round(middle + half * value / reach, 1)

        ticks = [-reach, -reach / 2, 0.0, reach / 2, reach]
        made.append(
            {
                "name": name,
                "width": width,
                "low": at(low),
                "span": round(max(2.0, at(high) - at(low)), 1),
                "point": at(difference),
                "zero": middle,
                "ticks": [{"x": at(tick), "text": tick_text(tick * scale)} for tick in ticks],
            }
        )
    return made


def tick_text(value: float) -> str:
    """A signed tick of two digits that count, written out: "+100" is no "+1e+02"."""
    text = f"{float(f'{value:.2g}'):+,.15g}".replace("-", "−")
    return "0" if value == 0 else text


def slice_figure(
    difference: float | None, low: float | None, high: float | None, policy: Policy
) -> Json | None:
    """Of one slice, on the axis of a whole range to either side."""
    limits = policy.limits
    if difference is None or low is None or high is None or limits is None:
        return None
    reach = (limits[1] - limits[0]) or 1.0

    def at(value: float) -> float:
        return round(SLICE_WIDTH / 2 + (SLICE_WIDTH / 2 - 5) * max(-1, min(1, value / reach)), 1)

    return {
        "low": at(low),
        "span": round(max(2.0, at(high) - at(low)), 1),
        "point": at(difference),
        "label": f"difference {signed(difference, policy.digits, policy.scale)}",
    }
