"""Checks the rows of one aggregate: schema, joins, counts, digests, means, doubles, hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from academy.bundle import JSON
from academy.errors import Problems
from academy.formats.every_eval_ever.documents import Document
from academy.formats.every_eval_ever.faults import report_faults
from academy.formats.every_eval_ever.hashing import RECIPES, recipe_of
from academy.formats.every_eval_ever.joining import AMBIGUOUS, DANGLING, UNNAMED, Join
from academy.formats.every_eval_ever.metrics import Result, row_gap
from academy.formats.every_eval_ever.row_upgrading import upgrade_row
from academy.formats.every_eval_ever.rows import (
    Group,
    Key,
    Row,
    differing_fields,
    grouped,
    key_of_row,
    parse_row,
    read_rows,
    sample_of,
)
from academy.formats.every_eval_ever.scattered import Cursors, GroupIndex, Place
from academy.formats.every_eval_ever.trajectories import Trajectories
from academy.formats.every_eval_ever.upgrading import Changes
from academy.formats.every_eval_ever.values import (
    UNSTORABLE,
    as_map,
    as_number,
    as_text,
    as_whole,
    texts_of,
)
from academy.formats.every_eval_ever.versions import row_schema
from academy.formats.reading import Files, Line, check_text, read_jsonl

MOST_REPLICATES = 1023
MEAN_TOLERANCE = 1e-9
UNJOINED = {
    DANGLING: "the evaluation_result_id is that of no result",
    AMBIGUOUS: "several results have this evaluation_name and no evaluation_result_id tells which",
    UNNAMED: "no result has this evaluation_name",
}


@dataclass(slots=True)
class Scan:
    """The rows of one document once they were checked, ready to be streamed again."""

    files: Files
    document: Document
    join: Join
    trajectories: Trajectories
    by_sample_id: bool = False
    # First line of a group -> places of later lines of the same execution, and their first lines.
    later: dict[int, list[Place]] = field(default_factory=dict)
    skipped: set[int] = field(default_factory=set)
    recipes: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def groups(self) -> Iterator[Group]:
        """Every execution with all of its lines, in order of first lines. Reads the file anew."""
        rows = read_rows(self.files, self.document.rows, self.join)
        cursors = Cursors(lambda: self.files.open(self.document.rows))
        try:
            for group in grouped(rows, by_sample_id=self.by_sample_id):
                first = group.rows[0].number
                if first in self.skipped:
                    continue
                for place in self.later.get(first, ()):
                    group.rows.extend(self.read(place, cursors))
                yield group
        finally:
            cursors.close()

    def read(self, place: Place, cursors: Cursors) -> list[Row]:
        """The rows of a group that lies elsewhere; blank lines inside are not numbered."""
        return [
            parse_row(data, place.line + at, place.offset, self.document.rows, self.join)
            for at, data in enumerate(cursors.read(place.offset, place.count))
        ]


@dataclass(slots=True)
class Tally:
    """How often a rule was broken, and where first."""

    count: int
    line: int
    message: str


class Scanner:
    """One pass over the rows of a document that notes everything worth knowing."""

    def __init__(self, scan: Scan, problems: Problems) -> None:
        self.scan = scan
        self.document = scan.document
        self.path = scan.document.rows
        self.problems = problems
        self.tallies: dict[str, Tally] = {}
        self.sums: dict[int, tuple[float, int]] = {}
        self.changes = Changes()
        self.index = GroupIndex()
        self.recipe = next(iter(RECIPES))
        self.errors_before = problems.total
        self.unread = 0

    def run(self, take: Callable[[Group], None]) -> None:
        """Check every row and hand every group that was read in one piece to `take`."""
        for group in grouped(self.sound_rows(), by_sample_id=self.scan.by_sample_id):
            self.check_group(group)
            take(group)
        self.find_scattered()
        self.check_whole()

    def sound_rows(self) -> Iterator[Row]:
        """Every row that its own schema takes, in the form of 0.3.0."""
        told = self.problems.total
        with self.scan.files.open(self.path) as stream:
            for line in read_jsonl(stream, path=self.path, problems=self.problems):
                self.unread += self.problems.total - told
                self.scan.count += 1
                row = self.sound_row(line)
                if row is not None:
                    yield row
                told = self.problems.total
        self.unread += self.problems.total - told

    def sound_row(self, line: Line) -> Row | None:
        """One line as a row, or None when something refuses it."""
        schema = row_schema(as_map(line.value))
        path, number = self.path, line.number
        if not report_faults(line.value, schema, path=path, problems=self.problems, line=number):
            return None
        native = as_map(line.value)
        value = upgrade_row(native, self.changes)
        joined = self.scan.join.find(value)
        row = Row(number, line.offset, line.raw, native, value, joined)
        return row if self.check_row(row) else None

    def tally(self, rule: str, message: str, line: int) -> None:
        """Count a warning instead of repeating it for every row."""
        known = self.tallies.get(rule)
        if known is None:
            self.tallies[rule] = Tally(1, line, message)
        else:
            known.count += 1

    def error(self, rule: str, message: str, row: Row, pointer: str) -> bool:
        """Note an error of a row."""
        self.problems.error(self.path, rule, message, line=row.number, pointer=pointer)
        return False

    def check_row(self, row: Row) -> bool:
        """Whether a row belongs to its aggregate and can be stored."""
        sound = self.is_storable(row)
        for name, expected in (
            ("evaluation_id", self.document.evaluation_id),
            ("model_id", self.document.model_id),
        ):
            if row.value.get(name) != expected:
                message = f"{row.value.get(name)!r} is not the aggregate's {expected!r}"
                sound = self.error("row-of-another-aggregate", message, row, f"/{name}")
        if row.joined.rule:
            self.tally(row.joined.rule, UNJOINED[row.joined.rule], row.number)
        if row.joined.data_set is None:
            message = f"{UNJOINED[row.joined.rule]}, and the aggregate has several data sets"
            sound = self.error(row.joined.rule, message, row, "/evaluation_result_id")
        self.scan.trajectories.check(row.value, row.number, self.problems)
        self.note_score(row)
        self.note_hash(row)
        return sound

    def is_storable(self, row: Row) -> bool:
        """Whether the row's names can be stored. What else no column can hold is shown by a symbol.

        Real prompts hold U+0000; the record itself keeps every byte of them.
        """
        if b"\\u" not in row.raw:
            return True
        held = as_map(row.value.get("input"))
        texts = (as_text(held.get("raw")), *texts_of(held.get("reference")))
        if any(UNSTORABLE.search(text) for text in (*texts, *texts_of(held.get("choices")))):
            message = "the input holds U+0000 or half a character; a symbol is shown in its place"
            self.tally("symbol-shown", message, row.number)
        checks = [
            check_text(
                as_text(row.value.get(name)),
                path=self.path,
                pointer=f"/{name}",
                problems=self.problems,
                line=row.number,
            )
            for name in ("sample_id", "evaluation_name", "evaluation_result_id")
        ]
        return all(checks)

    def note_score(self, row: Row) -> None:
        """Add a row's score to the sum of its result."""
        result = row.joined.result
        score = as_number(as_map(row.value.get("evaluation")).get("score"))
        if result is None or score is None:
            return
        gap = row_gap(result, score)
        if gap:
            self.tally("missing-sentinel", f"{gap}; it is read as missing", row.number)
            return
        total, count = self.sums.get(result.index, (0.0, 0))
        self.sums[result.index] = (total + score, count + 1)

    def note_hash(self, row: Row) -> None:
        """Label the recipe of a row's sample_hash; the last one found is tried first."""
        given = as_text(row.value.get("sample_hash"))
        if not given:
            return
        _sample, raw, reference = sample_of(row.value)
        if RECIPES[self.recipe](raw, reference) == given.lower():
            recipe = self.recipe
        else:
            recipe = recipe_of(given, raw, reference)
        if recipe:
            self.recipe = recipe
            self.scan.recipes[recipe] = self.scan.recipes.get(recipe, 0) + 1
        else:
            self.tally("unknown-sample-hash", "the sample_hash follows no known recipe", row.number)

    def check_group(self, group: Group) -> None:
        """Note a group in the index and check that its lines tell different metrics."""
        first = group.rows[0]
        if group.key.replicate > MOST_REPLICATES:
            message = f"there may be at most {MOST_REPLICATES} repetitions"
            self.error("replicates", message, first, "/metadata")
        self.check_doubles(group.rows)
        place = Place(first.number, first.offset, len(group.rows), bytes.fromhex(group.digest)[:16])
        if not self.index.add(group.key.digest(), place):
            message = "there are too many rows for one upload; split the file"
            self.error("size", message, first, "")

    def check_doubles(self, rows: list[Row]) -> None:
        """Two lines of one execution for one result: the same score is told, another is refused."""
        seen: dict[tuple[JSON, JSON], Row] = {}
        for row in rows:
            place = row.value.get("evaluation_result_id"), row.value.get("evaluation_name")
            other = seen.setdefault(place, row)
            if other is row:
                continue
            if other.value.get("evaluation") == row.value.get("evaluation"):
                self.tally("double-row", "the line repeats an earlier one", row.number)
            else:
                message = f"lines {other.number} and {row.number} give one result two scores"
                self.error("two-scores", message, row, "/evaluation")

    def find_scattered(self) -> None:
        """Bring lines of one execution together that do not follow each other."""
        cursors = Cursors(lambda: self.scan.files.open(self.path))
        try:
            for places in self.index.repeated():
                self.join_places(places, cursors)
        finally:
            cursors.close()

    def join_places(self, places: list[Place], cursors: Cursors) -> None:
        """One execution in several places: the same content is one record, other is refused."""
        first, *others = places
        rows = self.scan.read(first, cursors)
        for place in others:
            more = self.scan.read(place, cursors)
            if place.digest != first.digest:
                fields = ", ".join(differing_fields(rows[0].native, more[0].native))
                key = self.name_of(key_of_row(rows[0], by_sample_id=self.scan.by_sample_id))
                message = (
                    f"lines {first.line} and {place.line} are both {key} but differ in {fields}"
                )
                self.error("two-executions", message, more[0], "")
                continue
            self.scan.later.setdefault(first.line, []).append(place)
            self.scan.skipped.add(place.line)
            rows.extend(more)
        self.check_doubles(rows)

    @staticmethod
    def name_of(key: Key) -> str:
        """An execution in words."""
        return f"sample {key.task.rpartition(':')[0] or key.task!r}, repetition {key.replicate},"

    def check_whole(self) -> None:
        """What only the whole file shows: its count, its digest, the means, and all tallies."""
        self.check_count()
        self.check_digest()
        if self.problems.total == self.errors_before:
            for result in self.document.results:
                self.check_mean(result)
        for rule, tally in self.tallies.items():
            rows = f" ({tally.count} rows, the first here)" if tally.count > 1 else ""
            self.problems.warn(self.path, rule, f"{tally.message}{rows}", line=tally.line)
        for what, number in self.changes.counts.items():
            times = f" ({number} times)" if number > 1 else ""
            place = self.changes.places[what]
            self.problems.note(self.path, "upgraded", f"{what}{times}", pointer=place)
        if self.scan.recipes:
            told = ", ".join(f"{name} {n}" for name, n in sorted(self.scan.recipes.items()))
            self.problems.note(self.path, "sample-hash", f"recipes of sample_hash: {told}")

    def detail(self) -> Mapping[str, JSON]:
        """What the aggregate's own document says of its rows."""
        return as_map(self.document.declared)

    def check_count(self) -> None:
        """The number of rows that the aggregate tells."""
        told = as_whole(self.detail().get("total_rows"))
        if told is not None and told != self.scan.count and not self.unread:
            message = f"total_rows is {told}, the file has {self.scan.count} rows"
            place = "/detailed_evaluation_results/total_rows"
            self.problems.error(self.document.path, "row-count", message, pointer=place)

    def check_digest(self) -> None:
        """The digest of the file of rows that the aggregate tells."""
        told = as_text(self.detail().get("checksum")).lower()
        if not told:
            return
        algorithm = as_text(self.detail().get("hash_algorithm")) or "sha256"
        digest = hashlib.new(algorithm, usedforsecurity=False)
        with self.scan.files.open(self.path) as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        if digest.hexdigest() != told:
            message = f"{self.path} does not have the {algorithm} checksum that is told"
            place = "/detailed_evaluation_results/checksum"
            self.problems.warn(self.document.path, "checksum", message, pointer=place)

    def check_mean(self, result: Result) -> None:
        """The mean of the rows of a result beside the score that is reported for it."""
        total, count = self.sums.get(result.index, (0.0, 0))
        if not count or result.score is None:
            return
        mean = total / count
        if abs(mean - result.score) > MEAN_TOLERANCE * max(1.0, abs(result.score)):
            message = (
                f"{result.metric.key}: {result.score!r} is reported, the mean of {count} rows "
                f"is {mean!r}"
            )
            place = f"/evaluation_results/{result.index}/score_details/score"
            self.problems.warn(self.document.path, "mean-differs", message, pointer=place)
