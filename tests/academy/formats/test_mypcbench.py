"""MyPCBench task files: what becomes a suite, what is told, what is refused, and back again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import SuiteSpec, SuiteUpload
from academy.errors import FormatError
from academy.formats.mypcbench import FORMAT
from academy.formats.mypcbench.documents import same
from academy.formats.reading import Files
from academy.scorers.rubric import check
from tests.academy.formats.mypcbench_making import BUCKET, files_of, load, rubric, suite_of, task


def parse(files: Files) -> SuiteUpload:
    assert FORMAT.parse_suite is not None
    return FORMAT.parse_suite(files)


def export(suite: SuiteSpec) -> dict[str, Any]:
    assert FORMAT.export_suite is not None
    return {path: json.loads(data) for path, data in FORMAT.export_suite(suite, {}).items()}


def rules(error: FormatError) -> set[str]:
    return {problem.rule for problem in error.problems}


def test_a_bucket_file_gives_a_suite_named_after_it() -> None:
    upload = parse(files_of({BUCKET: [task()]}))
    assert [suite.slug for suite in upload.suites] == ["tearoom"]
    assert [(file.path, str(file.status)) for file in upload.files] == [(BUCKET, "imported")]


def test_notes_for_graders_are_sealed_and_named_by_the_criteria() -> None:
    made = suite_of(task(required_subtasks=["Look"])).tasks[0]
    assert made.key == {"_world_notes": "Example note for graders.", "required_subtasks": ["Look"]}
    assert "Example note" not in repr((made.extra, made.attributes, made.context))
    seen = FORMAT.rater_view(made)
    assert seen == {"world_notes": "Example note for graders.", "required_subtasks": ["Look"]}
    assert all(set(criterion.needs) == set(seen) for criterion in made.criteria)
    assert "Example note" not in repr(FORMAT.agent_view(made))


@pytest.mark.parametrize(
    ("listed", "keys"),
    [
        ([rubric("a"), rubric("b")], ["R1", "R2"]),
        (
            [{"id": "x", "rubric_id": "y", **rubric("a")}, {"rubric_id": "z", **rubric("b")}],
            ["x", "z"],
        ),
        ([{"id": "x", **rubric("a")}, {"id": "x", **rubric("b")}], ["x", "x-2"]),
        ([{"id": "x-2", **rubric("a")}, *[{"id": "x", **rubric("b")}] * 2], ["x-2", "x", "x-3"]),
        ([{"id": "R2", **rubric("a")}, rubric("b")], ["R2", "R2-2"]),
    ],
)
def test_keys_of_criteria_are_unique(listed: list[Any], keys: list[str]) -> None:
    made = suite_of(task(grading={"type": "llm_judge", "rubrics": listed})).tasks[0]
    assert [criterion.key for criterion in made.criteria] == keys


@pytest.mark.parametrize("raw", [None, 0, -0.2, "high", [1], "absent"])
def test_a_weight_that_does_not_count_becomes_one_and_is_told(raw: Any) -> None:
    odd = rubric("b", raw)
    if raw == "absent":
        del odd["weight"]
    upload = parse(files_of({BUCKET: [task(grading={"type": "llm_judge", "rubrics": [odd]})]}))
    assert upload.suites[0].tasks[0].criteria[0].weight == 1.0
    assert any(notice.rule == "weight-replaced" for notice in upload.notices)
    assert same(export(upload.suites[0])[BUCKET][0]["grading"]["rubrics"], [odd])


def test_the_compiled_list_wins_and_differences_are_told_with_their_place() -> None:
    compiled = task(app="tearoom", _world_notes=None)
    stale = task(instruction="An older wording.", horizon="H1")
    upload = parse(
        files_of(
            {
                "tasks/final/all_tasks_with_grading.json": [compiled],
                "tasks/final/tearoom/tearoom.rubrics.json": [stale, task("retrieval-x002")],
            }
        )
    )
    (suite,) = upload.suites
    assert [made.external_id for made in suite.tasks] == ["retrieval-x001"]
    assert suite.tasks[0].prompt == "Which teas are left?"
    assert suite.tasks[0].attributes["horizon"] == "H1"
    told = {(notice.file, notice.pointer, notice.rule) for notice in upload.notices}
    shard = "tasks/final/tearoom/tearoom.rubrics.json"
    assert (shard, "/0/instruction", "forms-differ") in told
    assert (shard, "/1", "not-compiled") in told


def test_forms_that_differ_are_each_written_back_as_they_were() -> None:
    contents = {
        "final/all_tasks_with_grading.json": [task(time_limit_seconds=300, cua_required=True)],
        "final/all_tasks.json": [task(grading=None, difficulty="hard", _world_notes="Older.")],
        "final/tearoom/tearoom.rubrics.json": [
            task("retrieval-x002"),
            task(time_limit_seconds=300.0, cua_required=1, instruction="An older wording."),
        ],
        "smoke_one/one.json": task(),
    }
    upload = parse(files_of(contents))
    written = {path: held for suite in upload.suites for path, held in export(suite).items()}
    assert written.keys() == contents.keys()
    assert all(same(written[path], contents[path]) for path in contents)
    sealed = upload.suites[0].tasks[0]
    assert "Older." not in repr(sealed.extra) and "Older." in repr(sealed.key)


def test_a_compiled_task_in_no_bucket_is_told() -> None:
    upload = parse(
        files_of(
            {
                "final/all_tasks_with_grading.json": [task(), task("retrieval-x002")],
                "final/tearoom/tearoom.rubrics.json": [task()],
            }
        )
    )
    assert [notice.rule for notice in upload.notices] == ["not-in-shards"]


def test_a_list_without_grading_gives_tasks_that_nothing_scores_and_says_so() -> None:
    upload = parse(files_of({"all_tasks.json": [task(grading=None)]}))
    assert upload.suites[0].tasks[0].gradings == ()
    upload = parse(files_of({BUCKET: [task(grading={"type": "llm_judge", "rubrics": []})]}))
    assert "no-rubrics" in {notice.rule for notice in upload.notices}


def test_every_error_is_told_with_line_and_pointer() -> None:
    broken = [task(instruction=7), {"id": "a/b"}, "no task", task(grading={"rubrics": [5]})]
    with pytest.raises(FormatError) as caught:
        parse(files_of({BUCKET: json.dumps(broken, indent=1)}))
    assert rules(caught.value) == {
        "instruction-missing",
        "id-unsafe",
        "task-not-object",
        "rubric-not-object",
    }
    assert all(problem.line and problem.pointer for problem in caught.value.problems)


@pytest.mark.parametrize("task_id", ["../x", "a/b", "a\\b", "~x", ".x", "", 7, "x" * 300])
def test_an_id_that_cannot_name_a_folder_is_refused(task_id: Any) -> None:
    with pytest.raises(FormatError) as caught:
        parse(files_of({BUCKET: [task(task_id)]}))
    assert rules(caught.value) <= {"id-unsafe", "id-missing"}


def test_an_id_in_two_buckets_is_refused_with_both_places() -> None:
    with pytest.raises(FormatError, match=r"a\.rubrics\.json /1") as caught:
        parse(
            files_of(
                {
                    "final/a/a.rubrics.json": [task("retrieval-x002"), task()],
                    "final/b/b.rubrics.json": [task()],
                }
            )
        )
    assert caught.value.problems[0].file == "final/b/b.rubrics.json"


@pytest.mark.parametrize("where", ["instruction", "_world_notes", "horizon"])
def test_text_that_no_column_holds_is_refused(where: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(files_of({BUCKET: [task(**{where: "a\x00b"})]}))
    assert rules(caught.value) == {"text"}
    assert caught.value.problems[0].pointer == f"/0/{where}"


def test_files_beside_the_tasks_are_recognised_with_a_reason() -> None:
    upload = parse(
        files_of(
            {
                "tasks/schema.json": {},
                "tasks/final/variables.json": {},
                "tasks/final/mypcbench_legacy.json": [task(difficulty="hard")],
                "tasks/final/mypcbench_clean.json": [task()],
                "tasks/final/all_tasks_with_grading.json": [task()],
                "package.json": {"name": "x"},
                "README.md": "text",
            }
        )
    )
    reasons = {file.path: file.reason for file in upload.files if file.status == "recognised"}
    assert len(reasons) == 6
    assert all(reasons.values())
    assert "identical" in reasons["tasks/final/mypcbench_clean.json"]
    assert "another revision" in reasons["tasks/final/mypcbench_legacy.json"]


def test_files_that_hold_no_task_are_refused() -> None:
    with pytest.raises(FormatError) as caught:
        parse(files_of({"numbers.json": [1, 2]}))
    assert rules(caught.value) == {"no-tasks"}


def test_revisions_of_one_file_are_the_same_suite_with_other_tasks() -> None:
    early = suite_of(task())
    late = suite_of(task(grading={"type": "llm_judge", "rubrics": [rubric("Names both", 1.0)]}))
    assert early.slug == late.slug
    assert early.version == late.version == ""
    assert early.tasks != late.tasks


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
odd_rubrics = st.fixed_dictionaries(
    {"criterion": st.text(min_size=1, max_size=5)},
    optional={
        "weight": st.floats(-1, 2) | st.integers(-1, 3) | st.none() | st.sampled_from(["x", "0.5"]),
        "requirement": st.text(max_size=5),
        "id": st.sampled_from(["R1", "R2", "a"]),
        "rubric_id": st.sampled_from(["R1", "b"]),
        "extra": json_values,
    },
)


def has_odd_text(value: Any) -> bool:
    return any(code in json.dumps(value) for code in ("\\u0000", "\\ud"))


@settings(max_examples=40)
@given(
    st.lists(odd_rubrics, min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(["horizon", "_note", "pre_command", "app"]), json_values),
)
def test_what_was_imported_is_written_back_equal(rubrics: list[Any], more: dict[str, Any]) -> None:
    document = [task(grading={"type": "llm_judge", "rubrics": rubrics, "_kept": 0}, **more)]
    try:
        suite = parse(files_of({BUCKET: document})).suites[0]
    except FormatError as error:
        assert has_odd_text(document) and rules(error) == {"text"}
        return
    written = export(suite)
    assert same(written[BUCKET], document)
    assert list(written[BUCKET][0]) == list(document[0])
    again = parse(files_of({BUCKET: document})).suites[0]
    assert again == suite
    for grading in suite.tasks[0].gradings:
        check(None, grading.params)


@settings(max_examples=60)
@given(st.data())
def test_broken_bytes_are_refused_or_give_a_suite(data: st.DataObject) -> None:
    whole = json.dumps([task(), task("retrieval-x002")], indent=1).encode()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    noise = data.draw(st.binary(max_size=4))
    broken = whole[:start] + noise + whole[end:]
    try:
        upload = parse(Files.of({BUCKET: broken}))
    except FormatError as error:
        assert error.problems
        return
    assert same(export(upload.suites[0])[BUCKET], json.loads(broken))


def test_a_document_of_brackets_is_refused_by_depth() -> None:
    with pytest.raises(FormatError) as caught:
        parse(Files.of({BUCKET: b"[" * 20_000 + b"]" * 20_000}))
    assert "200" in str(caught.value)


@pytest.mark.data
def test_the_real_checkout_gives_three_suites(conformance_data: Path) -> None:
    for root in ("", "tasks"):
        upload = parse(load(conformance_data / "mypcbench" / root))
        found = {suite.slug: len(suite.tasks) for suite in upload.suites}
        assert found == {"final": 66, "smoke": 10, "smoke-one": 1}
        assert all(file.reason for file in upload.files if file.status != "imported")


@pytest.mark.data
def test_every_real_task_file_is_written_back_equal(conformance_data: Path) -> None:
    folder = conformance_data / "mypcbench"
    read = 0
    for path in sorted(folder.rglob("*.json")):
        if not FORMAT.claims(load(path)):
            continue
        for suite in parse(load(path)).suites:
            read += 1
            assert same(export(suite)[path.name], json.loads(path.read_bytes()))
    assert read >= 25


@pytest.mark.data
def test_the_real_buckets_and_the_compiled_list_agree(conformance_data: Path) -> None:
    folder = conformance_data / "mypcbench"
    files = {str(path): data for path, data in load(folder / "tasks").items()}
    for name in ("all_tasks_with_grading", "all_tasks"):
        files[f"final/{name}.json"] = (folder / f"derived/{name}.subset66.json").read_bytes()
    upload = parse(Files.of(files))
    final = next(suite for suite in upload.suites if suite.slug == "final")
    assert len(final.tasks) == 66
    assert not [notice for notice in upload.notices if notice.file.startswith("final/")]
    assert set(export(final)) >= {"final/all_tasks_with_grading.json"}
    findings = FORMAT.compatibility(Files.of({f"tasks/{path}": d for path, d in files.items()}))
    assert ["GREEN" in finding.message for finding in findings] == [True]
