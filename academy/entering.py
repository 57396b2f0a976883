"""Which stored version a run names, and which entrant enters it."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from academy.bundle import EntrantSpec, RunSpec
from academy.errors import AcademyError
from academy.fitting import as_plain, fitting
from academy.models import (
    Entrant,
    EntrantAlias,
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


def entrant_by_alias(name: str) -> Entrant | None:
    """The one entrant with that other name. Raises AcademyError when several have it."""
    known = list(Entrant.objects.filter(aliases__name=name).order_by("slug").distinct()[:6])
    if len(known) > 1:
        named = ", ".join(entrant.slug for entrant in known)
        raise AcademyError(
            f"{name!r} is another name of several entrants: {named}. Say which with --entrant SLUG."
        )
    return known[0] if known else None


def find_entrant(spec: EntrantSpec, *, slug: str = "", is_example: bool = False) -> Entrant:
    """The entrant of a run by slug, name or alias; a new one is made when there is none."""
    wanted = slug or slugify(spec.name)[:100]
    if not wanted:
        raise AcademyError("The run names no entrant; say which with --entrant SLUG.")
    found = Entrant.objects.filter(slug=wanted).first()
    if found is None:
        found = None if slug else entrant_by_alias(spec.name)
    if found is not None:
        return found
    if slugify(wanted) != wanted:
        raise AcademyError(f"{wanted!r} is no slug: lower-case letters, digits, - and _ only.")
    made = Entrant(
        slug=wanted,
        name=spec.name or wanted,
        model=spec.model,
        developer=spec.developer,
        harness=spec.harness,
        settings=as_plain(spec.settings),
        is_example=is_example,
    )
    fitting(made, "The entrant of the run")
    try:
        with transaction.atomic():
            made.save()
    except IntegrityError:
        # Another upload of the same entrant was first; it is the same entrant.
        return Entrant.objects.get(slug=wanted)
    names = {spec.name, *spec.aliases} - {""}
    EntrantAlias.objects.bulk_create(
        [
            fitting(EntrantAlias(entrant=made, name=name), "An alias of the entrant")
            for name in sorted(names)
        ]
    )
    return made
