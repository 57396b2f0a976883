"""A transcript as pages show it: a page of steps, with chips, jump list, search and raw text.

The same for the record's page and, behind a mask, for the bench of review. Everything that is
rendered here is bounded by the page, whatever the length of the transcript.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from academy import foreign, picturing
from academy.blinding import Hiding
from academy.bundle import Event
from academy.models import InstanceRecord
from academy.steps import Choice, Step
from academy.transcript_addresses import Asked
from academy.transcript_bodies import (
    STEPS,
    TEXT,
    Screen,
    answer_body,
    bodies_of,
    raw_bodies,
    visible,
    whole_record,
)
from academy.transcripts import Transcript

JUMPS = 100
# Prose of one page that is read as Markdown; what is beyond is shown as it is.
MOST_PROSE = 32_768
MOST_TOOLS = 12

TITLES = {
    "message": "Message",
    "thought": "Thought",
    "tool_call": "Tool call",
    "tool_result": "Tool result",
    "action": "Action",
    "observation": "Observation",
    "error": "Error",
}
PLURALS = {
    "message": "Messages",
    "thought": "Thoughts",
    "tool_call": "Tool calls",
    "tool_result": "Tool results",
    "action": "Actions",
    "observation": "Observations",
    "error": "Errors",
}


def page(
    record: InstanceRecord | None,
    transcript: Transcript,
    query: Mapping[str, str],
    *,
    url: str,
    mask: Hiding | None,
    picture_url: Callable[[str], str],
    shows_record: bool = False,
) -> dict[str, Any]:
    """All that the steps' part of a page needs; `shows_record` also offers the whole raw record."""
    asked = Asked.of(query)
    if asked.view == "record" and not shows_record:
        asked = replace(asked, view="raw")
    choice = choice_of(transcript, asked)
    chosen = transcript.chosen(choice)
    found = transcript.matching(asked.words, mask) if asked.words else set()
    matches = [step.place for step in chosen if step.place in found]
    screen = Screen(record, transcript, asked, url, mask, chosen, matches)
    return {
        **paging(screen),
        **searching(screen),
        **jumping(screen),
        "steps": [] if asked.view == "record" else rows(screen, picture_url),
        "steps_url": url,
        "mask": mask,
        "totals": transcript.totals,
        "tools_used": [(screen.hide(name), n) for name, n in transcript.totals.tools[:MOST_TOOLS]],
        "tools_more": max(0, len(transcript.totals.tools) - MOST_TOOLS),
        "chips": chips(screen),
        "menus": menus(screen),
        "view": asked.view,
        "view_links": {
            name: asked.link(view=view, at=first_shown(screen))
            for name, view in (("read", ""), ("raw", "raw"), ("record", "record"))
        },
        "shows_record": shows_record,
        "raw_record": whole_record(screen) if asked.view == "record" else None,
        "answer_body": answer_body(screen),
    }


def first_shown(screen: Screen) -> int | None:
    """The place of the first step of the page, so that another view opens there."""
    start = screen.start
    return screen.chosen[start].place if start and start < len(screen.chosen) else None


def choice_of(transcript: Transcript, asked: Asked) -> Choice:
    """Which steps are wanted."""
    tools, roles = transcript.totals.tools, transcript.totals.roles
    return Choice(
        kind=asked.kind,
        tool=tools[asked.tool][0] if asked.tool is not None and asked.tool < len(tools) else "",
        role=roles[asked.role][0] if asked.role is not None and asked.role < len(roles) else "",
        only_errors=asked.errors,
    )


def paging(screen: Screen) -> dict[str, Any]:
    """Where in the chosen steps the page is, and the addresses before and after."""
    start, total = screen.start, len(screen.chosen)
    end = min(start + STEPS, total)
    before = max(0, start - STEPS)
    return {
        "steps_total": total,
        "steps_all": len(screen.transcript.steps),
        "steps_from": start,
        "steps_end": end,
        "less": screen.asked.link(start=before) if start else None,
        "less_count": start - before,
        "more": screen.asked.link(start=end) if end < total else None,
        "here": screen.asked.link(start=start),
        "has_choice": bool(choice_of(screen.transcript, screen.asked)),
        "all_link": screen.asked.link(kind="", tool=None, role=None, errors=False),
    }


