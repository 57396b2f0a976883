"""Boards that the tests of a module share: made once, and as new for each test.

What a test changes is rolled back at its end, inside the transaction that holds the boards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction

from leaderboard.models import Board
from tests.leaderboard.boarding import filled_board, judged_board


@contextmanager
def kept(blocker: Any, make: Callable[[], Board]) -> Iterator[int]:
    """The key of a board that stands until the block ends."""
    with blocker.unblock(), transaction.atomic():
        yield make().pk
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def small_key(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    with kept(django_db_blocker, lambda: filled_board(tasks=8)) as key:
        yield key


@pytest.fixture(scope="module")
def wide_key(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    with kept(django_db_blocker, lambda: filled_board("wide")) as key:
        yield key


@pytest.fixture(scope="module")
def judged_key(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    with kept(django_db_blocker, judged_board) as key:
        yield key


@pytest.fixture
def small_board(small_key: int, db: None) -> Board:
    """Areas of eight tasks, less is better: Alpha and Beta before Gamma."""
    return Board.objects.get(pk=small_key)


@pytest.fixture
def wide_board(wide_key: int, db: None) -> Board:
    """The same over twenty tasks."""
    return Board.objects.get(pk=wide_key)


@pytest.fixture
def judged(judged_key: int, db: None) -> Board:
    """Forty tasks that one judge decided, more is better: Alpha, Beta, Gamma."""
    return Board.objects.get(pk=judged_key)
