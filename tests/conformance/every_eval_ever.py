"""Every Eval Ever: verdicts on documents and file sets, sample hashes, paths, duplicate digests."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from academy.errors import AcademyError
from academy.formats.every_eval_ever.hashing import RECIPES, duplicate_digest
from academy.formats.every_eval_ever.judging import SchemaFault, judge, judge_text
from academy.formats.every_eval_ever.paths import (
    guess_developer,
    guess_model_id,
    path_components,
)
from academy.formats.every_eval_ever.reference import (
    judge_aggregate_alone,
    judge_file,
    judge_row,
)
from academy.formats.every_eval_ever.reference_values import Finding
from tests.conformance.base import Check, Context

NOT_CASES = {"about", "sample_hash_recipes"}
SCHEMAS = {"instance": "instance-trajectory", "aggregate": "aggregate-0.3.0"}
Differ = Callable[[Mapping[str, Any], str], str | None]


def text_of(case: Mapping[str, Any]) -> str:
    """The exact text of a case's document."""
    raw = case.get("raw")
    return raw if raw is not None else json.dumps(case["document"])


def told(name: str, ours: object, theirs: object) -> str | None:
    """What differs, or None."""
    return None if ours == theirs else f"{name}: {ours!r}, expected {theirs!r}"


def first(*differences: str | None) -> str | None:
    """The first difference there is."""
    return next((text for text in differences if text), None)


def places(faults: Iterable[SchemaFault]) -> Counter[tuple[str, str]]:
    """Faults by place and keyword."""
    return Counter((fault.pointer, fault.keyword) for fault in faults)


def differ_by_schema(case: Mapping[str, Any], schema: str, valid: str, errors: str) -> str | None:
    """The verdict of one schema and the place and keyword of each of its errors."""
    if case.get("raw") is None:
        faults: tuple[SchemaFault, ...] | None = judge(case["document"], schema)
    else:
        faults = judge_text(case["raw"], schema)
    if faults is None:
        return told(valid, False, case[valid])
    verdict = told(valid, not faults, case[valid])
    if errors not in case:
        return verdict
    expected = Counter((error["pointer"], error["keyword"]) for error in case[errors])
    return first(verdict, told(errors, dict(places(faults)), dict(expected)))


def differ_by_place(ours: Iterable[Finding], theirs: Iterable[Mapping[str, str]]) -> str | None:
    """Findings by kind, and by place where the oracle tells one and we name one.

    Some places of the oracle are cut to an empty text, others are the lead of a sentence.
    """
    left = [(finding.loc, finding.type) for finding in ours]
    for error in theirs:
        place, kind = error["loc"], error["type"]
        match = next(
            (
                found
                for found in left
                if found[1] == kind and (found[0] == place or not found[0] or not place)
            ),
            None,
        )
        if match is None:
            return f"no {kind} at {place!r}; left are {left}"
        left.remove(match)
    return f"{left} not expected" if left else None


def check_instance(case: Mapping[str, Any]) -> str | None:
    """A row by three judges."""
    errors, _value = judge_row(text_of(case))
    return first(
        differ_by_schema(case, SCHEMAS["instance"], "valid_by_schema", "schema_errors"),
        differ_by_schema(
            case, "instance-0.3.0", "valid_by_repo_schema_0_3_0", "repo_schema_errors"
        ),
        told("reference", not errors, case["valid_by_reference_validator"]),
        differ_by_place(errors, case["reference_errors"]),
    )


def check_aggregate(case: Mapping[str, Any]) -> str | None:
    """An aggregate by schema, by models, and at its place."""
    text = text_of(case).encode("utf-8", "surrogatepass")
    files = {case["repo_path"]: text}
    beside = case.get("companion_samples")
    if beside:
        files[beside["path"]] = beside["text"].encode()
    alone, _value = judge_aggregate_alone(text)
    verdict = judge_file(case["repo_path"], files)
    return first(
        differ_by_schema(case, SCHEMAS["aggregate"], "valid_by_schema", "schema_errors"),
        told("models", not alone, case["valid_by_reference_models_only"]),
        told("reference", verdict.accepted, case["valid_by_reference_validator"]),
        differ_by_place(verdict.errors, case["reference_errors"]),
    )


