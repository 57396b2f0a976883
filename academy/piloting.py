"""Pilots: what makes a study one, and how it says so wherever a number of it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count

from academy.models import Plan, SuiteVersion, Task


def pilot_facts(version: SuiteVersion) -> dict[str, Any] | None:
    """What a pilot must carry wherever it is shown; None for what is no pilot."""
    return facts_of_pilots([version]).get(version.pk)


def facts_of_pilots(versions: Iterable[SuiteVersion]) -> dict[int, dict[str, Any]]:
    """What the pilots among some versions must carry, by the key of the version.

    One query where none is a pilot, two where some are, whatever their number.
    """
    listed = {version.pk: version for version in versions}
    plans: dict[int, Plan] = {}
    if listed:
        # The first plan of a version speaks for it, so it is written last.
        for plan in Plan.objects.filter(version__in=listed, is_pilot=True).order_by("-pk"):
            plans[plan.version_id] = plan
    pilots = [
        version
        for version in listed.values()
        if version.pk in plans or version.attributes.get("is_pilot")
    ]
    if not pilots:
        return {}
    counts = dict(
        Task.objects.filter(version__in=pilots)
        .values_list("version")
        .annotate(tasks=Count("pk"))
        .order_by("version")
    )
    return {
        version.pk: _facts(version, plans.get(version.pk), counts.get(version.pk, 0))
        for version in pilots
    }


def _facts(version: SuiteVersion, plan: Plan | None, tasks: int) -> dict[str, Any]:
    attributes = version.attributes
    held = plan.content if plan is not None and isinstance(plan.content, dict) else {}
    drawn = held.get("sampling")
    sampling: dict[str, Any] = drawn if isinstance(drawn, dict) else {}
    population = attributes.get("population") or held.get("population")
    return {
        "name": plan.name if plan is not None else version.title,
        "population": (
            ", ".join(str(part) for part in population)
            if isinstance(population, list)
            else population or (plan.population if plan is not None else None)
        ),
        "tasks": tasks,
        "replicates": attributes.get("replicates_per_task") or attributes.get("replicates"),
        "strategy": sampling.get("strategy") or (plan.strategy if plan is not None else ""),
        "sample": sampling.get("sampleSize") or (plan.sample if plan is not None else None),
    }


def pilot_sentence(facts: Mapping[str, Any] | None) -> str:
    """What a pilot must carry, as one line of text for files; "" for what is no pilot."""
    return f"A pilot, not the full study: {described(facts)}." if facts else ""


def described(facts: Mapping[str, Any]) -> str:
    """Tasks, replicates, sample and population of a pilot, as a part of a sentence."""
    told = [counted(facts["tasks"], "task")]
    if facts["replicates"]:
        told.append(f"{counted(facts['replicates'], 'replicate')} each")
    if facts["sample"]:
        words = str(facts["strategy"]).replace("_", " ").replace("-", " ")
        strategy = f" ({words})" if facts["strategy"] else ""
        told.append(f"a sample of {facts['sample']} executions{strategy}")
    population = f"; population: {facts['population']}" if facts["population"] else ""
    return ", ".join(told) + population


def counted(number: Any, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def sentence_on(version: SuiteVersion) -> str:
    """What a version must say of itself in files; "" for what is no pilot."""
    return pilot_sentence(pilot_facts(version))


def sentence_on_all(versions: Iterable[SuiteVersion]) -> str:
    """The same of several versions in one file, each named; "" where none is a pilot."""
    return " ".join(
        f"{row['name']} is a pilot, not the full study: {row['told']}."
        for row in named_pilots(versions)
    )


def named_pilots(versions: Iterable[SuiteVersion]) -> list[dict[str, Any]]:
    """The pilots among some versions for a list of what is of them: name and facts, each once."""
    facts = facts_of_pilots(versions)
    named = SuiteVersion.objects.filter(pk__in=facts).select_related("suite").order_by("pk")
    return [
        {"name": str(version), "told": described(facts[version.pk])}
        for version in (named if facts else ())
    ]
