"""The pages that compare entries of a board: pairs, several at once, items, wrong addresses."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from leaderboard.models import Board
from tests.leaderboard.test_board_pages import text_of

pytestmark = pytest.mark.django_db


def test_compare_pairs_entries_by_the_test_of_the_board(judged: Board) -> None:
    board = judged
    page = text_of(f"/compare/?board={board.slug}&entry=alpha&entry=gamma")
    assert "Difference: +70.0 points" in page and "separable" in page
    assert ">+100</text>" in page and "e+0" not in page
    assert "exact McNemar" in page.lower() or "Exact McNemar" in page
    assert "on 28 : 0, p &lt; 0.0001" in page
    assert "28 items where they differ" in page
    assert "difficulty: easy" in page
    swapped = text_of(f"/compare/?board={board.slug}&entry=gamma&entry=alpha")
    assert "Difference: −70.0 points" in swapped
    close = text_of(f"/compare/?board={board.slug}&entry=alpha&entry=beta")
    assert "not separable" in close


def test_compare_takes_up_to_four_and_adjusts_for_all_pairs(judged: Board) -> None:
    board = judged
    page = text_of(f"/compare/?board={board.slug}&entry=alpha&entry=beta&entry=gamma")
    assert "Holm over 3 pairs" in page
    page = text_of(
        f"/compare/?board={board.slug}&entry=alpha&entry=beta&entry=gamma&adjust=benjamini_hochberg"
    )
    assert "Benjamini–Hochberg over 3 pairs" in page
    for query, told in (
        ("entry=alpha", "1 is chosen"),
        ("entry=alpha&entry=alpha", "1 is chosen"),
        ("entry=alpha&entry=nobody", "no entry “nobody”"),
        ("", ""),
    ):
        response = Client().get(f"/compare/?board={board.slug}&{query}")
        assert response.status_code == (422 if query else 200)
        assert told in response.content.decode()
    assert "Choose entries" in text_of("/compare/")


def test_items_of_a_comparison_link_to_tasks_and_records(judged: Board) -> None:
    board = judged
    page = text_of(f"/compare/?board={board.slug}&entry=alpha&entry=gamma")
    task = re.search(r'href="(/suites/rubrics/1/tasks/\d+/)"', page)
    record = re.search(r'href="(/records/\d+/)"', page)
    assert task is not None and record is not None
    assert text_of(record[1])
    shown = text_of(task[1])
    assert "Alpha" in shown and "Gamma" in shown


def test_several_are_compared_by_slice_and_two_by_who_is_higher(judged: Board) -> None:
    start = f"/compare/?board={judged.slug}&entry=alpha&entry=beta"
    page = text_of(f"{start}&entry=gamma")
    assert "Scores by slice" in page and "difficulty: easy" in page
    page = text_of(f"/compare/?board={judged.slug}&entry=alpha&entry=gamma&side=second")
    assert "28 items where they differ" in page
    assert "Only Alpha 28" in page and "Only Gamma 0" in page
    assert "/records/" not in page
    assert "/records/" in text_of(
        f"/compare/?board={judged.slug}&entry=alpha&entry=gamma&side=first&from=20"
    )
    pair = f"/compare/?board={judged.slug}&entry=alpha&entry=gamma"
    assert "1 to 20 of 28" in text_of(f"{pair}&from=20000")
    second = text_of(f"{pair}&side=first&from=20")
    assert "21 to 28 of 28" in second and "&amp;side=first&amp;from=0#items" in second


def test_what_compares_graded_scores_says_which_way_is_better(small_board: Board) -> None:
    pair = f"/compare/?board={small_board.slug}&entry=alpha&entry=beta"
    page = text_of(pair)
    assert "lower is better, on the items that both have, of 8." in page
    assert re.search(r"Alpha higher \d", page) and "Only Alpha" not in page
    three = text_of(f"{pair}&entry=gamma&adjust=benjamini_hochberg")
    assert "lower is better, on the items that the two of a pair have, of 8." in three
    swapped = re.search(r'href="([^"]*)">Swap<', three)
    assert swapped is not None and "adjust=benjamini_hochberg" in swapped[1]
    assert ">Holm instead<" in three
