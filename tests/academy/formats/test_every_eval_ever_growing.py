"""A second upload brings a further metric to a collection that is already public."""

from __future__ import annotations

import pytest

from academy.formats.reading import Files
from academy.models import Score, SuiteVersion
from tests import factories as make
from tests.academy.formats import every_eval_ever_making as made


@pytest.mark.django_db
def test_a_collection_takes_a_further_metric_of_another_model() -> None:
    one = made.lines(made.row("q1"), made.row("q2", 0.0))
    make.record_files(made.pair([made.result()], one))
    other = made.lines(
        *(
            made.row(sample, score, metric=metric, model_id="example-org/other-model")
            for sample in ("q1", "q2")
            for metric, score in (("accuracy", 1.0), ("speed", 0.25))
        )
    )
    model = {
        "model_info": {
            **made.aggregate()["model_info"],
            "name": "Other Model",
            "id": "example-org/other-model",
        }
    }
    sent = dict(made.pair([made.result(), made.result("speed")], other, **model))
    report = make.record_files(Files.of({str(path): data for path, data in sent.items()}))
    assert [run.new_records for run in report.runs] == [2]
    make.score_all()
    version = SuiteVersion.objects.get(suite__slug="ports")
    assert version.tasks.count() == 2
    assert set(version.metrics.values_list("key", flat=True)) == {"accuracy", "speed"}
    scores = Score.objects.filter(
        record__run=report.runs[0].run, mode="strict", current=True
    ).values_list("metric__key", "status", "value")
    assert sorted(scores) == [
        ("accuracy", "scored", 1.0),
        ("accuracy", "scored", 1.0),
        ("speed", "scored", 0.25),
        ("speed", "scored", 0.25),
    ]
