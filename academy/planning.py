"""Documents that come after their suite, and the plans among them, are kept with its version."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping, Sequence

from academy import blobs, registry, specs
from academy.bundle import BindingSpec, FileReport, PlanSpec, SuiteSpec, SuiteUpload
from academy.fitting import fitting
from academy.formats.reading import Files
from academy.models import Binding, Plan, SuiteFile, SuiteVersion


def keep_companions(
    version: SuiteVersion, spec: SuiteSpec, upload: SuiteUpload, files: Files
) -> list[str]:
    """Keep what an upload brings of a known version beside its tasks; gives the paths taken.

    What is kept already changes nothing. Raises AcademyError for a document that would replace
    one of the same path.
    """
    fmt = registry.format_of(spec.format)
    if fmt.add_companions is None:
        return []
    known = set(version.files.values_list("blob_id", flat=True))
    fresh = {
        path: data
        for path in spec.sources
        if hashlib.sha256(data := files[path]).hexdigest() not in known
    }
    if not fresh:
        return []
    before = specs.suite_spec(version)
    after = fmt.add_companions(before, fresh)
    taken = [path for path in after.sources if path not in before.sources]
    told: Mapping[str, FileReport] = {report.path: report for report in upload.files}
    for path in taken:
        media_type = mimetypes.guess_type(path)[0] or ""
        row = SuiteFile(
            version=version,
            path=path,
            status=specs.ADDED,
            reason=told[path].reason if path in told else "",
            blob=blobs.store_blob(fresh[path], media_type=media_type),
        )
        fitting(row, path).save()
    if taken:
        store_plans(version, after)
    return taken


def store_plans(version: SuiteVersion, spec: SuiteSpec) -> None:
    """Keep the plans of a suite with what vouches for them; what is kept stays as it is."""
    for plan in registry.format_of(spec.format).plans(spec):
        row = plan_row(version, plan)
        kept, _made = Plan.objects.get_or_create(
            version=version,
            plan_hash=plan.plan_hash,
            defaults={
                field.attname: getattr(row, field.attname)
                for field in Plan._meta.concrete_fields
                if field.attname not in ("id", "version_id", "plan_hash", "created_at")
            },
        )
        store_bindings(kept, plan.bindings)


def plan_row(version: SuiteVersion, plan: PlanSpec) -> Plan:
    """A plan as a row that is not stored yet. Raises AcademyError for what does not fit."""
    row = Plan(
        version=version,
        name=plan.name,
        plan_hash=plan.plan_hash,
        suite_hash=plan.suite_hash,
        protocol_hash=plan.protocol_hash,
        source_revision=plan.source_revision,
        configuration_hash=plan.configuration_hash,
        seed=plan.seed,
        strategy=plan.strategy,
        sample=plan.sample,
        population=plan.population,
        is_pilot=plan.is_pilot,
        content=plan.content,
    )
    return fitting(row, f"plan {plan.name[:100]!r}")


def store_bindings(plan: Plan, bindings: Sequence[BindingSpec]) -> None:
    """Keep what vouches for a plan."""
    for binding in bindings:
        Binding.objects.get_or_create(
            plan=plan,
            verification_run=binding.verification_run,
            defaults={"hashes": dict(binding.hashes), "content": binding.content},
        )
