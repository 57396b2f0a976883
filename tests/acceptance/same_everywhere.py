"""Page, API, CSV, Parquet, Markdown, command and badge agree in ranks, digits and counts."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow
from pyarrow import parquet

from tests.acceptance.base import Browser, Product, require
from tests.acceptance.making import judged_run, rubric_suite

API = "/api/v1/boards"
TASKS = 40
ENTRIES = (("Alpha", 36, TASKS), ("Beta", 33, TASKS), ("Gamma", 33, TASKS), ("Half", 10, 20))


def check(_arguments: Sequence[str], product: Product) -> str:
    """Fill a board and read it everywhere."""
    product.import_suite(rubric_suite(TASKS), "--as", "agreement@1")
    product.import_runs(
        *(
            judged_run("agreement@1", name, range(done), range(passes), number)
            for number, (name, passes, done) in enumerate(ENTRIES)
        )
    )
    product.settle()
    browser = product.browser()
    start = "/boards/agreement-perfect-reference/"
    document = json.loads(got(browser, f"{start}standings.json"))
    rows = document["standings"]
    require(
        [(row["name"], row["rank"]) for row in rows]
        == [("Alpha", 1), ("Beta", 2), ("Gamma", 2), ("Half", None)],
        f"the ranks are {[(row['name'], row['rank']) for row in rows]}",
    )
    places = {
        "page": from_page(got(browser, start)),
        "snapshot": from_page(got(browser, f"{start}snapshots/{document['snapshot']}/")),
        "CSV": from_csv(got(browser, f"{start}standings.csv")),
        "Parquet": from_parquet(browser.get(f"{start}standings.parquet").body),
        "API": from_json(json.loads(got(browser, f"{API}/{document['board']}/standings/"))),
        "snapshot of the API": from_json(
            json.loads(got(browser, f"{API}/{document['board']}/snapshots/{document['snapshot']}/"))
        ),
        "command": from_json(json.loads(product.manage("standings", document["board"], "--json"))),
    }
    expected = from_json(document)
    for place, found in places.items():
        require(found == expected, f"{place} says {found}, the JSON {expected}")
    check_small(browser, start, rows)
    return f"{len(rows)} entries agree on {', '.join(places)}, Markdown and badges"


def got(browser: Browser, address: str) -> str:
    """The text at an address that must be there."""
    answer = browser.get(address)
    require(answer.status == 200, f"{address} gives {answer.status}")
    return answer.text


def from_json(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Rank, score with interval, and count of each entry as texts."""
    return {
        row["name"]: (
            str(row["rank"] or "–"), row["shown"], row["shown_low"] or "",
            row["shown_high"] or "", str(row["scored"]), str(row["n"]),
        )
        for row in document["standings"]
    }  # fmt: skip


def from_page(page: str) -> dict[str, tuple[str, ...]]:
    """The same, read from the table of the page."""
    found = {}
    table = page[page.index('aria-label="Leaderboard"') : page.index("</table>")]
    for row in re.findall(r"<tr[ >].*?</tr>", table, re.DOTALL):
        name = re.search(r'<a class="ttl"[^>]*>(.*?)</a>', row)
        if name is None or "baseline" in row:
            continue
        rank = re.search(r'class="rank">(\d+)', row)
        score = re.search(
            r'<span class="score">([^<]*)</span>(?:<small>(.*?) – (.*?)</small>)?', row
        )
        count = re.search(r'<td class="n">(\d+)<small>of (\d+)</small>', row)
        require(score and count, f"the row of {name[1]} has no score or count")
        assert score is not None and count is not None
        found[html.unescape(name[1])] = (
            rank[1] if rank else "–", score[1], score[2] or "", score[3] or "", count[1], count[2],
        )  # fmt: skip
    return found


def from_csv(text: str) -> dict[str, tuple[str, ...]]:
    """The same, read from the CSV; it has numbers where others have texts."""
    return from_rows(csv.DictReader(io.StringIO(text)))


def from_parquet(data: bytes) -> dict[str, tuple[str, ...]]:
    """The same, read from the Parquet, whose numbers are typed."""
    rows = parquet.read_table(pyarrow.BufferReader(data)).to_pylist()
    for row in rows:
        whole = [row[name] for name in ("rank", "scored", "n")]
        require(all(type(value) in (int, type(None)) for value in whole), f"{whole} are no counts")
    return from_rows(rows)


def from_rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Rank, score with interval, and count of each entry; not of what stands beside them."""
    found = {}
    for row in rows:
        if row["place"] in ("baseline", "withdrawn"):
            continue
        digits = len(row["shown"].partition(".")[2])
        low, high = (
            "" if row[name] in (None, "") else f"{float(row[name]) * 100:.{digits}f}"
            for name in ("low", "high")
        )
        found[row["name"]] = (
            str(row["rank"] or "–"), row["shown"], low, high, str(row["scored"]), str(row["n"]),
        )  # fmt: skip
    return found


def check_small(browser: Browser, start: str, rows: Sequence[dict[str, Any]]) -> None:
    """The badge of each entry and the Markdown table say its rank and digits."""
    table = got(browser, f"{start}standings.md")
    for row in rows:
        badge = got(browser, f"{start}badge.svg?entry={row['key']}")
        rank = f"rank {row['rank']}" if row["rank"] else "not ranked"
        require(rank in badge, f"the badge of {row['name']} does not say “{rank}”")
        require(f" {row['shown']} %" in badge, f"the badge of {row['name']} lacks {row['shown']}")
        listed = f"| {row['name']} | {row['shown']} |" in table
        require(listed == bool(row["rank"]), f"the Markdown table is wrong on {row['name']}")
