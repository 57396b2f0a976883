"""Pictures of a transcript are shown as copies, and only as those."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from academy import drawings
from academy.models import InstanceRecord, RecordPicture, Work
from tests import factories as make
from tests.academy import transcript_examples as example
from tests.academy.transcript_reading import steps

pytestmark = pytest.mark.django_db


def test_pictures_are_shown_as_copies_of_the_worker_and_never_as_they_came(client: Client) -> None:
    picture = example.data_address(example.png())
    record = example.record_with(
        {
            "kind": "observation",
            "images": [picture, "https://pictures.test/x.png", "shots/gone.png"],
        }
    )
    waiting = steps(client, record)
    assert "The raster copy is being made." in waiting
    assert "It lies elsewhere and is never loaded." in waiting
    assert "The file did not come along with the run." in waiting
    assert picture not in waiting
    assert Work.objects.filter(kind="picture").count() == 1
    steps(client, record)
    assert Work.objects.filter(kind="picture").count() == 1
    make.score_all()
    body = steps(client, record)
    address = re.search(r'<img src="([^"]+)"', body)
    assert address and address[1].startswith(f"/records/{record.pk}/pictures/")
    response = client.get(address[1])
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("sandbox")
    assert drawings.kind_of(response.content) == drawings.PNG
    assert response.content != example.png()


def test_a_picture_that_cannot_be_copied_says_why(client: Client) -> None:
    record = example.record_with(
        {"kind": "observation", "images": [example.data_address(b"GIF89a....", "image/gif")]}
    )
    steps(client, record)
    make.score_all()
    assert "No raster copy: it is no SVG, PNG or JPEG file." in steps(client, record)
    assert not RecordPicture.objects.exists()


def test_a_picture_is_shown_of_its_own_record_only(client: Client) -> None:
    picture = example.data_address(example.png())
    first = example.record_with({"kind": "observation", "images": [picture]})
    second = example.record_with({"kind": "message", "text": "none"})
    steps(client, first)
    make.score_all()
    copy = RecordPicture.objects.get()
    own = reverse("academy:record-picture", args=[first.pk, copy.digest])
    assert client.get(own).status_code == 200
    other = reverse("academy:record-picture", args=[second.pk, copy.digest])
    assert client.get(other).status_code == 404


def test_a_picture_among_the_files_of_a_run_is_found_by_its_path(client: Client) -> None:
    version = make.takeoff_version(1, slug="shots")
    line = make.execution(
        "t-0",
        events=[{"kind": "observation", "images": ["shots/one.png"]}],
        artifacts=[{"path": "shots/one.png", "sha256": make.sha256(example.png())}],
    )
    files = {**make.line_run(line, suite="shots@1.0"), "shots/one.png": example.png()}
    run = make.run_of(make.record_files(files, version))
    record = InstanceRecord.objects.get(run=run)
    steps(client, record)
    make.score_all()
    assert "<img src=" in steps(client, record)
