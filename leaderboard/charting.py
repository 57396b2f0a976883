"""Cost against score as geometry: drawn wide and narrow, so that its text keeps its size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Place = Callable[[float], float]

LETTER = 6.4
MOST_LABELS = 14


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a drawing and the plot inside it."""

    name: str
    width: int
    height: int
    left: int = 48
    right: int = 14
    top: int = 24
    bottom: int = 44
    longest: int = 26


WIDE = Frame("lg", 600, 360)
NARROW = Frame("sm", 330, 330, longest=15)


def cost_points(standings: Json) -> list[Json]:
    """The entries whose cost and score are known, cheapest first, as numbers for the table."""
    points = [
        {**row, "cost": cost / 1e6}
        for row in standings["standings"]
        if row["score"] is not None
        and row["place"] == "ranked"
        and (cost := row["usage"].get("cost_micros", {}).get("median"))
    ]
    return sorted(points, key=lambda row: (row["cost"], row["key"]))


def cost_charts(standings: Json) -> Json | None:
    """Both drawings and their numbers; None with fewer than two known costs."""
    points = cost_points(standings)
    if len(points) < 2:
        return None
    ranked = [row for row in standings["standings"] if row["place"] == "ranked"]
    return {
        "points": points,
        "drawings": [drawing(standings, points, frame) for frame in (WIDE, NARROW)],
        "known": len(points),
        "of": len(ranked),
        "share": min(row["usage"]["cost_micros"]["share"] for row in points),
    }


def drawing(standings: Json, points: list[Json], frame: Frame) -> Json:
    """Axes, points, labels and the front of one drawing, in its own units."""
    metric = standings["metric"]
    costs = [row["cost"] for row in points]
    across = log_scale(min(costs), max(costs), frame)
    ends = [
        row[name] for row in points for name in ("low", "score", "high") if row[name] is not None
    ]
    ticks = even_ticks(min(0.0, *ends), max(ends), metric)
    up = linear_scale(ticks[0], ticks[-1], frame)
    dots = [
        {
            "x": across(row["cost"]),
            "y": up(row["score"]),
            "low": None if row["low"] is None else up(row["low"]),
            "high": None if row["high"] is None else up(row["high"]),
            "name": row["name"],
            "front": bool(row["front"]),
        }
        for row in points
    ]
    place_labels(dots, frame)
    return {
        "frame": frame,
        "baseline": frame.height - frame.bottom,
        "right": frame.width - frame.right,
        "under": frame.height - 6,
        "ticks_y": [{"y": up(tick), "text": f"{tick * metric['scale']:g}"} for tick in ticks],
        "ticks_x": [{"x": across(tick), "text": money(tick)} for tick in log_ticks(costs)],
        "dots": dots,
        "front": front_path(points, dots, metric["direction"], frame.width - frame.right),
        "unit": metric["unit"],
        "label": metric["label"],
    }


def linear_scale(low: float, high: float, frame: Frame) -> Place:
    """From values to y, upwards."""
    room = frame.height - frame.top - frame.bottom
    span = (high - low) or 1.0
    return lambda value: round(frame.height - frame.bottom - room * (value - low) / span, 1)


def log_scale(low: float, high: float, frame: Frame) -> Place:
    """From costs to x on a logarithmic axis, with a margin at both ends."""
    first, last = math.log10(low) - 0.1, math.log10(high) + 0.1
    room = frame.width - frame.left - frame.right
    return lambda value: round(frame.left + room * (math.log10(value) - first) / (last - first), 1)


def even_ticks(low: float, high: float, metric: Json) -> list[float]:
    """Three to six round steps that hold all values."""
    span = (high - low) or 1.0
    rough = span / 4
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough)
    first = math.floor(low / step)
    last = math.ceil(high / step)
    if metric["high"] is not None:
        last = min(last, math.ceil(metric["high"] / step))
    return [round(place * step, 10) for place in range(first, last + 1)]


def log_ticks(costs: Iterable[float]) -> list[float]:
    """1, 2 and 5 of each power of ten within the costs, at most five of them."""
    held = list(costs)
    low, high = min(held) * 0.8, max(held) * 1.26
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [m * 10.0**power for power in powers for m in (1, 2, 5)]
    inside = [tick for tick in ticks if low <= tick <= high]
    while len(inside) > 5:
        inside = inside[::2]
    return inside


def money(value: float) -> str:
    """A tick in dollars."""
    if value >= 1:
        return f"${value:,.0f}"
    return f"${value:.2f}" if value >= 0.01 else f"${value:.4f}".rstrip("0")


def front_path(points: list[Json], dots: list[Json], direction: str, right: int) -> str:
    """The staircase of the best score so far, over the points that are on the front."""
    best: float | None = None
    path = ""
    for row, dot in zip(points, dots, strict=True):
        better = best is None or (row["score"] > best if direction == "up" else row["score"] < best)
        if dot["front"] and better:
            path += f"M{dot['x']} {dot['y']}" if best is None else f"H{dot['x']}V{dot['y']}"
            best = row["score"]
    return f"{path}H{right}" if path else ""


def place_labels(dots: list[Json], frame: Frame) -> None:
    """Give each point a label where no other label or point is; the last resort is none."""
    taken = [(dot["x"] - 6, dot["y"] - 6, dot["x"] + 6, dot["y"] + 6) for dot in dots]
    taken += [
        (dot["x"] - 2, min(dot["low"], dot["high"]), dot["x"] + 2, max(dot["low"], dot["high"]))
        for dot in dots
        if dot["low"] is not None
    ]
    wanted = sorted(dots, key=lambda dot: not dot["front"])[:MOST_LABELS]
    for dot in dots:
        dot["text"] = ""
    for dot in wanted:
        text = dot["name"]
        if len(text) > frame.longest:
            text = text[: frame.longest - 1] + "…"
        for anchor, x, y in _label_places(dot):
            box = _box(anchor, x, y, len(text) * LETTER)
            inside = box[0] >= frame.left and box[2] <= frame.width and box[1] >= 2
            if inside and not any(_meet(box, other) for other in taken):
                taken.append(box)
                dot.update(text=text, anchor=anchor, label_x=round(x, 1), label_y=round(y, 1))
                break


def _label_places(dot: Json) -> list[tuple[str, float, float]]:
    x, y = dot["x"], dot["y"]
    top = dot["high"] if dot["high"] is not None else y
    bottom = dot["low"] if dot["low"] is not None else y
    return [
        ("e", x - 9, y - 8), ("", x + 9, y + 17), ("mid", x, min(y, top, bottom) - 6),
        ("mid", x, max(y, top, bottom) + 15), ("", x + 9, y - 8), ("e", x - 9, y + 17),
        ("e", x - 11, y + 4), ("", x + 11, y + 4),
    ]  # fmt: skip


def _box(anchor: str, x: float, y: float, length: float) -> tuple[float, float, float, float]:
    left = {"": x, "e": x - length, "mid": x - length / 2}[anchor]
    return left, y - 11, left + length, y + 3


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
