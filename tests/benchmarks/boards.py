"""Boards: the page, its 304, recomputing, all pairs, and the spread of ranks."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.benchmarks.measuring import ROUNDS, Report, Row, interleaved, percentile, seconds_of
from tests.benchmarks.serving import Page, database, web_server

FloatArray = npt.NDArray[np.float64]
SCIPY_ROUNDS = 50
ROUNDS_OF_RANKS = 10_000


def run(scale: float = 1.0) -> Report:
    """Measure on 50 entrants, 5,000 items and 3 replicates, or `scale` times as many items."""
    with database():
        from tests.benchmarks import filling

        items = max(40, round(filling.ITEMS * scale))
        values = filling.results(filling.ENTRANTS, items, filling.REPLICATES)
        board = filling.fill(values, filling.REPLICATES)
        report = Report("boards", facts_of(filling.ENTRANTS, items, filling.REPLICATES))
        report.rows += [*ranks(values), *pairs(board), *recomputing(board, values)]
        report.rows += pages(board)
    return report


def facts_of(entrants: int, items: int, replicates: int) -> dict[str, Any]:
    """What was measured, and on what."""
    return {
        "data": f"{entrants} entrants, {items:,} items, {replicates} replicates, synthetic",
        "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        "rounds": f"{ROUNDS}, variants in turn; a ratio is the median of the rounds' ratios",
    }


def ranks(values: FloatArray) -> Iterator[Row]:
    """The rank spread from drawn weights, against the bare product and SciPy's bootstrap."""
    from academy.draws import bootstrap_weights, weights_seed
    from leaderboard.resampling import quantise, rank_spread, resampled_sums

    items = len(values)
    seed = weights_seed("b" * 64, items, ROUNDS_OF_RANKS)
    units = quantise(values)

    def ours() -> object:
        return rank_spread(resampled_sums(units, seed, ROUNDS_OF_RANKS), "up")

    start = time.perf_counter()
    ours()
    cold = time.perf_counter() - start
    # The bare product of all rounds would need 8 bytes a cell; a part of it is as fast per round.
    part = max(1, min(ROUNDS_OF_RANKS, 2**25 // items))
    resident = bootstrap_weights(seed, items, part).astype(np.float64)
    columns = np.ascontiguousarray(values)

    def product() -> object:
        return [resident @ columns for _ in range(max(1, ROUNDS_OF_RANKS // part))]

    taken = interleaved({"ours": ours, "product": product}, calls=3)
    yield Row("rank spread, warm", taken["ours"], taken["product"],
              "the bare float64 product", most=2.5)  # fmt: skip
    slow = seconds_of(partial(by_scipy, values), 1) * ROUNDS_OF_RANKS / SCIPY_ROUNDS
    note = f"SciPy made {SCIPY_ROUNDS} rounds; its time is scaled up"
    scipy = (slow,) * ROUNDS
    yield Row("rank spread, warm", taken["ours"], scipy, "scipy.stats.bootstrap", least=150,
              note=note)  # fmt: skip
    yield Row("rank spread, warm", taken["ours"], seconds=0.120)
    yield Row("rank spread, cold", (cold,), seconds=0.600, note="once, with drawing the weights")


def by_scipy(values: FloatArray) -> object:
    """The ranks of all entrants in resampled items, by SciPy."""
    from scipy.stats import bootstrap, rankdata

    def ranks_of(*columns: FloatArray, axis: int = -1) -> FloatArray:
        means = np.array([column.mean(axis=axis) for column in columns])
        return np.asarray(rankdata(-means, axis=0, method="min"), dtype=np.float64)

    return bootstrap(
        tuple(values.T), ranks_of, n_resamples=SCIPY_ROUNDS, paired=True, method="percentile",
        vectorized=True, batch=1, rng=np.random.Generator(np.random.PCG64(1)),
    )  # fmt: skip


def pairs(board: Any) -> Iterator[Row]:
    """All pairs of entrants, against joining the table of results with itself."""
    from django.db import connection

    from leaderboard.comparison import pair_matrix
    from leaderboard.inputs import entry_of, rank_policy, read_inputs

    inputs = read_inputs(board)
    assert inputs is not None
    policy = rank_policy(inputs)
    entries = [entry_of(held) for held in inputs.candidates]
    number = len(entries) * (len(entries) - 1) // 2
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE bench_means (entrant int, item int, value float8)")
        with cursor.copy("COPY bench_means FROM STDIN") as copy:
            for entrant, candidate in enumerate(inputs.candidates):
                for item, value in enumerate(candidate.numbers.tolist()):
                    copy.write_row((entrant, item, value))
        cursor.execute("CREATE INDEX ON bench_means (entrant, item)")
        cursor.execute("ANALYZE bench_means")

        def joined() -> object:
            cursor.execute(
                "SELECT avg(a.value - b.value), stddev_samp(a.value - b.value), count(*)"
                " FROM bench_means a JOIN bench_means b USING (item)"
                " WHERE a.entrant = 0 AND b.entrant = 1"
            )
            return cursor.fetchone()

        def ours() -> object:
            return pair_matrix(entries, policy, inputs.seed_digest)

        taken = interleaved({"ours": ours, "join": joined}, calls=5)
    name = f"all {number:,} pairs"
    join = tuple(seconds * number for seconds in taken["join"])
    note = f"one pair is joined and taken {number:,} times"
    yield Row(name, taken["ours"], join, "self-joins in PostgreSQL", least=500, note=note)
    yield Row(name, taken["ours"], seconds=0.015)


def recomputing(board: Any, values: FloatArray) -> Iterator[Row]:
    """A board's slices from the stored vectors and back into a row, against resident means."""
    from django.db import connection

    from leaderboard.inputs import rank_policy, read_inputs
    from leaderboard.slices import slice_scores
    from leaderboard.slicing import members_of, slice_rows
    from leaderboard.standings import compute

    inputs = read_inputs(board)
    assert inputs is not None
    members = members_of(inputs)
    truth = np.zeros((len(members), len(values)))
    for line, places in enumerate(members.values()):
        truth[line, places] = 1.0
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE bench_slices (id serial, slices jsonb)")

    def ours() -> object:
        held = read_inputs(board)
        assert held is not None
        rows = slice_rows(held, rank_policy(held))
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO bench_slices (slices) VALUES (%s)", [json.dumps(rows)])
        return rows

    def resident() -> object:
        return slice_scores(values, truth, 0.95, 0.0, 1.0)

    taken = interleaved({"ours": ours, "numpy": resident}, calls=3)
    name = f"recompute, {values.shape[1]} × {len(values):,} × {len(members)}"
    told = "read, cut, written as text with JSON; the peer only multiplies"
    yield Row(name, taken["ours"], taken["numpy"], "NumPy on resident means", most=5, note=told)
    yield Row(name, taken["ours"], seconds=0.020)
    whole = interleaved({"whole": partial(compute, board)})
    yield Row("the whole board, computed", whole["whole"])
    yield from by_duckdb(taken["ours"], values, name)


def by_duckdb(ours: tuple[float, ...], values: FloatArray, name: str) -> Iterator[Row]:
    """The same over a Parquet file, where DuckDB is installed."""
    try:
        import duckdb
    except ImportError:
        yield Row(name, ours, note="DuckDB is not installed, so it is not compared")
        return
    import tempfile

    import pyarrow as arrow
    from pyarrow import parquet

    items, entrants = values.shape
    table = arrow.table(
        {
            "entrant": np.repeat(np.arange(entrants), items),
            "item": np.tile(np.arange(items), entrants),
            "value": values.T.ravel(),
        }
    )
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        parquet.write_table(table, file.name)
        query = (
            f"SELECT entrant, item % 21, avg(value), stddev_samp(value) FROM '{file.name}'"
            " GROUP BY 1, 2"
        )
        held = duckdb.connect()
        times = interleaved({"duckdb": lambda: held.execute(query).fetchall()}, calls=3)["duckdb"]
    yield Row(name, ours, times, "DuckDB over Parquet", least=10)


def pages(board: Any) -> Iterator[Row]:
    """The page of a snapshot and its 304 from the product's own server."""
    from datetime import timedelta

    from django.utils import timezone

    from leaderboard.models import Snapshot
    from leaderboard.standings import publish_snapshot

    made = publish_snapshot(board)
    assert made is not None
    # Its age in words must not change while the page is measured.
    long_ago = timezone.now() - timedelta(days=2, hours=5)
    Snapshot.objects.filter(pk=made.pk).update(published_at=long_ago)
    with web_server() as port:
        ours, naive = Page(port, "/boards/bench/"), Page(port, "/benchmark/naive/")
        ours()
        again = Page(port, "/boards/bench/", again=True)
        floor = Page(port, f"/benchmark/floor/{ours.size}/")
        empty = Page(port, "/benchmark/floor/2/")
        variants = {"ours": ours, "304": again, "floor": floor, "empty": empty, "naive": naive}
        taken = interleaved(variants, calls=40)
        times = [seconds_of(ours, 1) for _ in range(200)]
    size = f"{ours.size:,} bytes; the naive page has {naive.size:,}"
    yield Row("board page", taken["ours"], taken["floor"], "a view without database, as many bytes",
              most=4, note=size)  # fmt: skip
    yield Row("board page", taken["ours"], taken["naive"], "the naive template view", least=3)
    yield Row("board page, median", (statistics.median(times),), seconds=0.005)
    yield Row("board page, 99 %", (percentile(times, 0.99),), seconds=0.015)
    yield Row("304", taken["304"], taken["empty"], "a view without database", most=4)
    yield Row("304", taken["304"], taken["naive"], "the naive template view", least=6)
