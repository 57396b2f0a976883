"""No per-item value and no key of a sealed version stands at any address, for anybody outside."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

import pyarrow
from pyarrow import parquet

from tests.acceptance.base import Browser, Failed, Product, require
from tests.acceptance.making import takeoff_run, takeoff_suite

KEY = 73_519.25
FACTORS = {"Alpha": 1.0167, "Beta": 1.0431}
FORBIDDEN = (
    re.compile(r"73[,\u202f]?519[.]25"),
    re.compile(r"(?<![\d.])1[.]67\d*(?!\d)"),
    re.compile(r"(?<![\d.])4[.]31\d*(?!\d)"),
    re.compile(r"(?<![\d.])0[.]0(167|431)\d*"),
)
SIZES = (3, 12)
MOST_PAGES = 400


def check(_arguments: Sequence[str], product: Product) -> str:
    """Walk every link as visitor, entrant and reviewer, and look for what may not be there."""
    for size in SIZES:
        slug = f"sealed-{size}"
        product.import_suite(takeoff_suite(slug, size, area=KEY, sealed=True))
        product.import_runs(
            *(
                takeoff_run(
                    slug,
                    name,
                    {place: round(KEY * factor, 4) for place in range(size)},
                    10 * size + number,
                )
                for number, (name, factor) in enumerate(FACTORS.items())
            )
        )
    product.settle()
    product.add_person("visitor-entrant", "entrant")
    product.add_person("visitor-reviewer", "reviewer")
    told = []
    for name in ("", "visitor-entrant", "visitor-reviewer"):
        pages = walk(product.browser(name))
        told.append(f"{name or 'a stranger'} {pages} addresses")
    curator_sees(product)
    return f"nothing sealed was found: {', '.join(told)}"


def walk(browser: Browser) -> int:
    """Open every address that a link or source names; Failed at the first forbidden text."""
    waiting = deque(["/", "/boards/", "/suites/", "/runs/", "/method/", "/search/?q=sealed"])
    for size in SIZES:
        board = f"/boards/sealed-{size}-area-takeoff/"
        waiting += [
            board, f"{board}standings.json", f"{board}standings.csv?raw=1", f"{board}standings.md",
            f"{board}standings.parquet", f"/api/v1{board}", f"/api/v1{board}standings/",
            f"/api/v1{board}snapshots/",
            f"{board}embed/", f"{board}badge.svg?entry=alpha", f"{board}snapshots/",
            f"/compare/?board=sealed-{size}-area-takeoff&entry=alpha&entry=beta",
        ]  # fmt: skip
    seen: set[str] = set(waiting)
    opened = 0
    while waiting and opened < MOST_PAGES:
        address = waiting.popleft()
        answer = browser.get(address)
        opened += 1
        require(answer.status < 500, f"{address} gives {answer.status}")
        text = read(answer.body)
        for pattern in FORBIDDEN:
            if found := pattern.search(text):
                near = text[max(0, found.start() - 60) : found.end() + 20]
                raise Failed(f"{address} tells {found[0]}: …{' '.join(near.split())}…")
        if "html" in answer.headers.get("Content-Type", answer.headers.get("content-type", "")):
            for link in re.findall(r'(?:href|src|hx-get)="(/[^"#]*)', answer.text):
                link = link.replace("&amp;", "&")
                if link not in seen and not link.startswith(("/static/", "/login", "/logout")):
                    seen.add(link)
                    waiting.append(link)
    require(opened > 30, f"only {opened} addresses were found")
    return opened


def read(body: bytes) -> str:
    """The words of an answer; those of a Parquet file are compressed."""
    if not body.startswith(b"PAR1"):
        return body.decode(errors="replace")
    table = parquet.read_table(pyarrow.BufferReader(body))
    return f"{table.to_pylist()} {table.schema.metadata}"


def curator_sees(product: Product) -> None:
    """The numbers exist: a curator reads them. Else a blank page would pass."""
    product.add_person("visitor-curator", "curator")
    page = product.browser("visitor-curator").get("/suites/sealed-12/1.0/tasks/0/").text
    require("1.67" in page, "not even a curator sees a single result, so nothing was shown to hide")
