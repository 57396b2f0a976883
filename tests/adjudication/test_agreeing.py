"""How far people agree on a version, on its page."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from adjudication import agreeing
from tests.adjudication import builders as build
from tests.adjudication.reviews import quiet_queue, reviewed, said

pytestmark = pytest.mark.django_db
PART = Template("{% load agreements %}{% agreement_on_version version user %}")


def test_where_not_all_decisions_are_counted_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = quiet_queue()
    anna, bert = build.reviewer("anna"), build.reviewer("bert")
    reviewed(queue, [{anna: {"R1": said(True)}, bert: {"R1": said(True)}}] * 3)
    curator = build.person("cora", "curator")
    page = Context({"version": queue.version, "user": curator})
    assert "are counted" not in PART.render(page)
    monkeypatch.setattr(agreeing, "MOST_DECISIONS", 4)
    assert "more than 4 decisions of people: the first 4 are counted" in PART.render(page)
    found = agreeing.agreements_on_version(queue.version, curator)
    assert [one.n for one in found.by_scale] == [2]
