"""Every case list of the OpenTakeoff oracle, run against the product."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from academy.bundle import SuiteSpec
from academy.canonical import ecmascript_json, sha256_hex
from academy.formats.opentakeoff import agreement, bootstrap, certificates, keys
from academy.formats.opentakeoff.board import place, row_of
from academy.formats.opentakeoff.checking import schema_errors
from academy.formats.opentakeoff.integrity import bundle_hash, certificate_hash, verify_bundle
from academy.formats.opentakeoff.manifests import suite_config, thresholds_of
from academy.formats.opentakeoff.ratelimit import allowed_of
from academy.formats.opentakeoff.report import gate, score_report, suite_from
from academy.formats.reading import Files
from academy.scorers.ecmascript import plain_mean
from tests.conformance.base import Check, Context

NOT_CASES = {"about"}


def compare(found: Any, expected: Any, where: str = "") -> str | None:
    """The first difference between two JSON values; numbers are compared exactly."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        if set(found) != set(expected):
            return f"{where}: fields {sorted(found)} instead of {sorted(expected)}"
        pairs = [(f"{where}/{key}", found[key], expected[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(found, list | tuple):
        if len(found) != len(expected):
            return f"{where}: {len(found)} items instead of {len(expected)}"
        pairs = [
            (f"{where}/{place}", *both)
            for place, both in enumerate(zip(found, expected, strict=True))
        ]
    else:
        same = found == expected and isinstance(found, bool) == isinstance(expected, bool)
        return None if same else f"{where}: {found!r} instead of {expected!r}"
    return next((why for place, one, two in pairs if (why := compare(one, two, place))), None)


def patched(document: Any, patch: list[list[Any]], rehash: Callable[[Any], None]) -> Any:
    """A document after the steps of a case."""
    for step in patch:
        if step[0] == "rehash":
            rehash(document)
            continue
        parts = [part.replace("~1", "/").replace("~0", "~") for part in step[1].split("/")[1:]]
        target = document
        for part in parts[:-1]:
            target = target[int(part)] if isinstance(target, list) else target[part]
        last: Any = int(parts[-1]) if isinstance(target, list) else parts[-1]
        if step[0] == "remove":
            del target[last]
        elif isinstance(target, list) and last == len(target):
            target.append(step[2])
        else:
            target[last] = step[2]
    return document


def rehash_bundle(bundle: Any) -> None:
    """Store the hash that the bundle has now."""
    bundle["integrity"]["bundleHash"] = bundle_hash(bundle)


def rehash_certificate(certificate: Any) -> None:
    """Store the hash that the certificate has now."""
    certificate["integrity"]["certHash"] = certificate_hash(certificate)


def load(context: Context, reference: str) -> Any:
    """A document of the data folder, or the value at a pointer in it."""
    path, _, pointer = reference.partition("#")
    if not path.endswith(".json"):
        return context.read(path).decode()
    value = json.loads(context.read(path))
    for part in pointer.split("/")[1:]:
        value = value[part]
    return value


def check_scoring(case: Any, context: Context) -> str | None:
    """The report of a bundle over task documents, to the digit."""
    tasks = case.get("tasks") or [load(context, path) for path in case["taskFiles"]]
    bundle = case.get("bundle") or load(context, case["bundleFile"])
    report: Any = score_report(bundle, suite_from(tasks), case["opts"])
    suite = dict(report["suite"])
    for name in ("metric", "efficiency"):
        suite.pop(name)
    if suite["ci"]:
        suite["ci"] = {name: suite["ci"][name] for name in ("point", "lower", "upper")}
    rows = report["perTask"]
    for row in rows:
        row |= row.pop("detail")
    found = {name: report[name] for name in ("integrity", "competency", "metric", "flags")}
    difference = compare({**found, "perTask": rows, "suite": suite}, case["expected"])
    return difference or check_validity(case, tasks, bundle)


def check_validity(case: Any, tasks: Any, bundle: Any) -> str | None:
    """Whether bundle and tasks keep to their schemas as the case says."""
    if "schemaValid" not in case:
        return None
    found = [not schema_errors("run-bundle", bundle)]
    found += [not schema_errors("task", task) for task in tasks]
    return compare(found, [case["schemaValid"], *case["tasksSchemaValid"]], "/valid")


def interval(found: bootstrap.Interval | None, *, counts: bool = False) -> Any:
    """An interval in the oracle's form."""
    if found is None:
        return None
    made = {"point": found.point, "lower": found.lower, "upper": found.upper}
    return {**made, "nItems": found.items, "nClusters": found.clusters} if counts else made


def difference_of(case: Any) -> Any:
    """A paired difference in the oracle's form."""
    a, b = ({str(key): value for key, value in case[name]} for name in ("a", "b"))
    found = bootstrap.paired_difference(a, b)
    return found and {
        "nPaired": found.paired,
        "meanDiff": found.mean,
        "lower": found.lower,
        "upper": found.upper,
        "level": bootstrap.LEVEL,
        "distinguishable": found.distinguishable,
    }


def statistic(case: Any) -> bootstrap.Statistic:
    """The statistic that a case names."""
    return plain_mean if "mean" in case["what"] else bootstrap.median


def wilson_of(case: Any) -> Any:
    """A Wilson interval in the oracle's form."""
    share, lower, upper = bootstrap.wilson(case["successes"], case["total"])
    return {"p": share, "lower": lower, "upper": upper, "n": case["total"]}


STATISTICS: Mapping[str, Callable[[Any], Any]] = {
    "percentile bootstrap": lambda case: interval(
        bootstrap.item_bootstrap(case["values"], statistic(case))
    ),
    "cluster bootstrap": lambda case: interval(
        bootstrap.cluster_bootstrap([tuple(item) for item in case["items"]], statistic(case)),
        counts=True,
    ),
    "Wilson": wilson_of,
    "pass-hat-k": lambda case: [
        {"k": place, "value": value}
        for place, value in enumerate(
            bootstrap.pass_hat_k(case["successes"], case["trials"]), start=1
        )
    ],
    "paired difference": difference_of,
    "quantile": lambda case: bootstrap.quantile(case["values"], case["q"]),
}


def check_stats(case: Any, _context: Context) -> str | None:
    """Generator, seeds, intervals and quantiles, to the digit."""
    if case["what"] == "generator":
        return compare(list(islice(bootstrap.generator(case["seed"]), 5)), case["first5"])
    if case["what"] == "seed from data":
        return compare(bootstrap.seed_of(case["values"]), case["seed"])
    for name, compute in STATISTICS.items():
        if case["what"].startswith(name):
            return compare(compute(case), case["expected"])
    return f"nothing computes {case['what']!r}"


def ceiling(case: Any) -> Any:
    """The agreement of people in the oracle's form."""
    found = agreement.ceiling_of(case["perQuantity"])
    return found and {
        "nRaters": found.raters,
        "raterNames": list(found.names),
        "nItems": found.items,
        "interEstimatorApeMedian": found.median_error,
        "interEstimatorApeMean": found.mean_error,
        "krippendorffAlpha": found.alpha,
        "icc": found.icc,
    }


AGREEMENTS: Mapping[str, Callable[[Any], Any]] = {
    "Krippendorff": lambda case: agreement.krippendorff_alpha(case["units"]),
    "ICC": lambda case: agreement.icc_agreement(case["matrix"]),
    "consensus": lambda case: keys.consensus(case["values"]),
    "human ceiling": ceiling,
}


def check_agreement(case: Any, _context: Context) -> str | None:
    """Figures of agreement, to the digit."""
    for name, compute in AGREEMENTS.items():
        if case["what"].startswith(name):
            return compare(compute(case), case["expected"])
    return f"nothing computes {case['what']!r}"


def check_keys(case: Any, _context: Context) -> str | None:
    """What a held-out key file turns into."""
    return compare(keys.truth_of(case["key"]), case["expected"])


def check_canonical(case: Any, _context: Context) -> str | None:
    """Canonical text and hash. The original takes double keys, so the text is read leniently."""
    text = ecmascript_json(json.loads(case["jsonText"]))
    if "canonical" in case and text.decode() != case["canonical"]:
        return f"{text.decode()} instead of {case['canonical']}"
    return compare(sha256_hex(text), case["sha256"])


def check_integrity(case: Any, context: Context) -> str | None:
    """Hash and entrant signature of a patched bundle."""
    bundle = patched(load(context, case["file"]), case["patch"], rehash_bundle)
    found = verify_bundle(bundle)
    made = {
        "ok": found.ok,
        "hashMatch": found.hash_match,
        "signatureValid": found.signature_valid,
        "reason": found.reason,
        "expectedHash": found.expected_hash,
    }
    return compare(made, case["expected"])


def check_schema(case: Any, context: Context) -> str | None:
    """Validity and the places of the errors, by our own schemas."""
    rehash = rehash_bundle if "bundle" in case["schema"] else rehash_certificate
    document = patched(load(context, case["file"]), case["patch"], rehash)
    name = PurePosixPath(case["schema"]).name.removesuffix(".schema.json")
    rows = schema_errors(name, document)
    if bool(rows) is case["expectedValid"]:
        return f"{len(rows)} errors: {[row.message for row in rows]}"
    return compare(sorted({row.pointer for row in rows}), sorted(set(case["errorPaths"])))


def bundle_named(name: str, context: Context) -> Any:
    """A bundle by its path, or by the id of a case that patches one."""
    for listed in ("schema", "integrity"):
        for case in context.oracle.get(listed, ()):
            if case["id"] == name:
                return patched(load(context, case["file"]), case["patch"], rehash_bundle)
    for case in context.oracle.get("scoring", ()):
        if case["id"] == name:
            return case.get("bundle") or load(context, case["bundleFile"])
    return load(context, name)


def suite_in(folder: str, key_folder: str | None, context: Context) -> SuiteSpec:
    """The suite of a folder with the held-out keys of another."""
    root = context.folder / folder
    documents = [
        json.loads(path.read_bytes())
        for path in sorted(root.glob("*.task.json"), key=lambda path: path.name)
    ]
    manifest = root / "suite.json"
    stored = thresholds_of(json.loads(manifest.read_bytes())) if manifest.exists() else {}
    suite = suite_from(documents, thresholds=stored)
    if key_folder is None:
        return suite
    held = context.folder / key_folder
    files = {str(path.relative_to(held)): path.read_bytes() for path in held.rglob("*.json")}
    merged, _ = keys.merge_keys(suite, keys.read_keys(Files.of(files)).keys)
    return merged


def check_gate(case: Any, context: Context) -> str | None:
    """The exit code of the score command."""
    suite = suite_in(case["taskDir"], case["groundTruthDir"], context)
    bundle = bundle_named(case["bundle"], context)
    found = gate(bundle, suite, {}, report_only=case["reportOnly"])
    difference = compare(found.code, case["expectedExit"])
    return difference and f"{difference}: {found.reasons}"


def check_rate_limit(case: Any, _context: Context) -> str | None:
    """Which submissions of one model come in."""
    times = [datetime.fromisoformat(time) for time in case["times"]]
    found = allowed_of(times, mode=case.get("mode", "ranked"))
    return compare(found, case["expectedAllowed"])


def check_suite_config(case: Any, context: Context) -> str | None:
    """Bar, baseline and competency that a manifest gives."""
    if "suiteFile" in case:
        manifest = load(context, case["suiteFile"])
        kinds = [load(context, path).get("kind", "") for path in case["taskFiles"]]
    else:
        manifest, kinds = case["manifest"], case["kinds"]
    found = suite_config(thresholds_of(manifest), kinds)
    expected = case["expected"]
    made = {
        "threshold": found.threshold,
        "baseline": found.baseline,
        "competency": found.competency,
    }
    return compare(made, {name: expected.get(name) for name in made})


def check_certificate_id(case: Any, _context: Context) -> str | None:
    """The id of a certificate."""
    found = certificates.certificate_id(case["track"], case["competency"], case["serial"])
    return compare(found, case["expected"])


def check_serial(case: Any, _context: Context) -> str | None:
    """The serial that a bundle hash gives."""
    return compare(certificates.serial_of(case["bundleHash"]), case["serial"])


def check_issue(case: Any, _context: Context) -> str | None:
    """The certificate of a report, or the reason why there is none."""
    try:
        made: Any = {"cert": certificates.issue(case["report"], case["opts"])}
    except certificates.Refusal as refusal:
        made = {"refused": refusal.code}
    return compare(made, case["expected"])


def check_verify(case: Any, context: Context) -> str | None:
    """Hash and signature of a patched certificate."""
    certificate = patched(load(context, case["file"]), case["patch"], rehash_certificate)
    found = certificates.verify(certificate, case["key"] and load(context, case["key"]))
    made = {
        "ok": found.ok,
        "hashMatch": found.hash_match,
        "signatureValid": found.signature_valid,
        "expectedHash": found.expected_hash,
    }
    return compare(made, case["expected"])


def check_leaderboard(case: Any, _context: Context) -> str | None:
    """The board's rows after submissions, in order."""
    rows: Any = case["start"]
    for sent in case["submissions"]:
        report = {
            "competency": sent.get("competency"),
            "suite": {"median": sent.get("score"), "n": sent.get("n"), "tier": sent.get("tier")},
        }
        bundle = {
            "track": sent["track"],
            "contestant": {
                "modelId": sent["modelId"],
                "name": sent.get("contestant"),
                "contact": sent.get("contact"),
            },
            "attestation": {"mode": sent.get("attestationMode")},
        }
        rows = place(rows, row_of(report, bundle, certificate_id=sent.get("certId") or ""))
    return compare(rows, case["expectedRows"])


CHECKS: dict[str, Check] = {
    "scoring": check_scoring,
    "stats": check_stats,
    "agreement": check_agreement,
    "groundTruthKeys": check_keys,
    "canonical": check_canonical,
    "integrity": check_integrity,
    "schema": check_schema,
    "gate": check_gate,
    "rateLimit": check_rate_limit,
    "suiteConfig": check_suite_config,
    "certIds": check_certificate_id,
    "certSerials": check_serial,
    "certIssue": check_issue,
    "certVerify": check_verify,
    "leaderboard": check_leaderboard,
}
