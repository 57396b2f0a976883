"""The evals of a skill: what the schema refuses is refused, and the plug-in is one folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import FileStatus, RecordView, SuiteUpload
from academy.errors import FormatError
from academy.formats.reading import Files
from academy.formats.skill_evals import FORMAT
from academy.scorers import rubric
from academy.scorers.base import EffectiveValue

PATH = "tea-maker/evals/evals.json"
CASE = {
    "id": "green-tea",
    "prompt": "Make green tea.",
    "expected_output": "canary-output",
    "assertions": ["It is green", "exit_status:0"],
}
HOUSE = Path(__file__).parents[3]


def document(*cases: dict[str, Any], **top: Any) -> bytes:
    value = {"schema_version": 1, "skill_name": "tea-maker", "evals": list(cases or (CASE,)), **top}
    return json.dumps(value, ensure_ascii=False).encode()


def parse(data: bytes, path: str = PATH, **more: bytes) -> SuiteUpload:
    assert FORMAT.parse_suite is not None
    return FORMAT.parse_suite(Files.of({path: data, **more}))


def export(upload: SuiteUpload) -> Any:
    assert FORMAT.export_suite is not None
    written = FORMAT.export_suite(upload.suites[0], {})
    return json.loads(written[upload.suites[0].sources[0]])


def test_a_case_is_a_task_with_a_question_for_each_assertion() -> None:
    task = parse(document()).suites[0].tasks[0]
    assert [one.text for one in task.criteria] == CASE["assertions"]
    assert {(one.scale, one.decided_by) for one in task.criteria} == {("met", "person")}
    assert task.criteria[1].extra == {"check": "exit_status", "value": "0"}
    assert task.attributes == {"case_set": "dev"}
    assert "canary" not in repr((task.prompt, task.context, task.attributes, task.extra))
    assert FORMAT.rater_view(task) == {"expected_output": "canary-output"}


def test_the_score_is_the_share_of_assertions_that_people_find_met() -> None:
    task = parse(document()).suites[0].tasks[0]
    (grading,) = task.gradings
    met = {
        "assertion-1": EffectiveValue(state="value", value=True),
        "assertion-2": EffectiveValue(state="value", value=False),
    }
    scorer = next(one for one in rubric.SCORERS if one.mode == "strict")
    verdict = scorer.score(RecordView(answer="tea"), task.key, met, grading.params)
    assert verdict.value == 0.5
    waiting = scorer.score(RecordView(answer="tea"), task.key, {}, grading.params)
    assert waiting.status == "needs_human"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"expectations": ["x"]}, "expectations"),
        ({"owner": "me"}, "unknown-field"),
        ({"id": "Green-Tea"}, "case-id"),
        ({"id": "green--tea"}, "case-id"),
        ({"id": "a" * 65}, "case-id"),
        ({"id": 7}, "case-id"),
        ({"id": "tea\n"}, "case-id"),
        ({"prompt": " \n"}, "blank-text"),
        ({"prompt": "a\x00b"}, "text"),
        ({"expected_output": None}, "blank-text"),
        ({"assertions": []}, "assertions"),
        ({"assertions": ["a", "a"]}, "double-assertion"),
        ({"assertions": ["a", ""]}, "blank-text"),
        ({"assertions": "a"}, "assertions"),
        ({"files": ["/etc/hostname"]}, "unsafe-path"),
        ({"files": ["../x"]}, "unsafe-path"),
        ({"files": ["a/./b"]}, "unsafe-path"),
        ({"files": ["a\\b"]}, "unsafe-path"),
        ({"files": ["C:/b"]}, "unsafe-path"),
        ({"files": ["CON.json"]}, "unsafe-path"),
        ({"files": ["a", "a"]}, "double-path"),
        ({"files": None}, "files"),
        ({"case_set": "nightly"}, "case-set"),
    ],
)
def test_a_case_outside_the_schema_is_refused_by_name(change: dict[str, Any], rule: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(document({**CASE, **change}))
    assert rule in {problem.rule for problem in caught.value.problems}
    assert all(problem.pointer.startswith("/evals/0") for problem in caught.value.problems)
    assert all(problem.line == 1 for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (document(schema_version=2), "schema-version"),
        (document(schema_version=True), "schema-version"),
        (document(skill_name="coffee-maker"), "skill-name"),
        (document(skill_name="Tea Maker"), "skill-name"),
        (document(notes="x"), "unknown-field"),
        (document(evals=[]), "no-cases"),
        (document(evals={}), "no-cases"),
        (document(CASE, CASE), "double-id"),
        (b'{"skill_name": "a", "skill_name": "a"}', "double-key"),
        (b"[]", "not-an-object"),
        (b"", "json-syntax"),
    ],
)
def test_a_document_outside_the_schema_is_refused(data: bytes, rule: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(data)
    rules = {problem.rule for problem in caught.value.problems}
    assert rule in rules or (rule == "json-syntax" and rules)


def test_a_missing_field_is_told_for_each() -> None:
    with pytest.raises(FormatError) as caught:
        parse(document({"id": "a"}))
    assert [one.rule for one in caught.value.problems] == ["required-field"] * 3


def test_one_skill_has_one_list_of_cases() -> None:
    with pytest.raises(FormatError, match="already has"):
        parse(
            document(),
            "a/tea-maker/evals/evals.json",
            **{"b/tea-maker/evals/evals.json": document()},
        )


def test_many_skills_of_one_upload_are_many_suites() -> None:
    other = {"coffee-maker/evals/evals.json": document(skill_name="coffee-maker")}
    upload = parse(document(), **other)
    assert [suite.slug for suite in upload.suites] == ["coffee-maker-evals", "tea-maker-evals"]


def test_files_of_a_case_come_along_or_are_missed() -> None:
    data = document({**CASE, "files": ["evals/stock.txt"], "case_set": "release"})
    upload = parse(data)
    assert [notice.rule for notice in upload.notices] == ["absent-file"]
    upload = parse(data, **{"tea-maker/evals/stock.txt": b"green 4"})
    assert upload.notices == ()
    assert {one.status for one in upload.files} == {FileStatus.IMPORTED}
    assert export(upload) == json.loads(data)


def test_neighbours_are_named_and_not_loaded() -> None:
    upload = parse(document(), **{"tea-maker/evals/trigger-queries.json": b"[]"})
    assert upload.files[-1].status is FileStatus.RECOGNISED
    assert "wake" in upload.files[-1].reason


SLUGS = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")).filter(
    str.strip
)
CASES = st.fixed_dictionaries(
    {
        "id": SLUGS,
        "prompt": TEXTS,
        "expected_output": TEXTS,
        "assertions": st.lists(TEXTS, min_size=1, max_size=4, unique=True),
    },
    optional={"case_set": st.sampled_from(["dev", "release"]), "files": st.just([])},
)


@settings(max_examples=60)
@given(st.lists(CASES, min_size=1, max_size=4, unique_by=lambda case: case["id"]))
def test_what_is_read_is_written_again(cases: list[dict[str, Any]]) -> None:
    data = document(*cases)
    upload = parse(data)
    assert export(upload) == json.loads(data)
    assert list(export(upload)["evals"][0]) == list(cases[0])


@settings(max_examples=100)
@given(st.data())
def test_damaged_bytes_give_an_error_or_what_they_say(data: st.DataObject) -> None:
    sample = document({**CASE, "case_set": "dev"}, {**CASE, "id": "black-tea"})
    place = data.draw(st.integers(0, len(sample)))
    put = data.draw(st.binary(max_size=3) | st.sampled_from([b'"', b",", b"NaN", b"{}"]))
    damaged = sample[:place] + put + sample[place + data.draw(st.integers(0, 40)) :]
    try:
        upload = parse(damaged)
    except FormatError as error:
        assert error.problems
        return
    assert export(upload) == json.loads(damaged)


def test_no_module_or_page_outside_the_folder_knows_of_this_format() -> None:
    own = HOUSE / "academy" / "formats" / "skill_evals"
    naming = [
        str(path.relative_to(HOUSE))
        for part in ("academy", "adjudication", "leaderboard", "templates", "static")
        for path in sorted((HOUSE / part).rglob("*"))
        if path.suffix in (".py", ".html", ".js", ".css", ".toml", ".json", ".sql")
        and own not in path.parents
        and b"skill_evals" in path.read_bytes()
    ]
    assert naming == []


@pytest.mark.data
def test_the_published_cases_come_back_equal(conformance_data: Path) -> None:
    data = (conformance_data / "neckbeard" / "evals" / "evals.json").read_bytes()
    upload = parse(data, "neckbeard/evals/evals.json")
    suite = upload.suites[0]
    assert (len(suite.tasks), sum(len(task.criteria) for task in suite.tasks)) == (11, 69)
    assert all(not one.extra for task in suite.tasks for one in task.criteria)
    assert export(upload) == json.loads(data)
