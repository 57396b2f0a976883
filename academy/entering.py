"""Which stored version a run names, which entrant enters it, and what is said of entrants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.text import slugify

from academy import auditing, tasks, work
from academy.bundle import EntrantSpec, RunSpec
from academy.errors import AcademyError
from academy.fitting import as_plain, fitting
from academy.models import (
    Entrant,
    EntrantAlias,
    Run,
    SuiteVersion,
)


def resolve_version(spec: RunSpec) -> SuiteVersion:
    """The stored version that a run names. Raises AcademyError when there is none or several."""
    named = spec.suite
    parts = {
        "suite__slug": slugify(named.slug),
        "name": named.version,
        "digest": named.digest,
    }
    said = {name: part for name, part in parts.items() if part}
    if named.plan and not said.keys() & {"suite__slug", "digest"}:
        said["plans__plan_hash"] = named.plan
    elif not said.keys() & {"suite__slug", "digest"}:
        raise AcademyError("The run names no suite; name the version it was run on.")
    found = SuiteVersion.objects.filter(**said).select_related("suite")
    if named.digest and not found.exists():
        # A suite may have a hash of its own, by which uploads of its format name it.
        del said["digest"]
        found = SuiteVersion.objects.filter(**said, attributes__suite_hash=named.digest)
    versions = list(found.order_by("pk")[:2])
    if len(versions) == 1:
        found_one: SuiteVersion = versions[0]
        return found_one
    name = f"{named.slug}@{named.version or '?'}" if named.slug else f"digest {named.digest[:12]}"
    if not named.slug and not named.digest:
        name = f"of plan {named.plan[:12]}"
    if not versions:
        raise AcademyError(
            f"The run names the suite {name}, which is not here. "
            "Import the suite first, or name the version it was run on."
        )
    raise AcademyError(f"The run names {name}, and there are several; name one version.")


def find_entrants(
    specs: Sequence[EntrantSpec], *, slug: str = "", is_example: bool = False
) -> list[Entrant]:
    """The entrants of some runs by slug, name or alias, in the order of the runs; those that lack
    are made.

    All are locked until the transaction ends, and in one order: uploads that name the same
    entrants must not wait for each other in a circle.
    """
    wanted = [slug or slugify(spec.name)[:100] for spec in specs]
    if not all(wanted):
        raise AcademyError("The run names no entrant; say which with --entrant SLUG.")
    names = [] if slug else [spec.name for spec in specs]
    named: dict[str, set[str]] = defaultdict(set)
    aliases = EntrantAlias.objects.filter(name__in=names)
    for name, holder in aliases.values_list("name", "entrant__slug"):
        named[name].add(holder)
    found = _locked({*wanted, *(holder for name in names for holder in named[name])})
    fresh: dict[str, EntrantSpec] = {}
    chosen = []
    for key, spec in zip(wanted, specs, strict=True):
        if key not in found and key not in fresh:
            other = None if slug else _by_alias(spec.name, named[spec.name])
            if other is None:
                fresh[key] = spec
                for name in (spec.name, *spec.aliases):
                    named[name].add(key)
            else:
                key = other
        chosen.append(key)
    if fresh:
        _make(fresh, is_example=is_example)
        found |= _locked(set(fresh))
    entrants = [found[key] for key in chosen]
    _learn_weights(entrants, specs)
    return entrants


def _learn_weights(entrants: Sequence[Entrant], specs: Sequence[EntrantSpec]) -> None:
    """Take from an upload what is not known of an entrant yet; what is known stays."""
    for entrant, spec in zip(entrants, specs, strict=True):
        if spec.weights and not entrant.weights:
            entrant.weights = spec.weights
            entrant.save(update_fields=["weights"])


def _locked(slugs: Iterable[str]) -> dict[str, Entrant]:
    rows = Entrant.objects.select_for_update(no_key=True).filter(slug__in=list(slugs))
    return {row.slug: row for row in rows.order_by("slug")}


def _by_alias(name: str, slugs: Iterable[str]) -> str | None:
    """The one entrant with that other name. Raises AcademyError when several have it."""
    known = sorted(slugs)
    if len(known) > 1:
        raise AcademyError(
            f"{name!r} is another name of several entrants: {', '.join(known[:6])}. "
            "Say which with --entrant SLUG."
        )
    return known[0] if known else None


def _make(fresh: Mapping[str, EntrantSpec], *, is_example: bool) -> None:
    """New entrants with their other names, by slug. One that another upload made first is the
    same entrant."""
    for slug in fresh:
        if slugify(slug) != slug:
            raise AcademyError(f"{slug!r} is no slug: lower-case letters, digits, - and _ only.")
    made = [
        Entrant(
            slug=slug,
            name=spec.name or slug,
            model=spec.model,
            developer=spec.developer,
            harness=spec.harness,
            weights=spec.weights,
            settings=as_plain(spec.settings),
            is_example=is_example,
        )
        for slug, spec in sorted(fresh.items())
    ]
    for row in made:
        fitting(row, "The entrant of the run")
    Entrant.objects.bulk_create(made, ignore_conflicts=True)
    ids = dict(Entrant.objects.filter(slug__in=list(fresh)).values_list("slug", "pk"))
    EntrantAlias.objects.bulk_create(
        [
            fitting(EntrantAlias(entrant_id=ids[slug], name=name), "An alias of the entrant")
            for slug, spec in sorted(fresh.items())
            for name in sorted({spec.name, *spec.aliases} - {""})
        ],
        ignore_conflicts=True,
    )


@work.owing()
def say_weights(entrants: Iterable[Entrant], weights: str, *, by: Any = None) -> int:
    """Say whether the weights of some models are open, closed or, with "", not known; gives how
    many entrants that changed. The boards they stand on owe a snapshot that says so."""
    if weights not in ("", *Entrant.Weights.values):
        raise AcademyError(f"Weights are {' or '.join(Entrant.Weights.values)}, not {weights!r}.")
    wanted = [entrant.pk for entrant in entrants]
    rows = (
        Entrant.objects.select_for_update(no_key=True)
        .filter(pk__in=wanted)
        .exclude(weights=weights)
    )
    changed = [entrant.pk for entrant in rows.order_by("pk")]
    Entrant.objects.filter(pk__in=changed).update(weights=weights)
    for pk in changed:
        auditing.note("entrant.weights", f"entrant:{pk}", by=by, weights=weights)
    versions = Run.objects.filter(entrant__in=changed).order_by("version_id")
    for version in versions.values_list("version_id", flat=True).distinct():
        work.version_changed(version)
    tasks.nudge()
    return len(changed)
