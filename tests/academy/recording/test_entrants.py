"""A run finds its entrant and its version, or is refused with those that are meant."""

from __future__ import annotations

from typing import Any

import pytest

from academy.errors import AcademyError
from academy.models import Entrant, EntrantAlias, SuiteVersion
from tests import factories as make
from tests.academy.recording.making import lines

pytestmark = pytest.mark.django_db


def test_an_entrant_is_found_by_slug_name_and_alias(version: SuiteVersion) -> None:
    first = make.run_of(
        make.record_files(
            lines(make.execution("t-0"), entrant={"name": "Robo Takeoff", "aliases": ["RT-1"]}),
            version,
        )
    )
    assert first.entrant.slug == "robo-takeoff"
    by_name = lines(make.execution("t-1"), run_id="r-2", entrant={"name": "Robo Takeoff"})
    by_alias = lines(make.execution("t-2"), run_id="r-3", entrant={"name": "RT-1"})
    by_slug = lines(make.execution("t-3"), run_id="r-4", entrant={"name": "whatever"})
    for contents, slug in ((by_name, ""), (by_alias, ""), (by_slug, "robo-takeoff")):
        run = make.run_of(make.record_files(contents, version, entrant=slug))
        assert run.entrant == first.entrant
    assert Entrant.objects.count() == 1
    assert set(EntrantAlias.objects.values_list("name", flat=True)) == {"Robo Takeoff", "RT-1"}


def test_another_name_of_two_entrants_is_refused_with_both(version: SuiteVersion) -> None:
    for number, name in enumerate(("One", "Two")):
        entrant = {"name": name, "aliases": ["shared"]}
        execution = make.execution("t-0")
        make.record_files(lines(execution, run_id=f"r-{number}", entrant=entrant), version)
    before = make.whole_database()
    with pytest.raises(AcademyError, match="'shared' is another name of .*: one, two"):
        make.record_files(lines(make.execution("t-1"), entrant={"name": "shared"}), version)
    assert make.changed_tables(before) == []


def test_a_named_entrant_that_is_not_here_is_made_under_that_name(version: SuiteVersion) -> None:
    report = make.record_files(lines(make.execution("t-0")), version, entrant="somebody-new")
    assert make.run_of(report).entrant.slug == "somebody-new"


@pytest.mark.parametrize("slug", ["Not A Slug", "a/b", "-"])
def test_a_slug_that_is_none_is_refused(version: SuiteVersion, slug: str) -> None:
    before = make.whole_database()
    with pytest.raises(AcademyError, match="slug"):
        make.record_files(lines(make.execution("t-0")), version, entrant=slug)
    assert make.changed_tables(before) == []


def test_an_entrant_whose_name_gives_no_slug_must_be_named(version: SuiteVersion) -> None:
    with pytest.raises(AcademyError, match="--entrant SLUG"):
        make.record_files(lines(make.execution("t-0"), entrant={"name": "!!!"}), version)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"suite": "example"}, "name one version"),
        ({"suite": "nobody@1"}, "nobody@1, which is not here"),
        ({"suite": "example@3"}, "example@3, which is not here"),
        ({"suite": None, "suite_digest": "0" * 64}, "digest 000000000000, which is not here"),
    ],
)
def test_a_run_of_no_one_known_version_is_refused(header: dict[str, Any], said: str) -> None:
    make.takeoff_version(1, publish=False)
    make.takeoff_version(1, version="2.0", publish=False)
    before = make.whole_database()
    with pytest.raises(AcademyError, match=said):
        make.record_files(lines(make.execution("t-0"), **header))
    assert make.changed_tables(before) == []


def test_a_run_finds_the_version_that_it_names(version: SuiteVersion) -> None:
    other = make.takeoff_version(2, version="2.0", publish=False)
    headers = (
        {"suite": "example@2.0"},
        {"suite": None, "suite_digest": other.digest},
        {"suite": "example", "suite_digest": other.digest},
    )
    for number, header in enumerate(headers):
        contents = lines(make.execution("t-0"), run_id=f"r-{number}", **header)
        assert make.run_of(make.record_files(contents)).version == other
