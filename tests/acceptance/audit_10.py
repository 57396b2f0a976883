"""An audit of 10 %: what it draws from each run, whom it asks, and how right its estimate is."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.acceptance._reviewing import add_people, questions, queue_number, submit, take
from tests.acceptance.base import Browser, Product, require
from tests.acceptance.making import judged_run, rubric_suite

SUITE = "audited-10@1"
TASKS, SHORT = 400, 20
DRAWS, ITEMS = 200, 600
SHARE, MINIMUM = 0.1, 30
RATE, SENSITIVITY, SPECIFICITY = 0.55, 0.85, 0.8
SEED = 20_261_130
DRAWN = """
import json
from collections import Counter
from adjudication.models import ReviewItem
items = ReviewItem.objects.filter(queue__version__suite__slug='audited-10', record__isnull=False)
print(json.dumps([
    [i.record.run.entrant.name, i.record.task.external_id, i.chosen_because, i.probability]
    for i in items.select_related('record__run__entrant', 'record__task').order_by('pk')
]))
"""
SEATS = """
import json
from academy.models import Decision
from adjudication.models import ReviewItem, Seat
held = ReviewItem.objects.filter(queue__version__suite__slug='audited-10')
items = held.filter(seats__state='submitted')
print(json.dumps([
    [i.state, i.seats.count(), i.probability, Decision.objects.filter(
        record=i.record, source='person', probability=i.probability).count()]
    for i in items.distinct().order_by('pk')
]))
"""


def check(_arguments: Sequence[str], product: Product) -> str:
    """The product's draw, its second seats, and its two estimators on 200 simulated judges."""
    drawn(product)
    second_seats(product)
    audited, corrected = simulated()
    for name, found in (("judge-audited mean", audited), ("corrected rate", corrected)):
        require(
            abs(found["bias"]) <= 4 * found["error"],
            f"the {name} is off by {found['bias']:.4f} ± {found['error']:.4f}",
        )
        require(found["coverage"] >= 0.9, f"the {name} covers the truth {found['coverage']:.1%}")
    return (
        f"10 % of {TASKS} and 30 of {MINIMUM}+ drawn with their probabilities, a second seat where "
        f"a person differs; over {DRAWS} draws the audited mean is off by {audited['bias']:+.4f} "
        f"and covers {audited['coverage']:.1%}, the corrected rate by {corrected['bias']:+.4f} and "
        f"{corrected['coverage']:.1%}"
    )


def drawn(product: Product) -> None:
    """10 % of a long run and all of a short one are drawn, and say so."""
    product.import_suite(rubric_suite(TASKS), "--as", SUITE)
    met = list(range(0, TASKS, 2))
    long = judged_run(SUITE, "Long", range(TASKS), met, 621)
    short = judged_run(SUITE, "Short", range(SHORT), met, 622)
    for run in (long, short):
        product.import_run(run)
    product.settle()
    rows = told(product, DRAWN)
    by_run = {name: [row for row in rows if row[0] == name] for name in ("Long", "Short")}
    counts = {name: len(found) for name, found in by_run.items()}
    require(counts == {"Long": 40, "Short": SHORT}, f"the audit drew {counts}")
    for name, probability in (("Long", 40 / TASKS), ("Short", 1.0)):
        told_of = {(because, chance) for _run, _task, because, chance in by_run[name]}
        require(
            told_of == {("drawn for the audit", probability)},
            f"the items of {name} say {told_of} instead of {probability}",
        )
    product.manage("shell", "-v", "0", "-c", "from adjudication.assigning import fill_queue;"
                   "from academy.models import SuiteVersion as V;"
                   "fill_queue(V.objects.get(suite__slug='audited-10'))")  # fmt: skip
    require(told(product, DRAWN) == rows, "the same seed drew other records the second time")


def second_seats(product: Product) -> None:
    """Whoever agrees with the judge decides alone; who differs calls in a second person."""
    add_people(product, {"auditor-1": ["reviewer"], "auditor-2": ["reviewer"]})
    browser = product.browser("auditor-1")
    queue = queue_number(browser, "criteria", SUITE)
    answered = [answer(browser, take(browser, queue), is_met) for is_met in (True, False)]
    product.settle()
    found = told(product, SEATS)
    alone = [row for row in found if row[:2] == ["resolved", 1]]
    asked = [row for row in found if row[:2] == ["open", 2]]
    require(answered == ["yes", "no"], "the forms were not answered")
    require(
        len(found) == 2 and len(alone) + len(asked) == 2,
        f"after two verdicts the items are {found}",
    )
    for _state, seats, _chance, decisions in found:
        require(decisions == (1 if seats == 1 else 0), f"decisions: {found}")
    if asked:
        other = product.browser("auditor-2")
        answer(other, take(other, queue), is_met=True)


def answer(browser: Browser, seat: str, is_met: bool) -> str:
    """Answer the one question of a seat."""
    code = "yes" if is_met else "no"
    (field,) = questions(browser, seat)
    submit(browser, seat, {f"v-{field}": code, f"r-{field}": "as the screen shows"})
    return code


def told(product: Product, script: str) -> list[list[Any]]:
    """What a script prints."""
    found: list[list[Any]] = json.loads(product.manage("shell", "-v", "0", "-c", script))
    return found


def simulated() -> tuple[dict[str, float], dict[str, float]]:
    """Bias, its standard error, and coverage of both estimators over many judged runs.

    In each draw the items are new, so that the interval must cover the rate they come from.
    """
    from academy.correction import Calibration, corrected_rate
    from adjudication.sampling import draw
    from leaderboard.audit import judge_audited

    random = np.random.Generator(np.random.PCG64(SEED))
    results: dict[str, list[tuple[float, bool]]] = {"audited": [], "corrected": []}
    for number in range(DRAWS):
        truth = random.random(ITEMS) < RATE
        met = np.where(truth, SENSITIVITY, 1 - SPECIFICITY)
        judge = random.random(ITEMS) < met
        chosen, probability = draw(
            range(ITEMS), seed=f"audit-10/{number}", share=SHARE, minimum=MINIMUM
        )
        looked = set(chosen)
        person = [float(truth[item]) if item in looked else None for item in range(ITEMS)]
        audited = judge_audited(judge.astype(float), person, [probability] * ITEMS).score
        pairs = Calibration(
            judged=[bool(one) for one in judge],
            person=[bool(truth[item]) for item in chosen],
            judge=[bool(judge[item]) for item in chosen],
            inclusion=[probability] * len(chosen),
        )
        corrected = corrected_rate(pairs, f"{number:064d}", rounds=500)
        for name, found in (("audited", audited), ("corrected", corrected)):
            if found.point is not None and found.low is not None and found.high is not None:
                results[name].append((found.point, found.low <= RATE <= found.high))
    return _summed(results["audited"]), _summed(results["corrected"])


def _summed(found: list[tuple[float, bool]]) -> dict[str, float]:
    require(len(found) >= 0.95 * DRAWS, f"only {len(found)} of {DRAWS} draws gave an estimate")
    points = [point for point, _covers in found]
    return {
        "bias": statistics.fmean(points) - RATE,
        "error": statistics.stdev(points) / len(points) ** 0.5,
        "coverage": statistics.fmean(covers for _point, covers in found),
    }