def searching(screen: Screen) -> dict[str, Any]:
    """The words that are looked for, how many steps hold them, and the next ones."""
    asked, matches = screen.asked, screen.matches
    hidden = {"view": asked.view, "kind": asked.kind, "tool": asked.tool, "role": asked.role}
    hidden["errors"] = "1" if asked.errors else None
    here = asked.at
    if here is None and screen.chosen and screen.start < len(screen.chosen):
        here = screen.chosen[screen.start].place
        if matches and asked.start is None:
            here = matches[0]
    index = bisect_left(matches, here) if here is not None else 0
    after = bisect_right(matches, here) if here is not None else 0
    is_here = index < len(matches) and matches[index] == here
    anchor = screen.anchor(screen.transcript.steps[matches[index]]) if is_here else ""
    return {
        "words": asked.words,
        "kept": [(name, value) for name, value in hidden.items() if value not in ("", None)],
        "match_count": len(matches),
        "match_number": index + 1 if is_here else None,
        "match_anchor": anchor,
        "next_match": step_link(screen, matches[after]) if after < len(matches) else None,
        "previous_match": step_link(screen, matches[index - 1]) if index else None,
        "clear_link": asked.link(words=""),
    }


def step_link(screen: Screen, place: int) -> dict[str, str]:
    """The address of a step, and its element."""
    anchor = screen.anchor(screen.transcript.steps[place])
    return {"query": screen.asked.link(at=place), "anchor": anchor}


