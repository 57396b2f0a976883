"""Drawings of tasks are shown as raster copies that a worker made, never as they came."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from academy import drawings, rasterising
from academy.models import Blob, SuiteVersion, TaskAsset, Work
from tests import factories as make

pytestmark = pytest.mark.django_db
HALL = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20">'
    b'<rect class="only-in-the-drawing" x="4" y="4" width="30" height="12"/></svg>'
)
HOSTILE = HALL.replace(b"</svg>", b'<image href="/etc/hostname"/></svg>')


def with_drawing(
    data: bytes = HALL, ref: str = "hall.svg", *, tasks: int = 1, **changes: Any
) -> dict[str, Any]:
    """A suite of some tasks that share this file as their drawing."""
    listed = []
    for place in range(tasks):
        task = make.takeoff_task(f"t-{place}", 100)
        version = {"id": changes.get("slug", "example"), "version": changes.get("version", "1.0")}
        drawing = {"assetRef": ref, "assetHash": hashlib.sha256(data).hexdigest()}
        planset = {**task["planset"], **drawing}
        listed.append({**task, "suite": version, "planset": planset})
    return {**make.takeoff_files(listed, **changes), ref: data}


def version_with(contents: dict[str, Any], *, publish: bool = True) -> SuiteVersion:
    return make.version_of(make.import_files(contents, publish=publish))


def page_of(version: SuiteVersion, client: Client) -> str:
    address = reverse("academy:version", args=[version.suite.slug, version.name])
    return client.get(address).content.decode()


def test_an_import_owes_one_copy_for_each_drawing_and_not_for_each_task() -> None:
    version_with(with_drawing(tasks=3))
    work = Work.objects.get(kind="raster")
    assert work.key == f"raster:{hashlib.sha256(HALL).hexdigest()}"


def test_a_worker_makes_the_copy_and_pages_show_it(client: Client) -> None:
    version = version_with(with_drawing(tasks=3))
    assert "The raster copy is not made yet." in page_of(version, client)
    make.score_all()
    assets = list(TaskAsset.objects.filter(task__version=version).order_by("pk"))
    assert len({asset.raster_id for asset in assets}) == 1
    assert assets[0].raster is not None
    assert assets[0].raster.media_type == "image/png"
    body = page_of(version, client)
    for asset in assets:
        assert f'src="/assets/{asset.pk}.png"' in body


def test_a_copy_is_served_as_a_picture_and_nothing_else(client: Client) -> None:
    version = version_with(with_drawing())
    make.score_all()
    asset = TaskAsset.objects.get(task__version=version)
    response = client.get(reverse("academy:asset", args=[asset.pk]))
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("sandbox")
    assert drawings.kind_of(response.content) == drawings.PNG
    assert client.post(reverse("academy:asset", args=[asset.pk])).status_code == 405


def test_a_record_shows_the_drawing_of_its_task(client: Client) -> None:
    version = version_with(with_drawing())
    run = make.takeoff_run(version)
    make.score_all()
    asset = TaskAsset.objects.get(task__version=version)
    record = run.records.get()
    body = client.get(reverse("academy:record", args=[record.pk])).content.decode()
    assert f'src="/assets/{asset.pk}.png"' in body


def test_nothing_is_served_before_the_copy_is_made(client: Client) -> None:
    version = version_with(with_drawing())
    asset = TaskAsset.objects.get(task__version=version)
    assert client.get(reverse("academy:asset", args=[asset.pk])).status_code == 404


def test_copies_of_drafts_and_of_holdout_tasks_are_for_curators(client: Client) -> None:
    draft = version_with(with_drawing(), publish=False)
    make.score_all()
    asset = TaskAsset.objects.get(task__version=draft)
    address = reverse("academy:asset", args=[asset.pk])
    assert client.get(address).status_code == 404
    client.force_login(make.person("curator", "curator"))
    assert client.get(address).status_code == 200
    draft.tasks.update(holdout=True)
    assert client.get(address).status_code == 200
    client.force_login(make.person("auditor", "auditor"))
    assert client.get(address).status_code == 404


def test_the_same_drawing_in_another_version_is_not_drawn_again() -> None:
    version_with(with_drawing())
    make.score_all()
    done = Work.objects.get(kind="raster").finished_at
    other = version_with(with_drawing(version="2.0"))
    assert TaskAsset.objects.get(task__version=other).raster is not None
    make.score_all()
    assert Work.objects.get(kind="raster").finished_at == done


def test_a_hostile_drawing_gets_no_copy_and_the_reason_is_told(client: Client) -> None:
    version = version_with(with_drawing(HOSTILE))
    make.score_all()
    work = Work.objects.get(kind="raster")
    assert (work.state, work.attempts) == (Work.State.FAILED, 1)
    assert TaskAsset.objects.get(task__version=version).raster is None
    body = page_of(version, client)
    assert "No raster copy: its image draws from outside the file" in body
    assert "/assets/" not in body


def test_a_file_that_is_not_drawn_says_so(client: Client) -> None:
    version = version_with(with_drawing(b"%PDF-1.7 example", "hall.pdf"))
    assert not Work.objects.filter(kind="raster").exists()
    body = page_of(version, client)
    assert "only SVG, PNG and JPEG files are drawn" in body
    assert Blob.objects.filter(size=len(b"%PDF-1.7 example")).exists()


def test_a_picture_under_the_name_of_another_kind_is_judged_by_its_bytes() -> None:
    version = version_with(with_drawing(b"<html><script>alert(1)</script></html>", "hall.png"))
    make.score_all()
    (row,) = rasterising.shown(TaskAsset.objects.filter(task__version=version))
    assert row.note == "No raster copy: it is no SVG, PNG or JPEG file."


def test_a_file_that_did_not_come_along_says_so(client: Client) -> None:
    contents = with_drawing()
    del contents["hall.svg"]
    assert "did not come along" in page_of(version_with(contents), client)


def test_no_page_serves_a_drawing_as_it_came(client: Client) -> None:
    version = version_with(with_drawing())
    make.score_all()
    body = page_of(version, client)
    assert "only-in-the-drawing" not in body


def test_the_number_of_queries_does_not_grow_with_the_tasks(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    small = version_with(with_drawing(tasks=2, slug="small"))
    large = version_with(with_drawing(tasks=8, slug="large"))
    make.score_all()
    with django_assert_max_num_queries(60) as counted:
        page_of(small, client)
    with django_assert_max_num_queries(len(counted)):
        page_of(large, client)
