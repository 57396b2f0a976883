"""Small things for READMEs: a badge with an entry's place, and a table."""

from __future__ import annotations

from typing import Any

from academy import piloting

Json = dict[str, Any]
LETTER = 6.6
PADDING = 12


def badge(text: str, kind: str, pilot: str = "") -> Json:
    """The geometry of a badge: the site's name, then a text; its words say its state.

    `pilot` is the sentence of a pilot; a badge has no room for it and says it when it is read out.
    """
    text = f"{text} (pilot)" if pilot and "pilot" not in text.lower() else text
    left, right = 78, round(len(text) * LETTER) + 2 * PADDING
    colours = {"ok": "#1f5fbf", "old": "#6b7280", "rev": "#a32a2a", "rep": "#57606a"}
    return {
        "text": text, "left": left, "right": right, "width": left + right,
        "text_x": left + right / 2, "label_x": left / 2, "fill": colours[kind], "kind": kind,
        "pilot": pilot,
    }  # fmt: skip


def board_badge(standings: Json, key: str) -> Json:
    """The badge of one entry, or of the first; what is not ranked says so and has no colour."""
    rows = standings["standings"]
    told = piloting.pilot_sentence(standings.get("pilot"))
    row = next((r for r in rows if r["key"] == key or r["entrant"] == key), None)
    if not key:
        row = next((r for r in rows if r["rank"] == 1), None)
    if row is None:
        text = f"{standings['title']}: no such entry" if key else standings["title"]
        return badge(text, "rep", told)
    name = f"{row['name']}: " if not key else ""
    score = f" {row['shown']} {standings['metric']['unit']}".rstrip() if row["shown"] else ""
    if row["rank"] is None:
        return badge(f"{name}{standings['title']}{score}, not ranked", "rep", told)
    kind = "ok" if row["verification"] >= 3 else "rep"
    return badge(f"{name}{standings['title']}{score}, rank {place(row)}", kind, told)


def place(row: Json) -> str:
    """A rank with its spread."""
    if row["rank_low"] is None:
        return str(row["rank"])
    low, high = row["rank_low"], row["rank_high"]
    return f"{row['rank']} ({low})" if low == high else f"{row['rank']} ({low}–{high})"


def markdown_table(standings: Json, number: int, link: str) -> str:
    """The ranked rows as Markdown. Text from outside is escaped: a README would render it."""
    metric = standings["metric"]
    unit = f", {metric['unit']}" if metric["unit"] and metric["unit"] not in metric["label"] else ""
    lines = [
        f"| Rank | Entry | {escaped(metric['label'])}{unit} | Interval |",
        "| --- | --- | ---: | --- |",
    ]
    ranked = [row for row in standings["standings"] if row["rank"]]
    for row in ranked:
        interval = f"{row['shown_low']} – {row['shown_high']}" if row["shown_low"] else "–"
        lines.append(
            f"| {place(row)} | {escaped(row['name'])} | {row['shown'] or '–'} | {interval} |"
        )
    if not ranked:
        lines = ["Nobody is ranked."]
    told = f"[{escaped(standings['title'])}, snapshot {number}]({link})"
    pilot = piloting.pilot_sentence(standings.get("pilot"))
    marked = [escaped(pilot), ""] if pilot else []
    return "\n".join([*marked, *lines, "", told, ""])


def escaped(text: str) -> str:
    """Text with everything that Markdown or HTML would read marked as text."""
    flat = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|<>&~$" else c for c in flat)