def jumping(screen: Screen) -> dict[str, Any]:
    """The jump list: all chosen steps, or those that match; of long ones the part that is here."""
    listed = screen.matches if screen.asked.words else [step.place for step in screen.chosen]
    shown = {step.place for step in screen.chosen[screen.start : screen.start + STEPS]}
    is_whole = len(shown) == len(screen.chosen)
    part = screen.asked.jump
    if part is None:
        first = screen.chosen[screen.start].place if shown else 0
        part = bisect_left(listed, first) // JUMPS
    part = min(part, max(0, (len(listed) - 1) // JUMPS))
    links = []
    for place in listed[part * JUMPS : (part + 1) * JUMPS]:
        step = screen.transcript.steps[place]
        links.append(
            {
                **step_link(screen, place),
                "seq": step.event.seq,
                "title": visible(screen, title_of(step.event)[:60]),
                "tool": visible(screen, step.event.tool[:60]),
                "is_here": place in shown and not is_whole,
                "is_error": step.is_error,
            }
        )
    start = screen.asked.start if screen.asked.start is not None else screen.start
    has_more = (part + 1) * JUMPS < len(listed)
    return {
        "jumps": links,
        "jumps_total": len(listed),
        "jumps_from": part * JUMPS + 1,
        "jumps_to": part * JUMPS + len(links),
        "jumps_less": screen.asked.link(start=start, jump=part - 1) if part else None,
        "jumps_more": screen.asked.link(start=start, jump=part + 1) if has_more else None,
    }


def chips(screen: Screen) -> list[dict[str, Any]]:
    """The kinds of steps to choose from, with their numbers."""
    totals, asked = screen.transcript.totals, screen.asked
    made = [
        {
            "label": PLURALS[kind],
            "count": count,
            "link": asked.link(kind="" if asked.kind == kind else kind),
            "is_on": asked.kind == kind,
        }
        for kind, count in totals.kinds
    ]
    if totals.errors:
        link = asked.link(errors=not asked.errors)
        named = {"label": "Only errors", "count": totals.errors}
        made.append({**named, "link": link, "is_on": asked.errors})
    return made


def menus(screen: Screen) -> list[dict[str, Any]]:
    """Tools and roles to choose from, where there is a choice."""
    asked, totals = screen.asked, screen.transcript.totals
    made = []
    for name, label, listed, on in (
        ("tool", "Tool", totals.tools, asked.tool),
        ("role", "Role", totals.roles, asked.role),
    ):
        options = [
            {
                "label": visible(screen, text[:80]),
                "count": count,
                "link": asked.link(**{name: None if on == place else place}),
                "is_on": on == place,
            }
            for place, (text, count) in enumerate(listed[:JUMPS])
        ]
        if len(options) > 1 or on is not None:
            made.append({"label": label, "options": options, "is_on": on is not None})
    return made


def rows(screen: Screen, picture_url: Callable[[str], str]) -> list[dict[str, Any]]:
    """The steps of the page."""
    shown = screen.chosen[screen.start : screen.start + STEPS]
    found = set(screen.matches)
    pictures = {} if screen.asked.view else pictures_of(screen, shown, picture_url)
    raws = raw_bodies(screen, shown) if screen.asked.view == "raw" else {}
    made, prose_left = [], MOST_PROSE
    for step in shown:
        bodies = raws.get(step.place)
        if bodies is None:
            bodies = bodies_of(screen, step, prose_left)
            prose_left -= sum(body["shown"] for body in bodies if body["kind"] == "prose")
        made.append(
            {
                **facts_of(screen, step),
                "bodies": bodies,
                "pictures": pictures.get(step.place, []),
                "is_match": step.place in found,
                "is_coloured": any(body["is_coloured"] for body in bodies),
            }
        )
    return made


def facts_of(screen: Screen, step: Step) -> dict[str, Any]:
    """What stands in the head of a step."""
    event = step.event
    texts = (event.text[:TEXT], event.title, event.tool)
    counts = [foreign.special_counts(text) for text in texts]
    return {
        "place": step.place,
        "anchor": screen.anchor(step),
        "seq": event.seq,
        "title": visible(screen, title_of(event)),
        "kind": event.kind,
        "role": visible(screen, event.role),
        "tool": visible(screen, event.tool),
        "offset_ms": event.offset_ms,
        "lasted_ms": step.lasted_ms,
        "doubt": step.doubt,
        "is_early": step.is_early,
        "is_error": step.is_error,
        "tokens_in": event.tokens_in,
        "tokens_out": event.tokens_out,
        "special": {name: sum(count[name] for count in counts) for name in counts[0]},
    }


def title_of(event: Event) -> str:
    """What a step is called."""
    return event.title or TITLES.get(event.kind, event.kind)


def pictures_of(
    screen: Screen, shown: Sequence[Step], picture_url: Callable[[str], str]
) -> dict[int, list[dict[str, Any]]]:
    """The pictures of steps as raster copies, or why there is none; of a page the first few."""
    images = [(step, place, text) for step in shown for place, text in enumerate(step.event.images)]
    if not images or screen.record is None:
        return {}
    listed = images[: picturing.MOST_SHOWN]
    positions = {id(event): place for place, event in enumerate(screen.transcript.view.events)}
    wanted = picturing.sources(
        screen.record, [(positions[id(step.event)], place, text) for step, place, text in listed]
    )
    made: dict[int, list[dict[str, Any]]] = {}
    for image, picture in zip(listed, picturing.shown(screen.record, wanted), strict=True):
        made.setdefault(image[0].place, []).append(
            {
                "name": visible(screen, picture.name),
                "src": picture_url(picture.digest) if picture.is_drawn else "",
                "is_coming": picture.is_coming,
                "note": picture.note,
            }
        )
    for step, _place, _text in images[picturing.MOST_SHOWN :]:
        note = {"name": "", "src": "", "note": "More pictures than one page shows."}
        if made.setdefault(step.place, [])[-1:] != [note]:
            made[step.place].append(note)
    return made
