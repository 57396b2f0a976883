"""Doc Bridge: which executions a study wants, as the original selects and as it should."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import SuiteSpec
from academy.errors import AcademyError
from academy.formats.doc_bridge import FORMAT
from academy.formats.doc_bridge.plans import PAIRWISE
from academy.formats.doc_bridge.sampling import select_corrected
from academy.formats.doc_bridge.selection import SelectionError, all_executions
from tests.academy.formats.doc_bridge_making import Json, parse_suite, sample

CATEGORIES = ("discovery", "architecture", "documentation", "implementation")
SCENARIOS = ("repository-only", "deterministic-doc-bridge", "registry-assisted")


def made_suite(repositories: int, replicates: int, seed: str) -> Json:
    tasks = [
        {
            "id": f"r{number}-{category}",
            "repositoryId": f"r{number}",
            "category": category,
            "variants": [{"id": "variant-a"}, {"id": "variant-b"}],
        }
        for number in range(repositories)
        for category in CATEGORIES
    ]
    return {
        "tasks": tasks,
        "modelIds": ["small", "large"],
        "scenarioIds": list(SCENARIOS),
        "replicatesPerTask": replicates,
        "ordering": {"seed": seed},
    }


suites = st.builds(
    made_suite,
    st.integers(1, 6),
    st.integers(1, 3),
    st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True),
)


@settings(max_examples=25, deadline=None)
@given(suite=suites, share=st.floats(0, 1))
def test_a_corrected_sample_is_balanced_over_models_scenarios_and_categories(
    suite: Json, share: float
) -> None:
    most = len(suite["tasks"]) * suite["replicatesPerTask"]
    size = 6 * max(1, round(share * most))
    rows = select_corrected(suite, size)
    assert len(rows) == size
    assert len({(r.taskId, r.scenarioId, r.modelId, r.replicate) for r in rows}) == size
    strata = Counter((row.modelId, row.scenarioId) for row in rows)
    assert set(strata.values()) == {size // 6}
    for stratum in strata:
        mine = Counter(row.category for row in rows if (row.modelId, row.scenarioId) == stratum)
        counts = [mine[category] for category in CATEGORIES]
        assert max(counts) - min(counts) <= 1


@settings(max_examples=25, deadline=None)
@given(suite=suites, share=st.floats(0, 1))
def test_both_arms_of_a_corrected_pair_share_the_wording(suite: Json, share: float) -> None:
    most = len(suite["tasks"]) * suite["replicatesPerTask"]
    size = 4 * max(1, round(share * most))
    rows = select_corrected(suite, size, {"strategy": PAIRWISE, "scenarioIds": SCENARIOS[:2]})
    arms: dict[tuple[str, str, int], set[tuple[str, str]]] = {}
    for row in rows:
        key = (row.taskId, row.modelId, row.replicate)
        arms.setdefault(key, set()).add((row.scenarioId, row.variantId))
    for found in arms.values():
        assert len(found) == 2
        assert len({variant for _scenario, variant in found}) == 1


@settings(max_examples=15, deadline=None)
@given(suite=suites)
def test_the_whole_matrix_holds_every_cell_once_in_both_ways(suite: Json) -> None:
    for rows in (all_executions(suite, SCENARIOS), select_corrected(suite)):
        cells = {(r.taskId, r.scenarioId, r.modelId, r.replicate) for r in rows}
        assert len(cells) == len(rows) == len(suite["tasks"]) * 6 * suite["replicatesPerTask"]
    corrected = select_corrected(suite)
    for model in suite["modelIds"]:
        used = Counter(row.variantId for row in corrected if row.modelId == model)
        assert abs(used["variant-a"] - used["variant-b"]) <= 6


@pytest.mark.parametrize(
    ("size", "sampling"),
    [
        (5, None),
        (0, None),
        (True, None),
        (6.5, None),
        (54, None),
        (4, {"strategy": PAIRWISE, "scenarioIds": [SCENARIOS[0], SCENARIOS[0]]}),
        (4, {"strategy": PAIRWISE, "scenarioIds": [SCENARIOS[0], "elsewhere"]}),
        (4, {"strategy": PAIRWISE}),
    ],
)
def test_a_sample_that_makes_no_sense_is_refused(size: Any, sampling: Any) -> None:
    with pytest.raises(SelectionError):
        select_corrected(made_suite(1, 2, "s"), size, sampling)


@pytest.fixture(scope="module")
def suite() -> SuiteSpec:
    return parse_suite(sample("one-repository"))


def plan(suite: SuiteSpec, **options: Any) -> Json:
    assert FORMAT.plan is not None
    made = FORMAT.plan(suite, options)
    assert isinstance(made, dict)
    return made


def test_a_plan_says_what_is_wanted_where(suite: SuiteSpec) -> None:
    made = plan(suite)
    assert (made["wanted"], made["is_sample"], made["strategy"]) == (48, False, "full")
    assert [cell["wanted"] for cell in made["strata"]] == [4] * 12
    for row in made["executions"]:
        place = row["record"]
        assert place["replicate"] == row["replicate"] + 1
        assert row["variantId"] == ("variant-a", "variant-b")[place["variant"]]


def test_a_kept_run_plan_says_the_sample(suite: SuiteSpec) -> None:
    made = plan(suite, plan="example-plan-1")
    asked = plan(suite, sample=16, strategy="pairwise", scenarios=list(SCENARIOS[:2]))
    assert made["executions"] == asked["executions"]
    assert (made["plan"], made["wanted"], made["is_sample"]) == ("example-plan-1", 16, True)


def test_what_the_original_cannot_select_is_refused_and_offered_corrected(
    suite: SuiteSpec,
) -> None:
    with pytest.raises(AcademyError, match="Unable to select a balanced execution for task 4"):
        plan(suite, sample=6, strategy="balanced")
    made = plan(suite, sample=6, strategy="balanced", mode="strict")
    assert (made["mode"], made["wanted"]) == ("strict", 6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 4}, "no option 'size'"),
        ({"strategy": "random"}, "no strategy 'random'"),
        ({"sample": "4"}, "must be a number"),
        ({"sample": True}, "must be a number"),
        ({"mode": "lenient"}, "no mode 'lenient'"),
        ({"plan": "other"}, "no run plan 'other'; known: example-plan-1"),
        ({"strategy": "pairwise", "scenarios": "two"}, "must be a list"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    suite: SuiteSpec, options: Json, message: str
) -> None:
    with pytest.raises(AcademyError, match=message):
        plan(suite, **options)