def check_fileset(case: Mapping[str, Any]) -> str | None:
    """One file among others."""
    files = {path: text.encode() for path, text in case["files"].items()}
    verdict = judge_file(case["target"], files)
    return first(
        told("reference", verdict.accepted, case["valid_by_reference_validator"]),
        differ_by_place(verdict.errors, case["reference_errors"]),
        differ_by_place(verdict.warnings, case.get("reference_warnings") or []),
    )


KINDS = {"instance": check_instance, "aggregate": check_aggregate, "fileset": check_fileset}


def check_case(case: Mapping[str, Any], _context: Context) -> str | None:
    """A document or a set of files."""
    return KINDS[case["kind"]](case)


def check_hashes(case: Mapping[str, Any], _context: Context) -> str | None:
    """The four recipes on one input."""
    ours = {name: RECIPES[name](case["raw"], case["reference"]) for name in case["hashes"]}
    return told("hashes", ours, case["hashes"])


def check_components(case: Mapping[str, Any], _context: Context) -> str | None:
    """The folders that an identity asks for, or that it is refused."""
    try:
        ours = list(path_components(case["collection"], case["model_id"], case["developer"]))
    except AcademyError:
        return None if case.get("error") else f"refused, expected {case.get('components')}"
    return told("components", ours, case.get("components"))


def check_developer(case: Mapping[str, Any], _context: Context) -> str | None:
    """The developer and the id that the converters give a name."""
    name = case["model_name"]
    return first(
        told("developer", guess_developer(name), case["developer"]),
        told("model id", guess_model_id(name), case["model_id"]),
    )


def vary(base: Mapping[str, Any], variant: str) -> dict[str, Any]:
    """The document that the name of a variant speaks of."""
    document = copy.deepcopy(dict(base))
    result = document["evaluation_results"][0]
    word, _, rest = variant.partition(" ")
    if variant == "result duplicated":
        document["evaluation_results"].append(copy.deepcopy(result))
    elif variant == "reordered keys":
        document = dict(reversed(list(document.items())))
    elif variant == "score 1 vs 1.0 int":
        result["metric_config"]["max_score"] = 1
    elif word == "other":
        document[rest] = "1"
    elif word == "score":
        result["score_details"]["score"] = json.loads(rest)
    elif variant != "base":
        raise ValueError(f"the variant {variant!r} says nothing of what it changes")
    return document


def check_duplicates(case: Mapping[str, Any], context: Context) -> str | None:
    """The digest of the base document, and of every variant of it."""
    told_by = context.oracle["duplicate_normalized_hash"]
    base = told_by["base_document"]
    digest = duplicate_digest(base)
    if case["id"] == "base_document":
        expected = {v["hash"] for v in told_by["variants"] if v["variant"] == "base"}
        return told("base", {digest}, expected)
    return first(*(differ_by_variant(base, digest, variant) for variant in case["case"]))


def differ_by_variant(
    base: Mapping[str, Any], digest: str, variant: Mapping[str, Any]
) -> str | None:
    """One variant's digest, where its exact value is told by its name, and whether it is a copy."""
    ours = duplicate_digest(vary(base, variant["variant"]))
    return first(
        told(variant["variant"], ours, variant["hash"]),
        told(f"{variant['variant']} same", ours == digest, variant["same_as_base"]),
    )


CHECKS: dict[str, Check] = {
    "cases": check_case,
    "sample_hash": check_hashes,
    "datastore_path_components": check_components,
    "developer": check_developer,
    "duplicate_normalized_hash": check_duplicates,
}
