"""Where the datastore keeps a record, and which folder an identity asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from academy.errors import AcademyError

UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
AGGREGATE_NAME = re.compile(rf"{UUID4}\.json")
SAMPLES_NAME = re.compile(rf"{UUID4}_samples\.jsonl")
SAMPLES_SUFFIX = "_samples.jsonl"
UNSAFE = re.compile(r'[<>:"\\|?*\x00-\x1f]')
DEVICES = frozenset(
    {"CON", "PRN", "AUX", "NUL"} | {f"{name}{n}" for name in ("COM", "LPT") for n in range(1, 10)}
)
DEPTH = 5

# Which organisation publishes a family of models, as the converters of 0.3.0 guess it from a bare
# name: the first family that the name starts with, or that follows a hyphen in it, wins. The guess
# is known to be wrong at times; it serves comparison and is never stored as a fact.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "openai": (
        *("gpt", "text-davinci", "text-curie", "text-babbage", "text-ada", "davinci", "curie"),
        *("babbage", "ada", "o1", "o3", "o4"),
    ),
    "anthropic": ("claude",),
    "google": ("gemini", "gemma", "palm", "t5", "ul2", "text-bison", "text-unicorn"),
    "meta-llama": ("llama",),
    "facebook": ("opt",),
    "mistralai": ("mistral", "mixtral", "devstral", "ministral", "codestral"),
    "Qwen": ("qwen",),
    "microsoft": ("phi", "tnlg"),
    "ai21labs": ("j1", "j2", "jamba", "jurassic"),
    "CohereForAI": ("command", "cohere", "aya"),
    "ibm": ("granite",),
    "tiiuae": ("falcon",),
    "bigscience": ("bloom", "t0pp"),
    "EleutherAI": ("pythia", "gpt-j", "gpt-neox"),
    "Aleph-Alpha": ("luminous",),
    "mosaicml": ("mpt",),
    "togethercomputer": ("redpajama",),
    "lmsys": ("vicuna",),
    "tatsu-lab": ("alpaca",),
    "Writer": ("palmyra", "instructpalmyra"),
    "yandex": ("yalm",),
    "zai-org": ("glm",),
    "deepseek-ai": ("deepseek",),
    "01-ai": ("yi",),
    "upstage": ("solar",),
    "Snowflake": ("arctic",),
    "databricks": ("dbrx",),
    "allenai": ("olmo",),
    "amazon": ("nova",),
    "xai": ("grok",),
    "moonshotai": ("kimi",),
    "sarvamai": ("sarvam",),
}
UNKNOWN = "unknown"


def is_portable(component: str) -> bool:
    """Whether a folder of this name can be made on every common system."""
    return not (
        UNSAFE.search(component)
        or component.endswith((".", " "))
        or component.partition(".")[0].upper() in DEVICES
    )


def datastore_problem(path: str) -> str | None:
    """Why a path is no place of the datastore, as the end of a sentence, or None."""
    parts = path.split("/")
    if len(parts) != DEPTH:
        return f"is {len(parts)} deep where data/collection/developer/model/file is {DEPTH}"
    if "\\" in path or any(part in ("", ".", "..") for part in parts):
        return "has an empty part, a dot part or a backslash"
    if parts[0] != "data":
        return "does not start with data/"
    if "data" in parts[1:4]:
        return "uses the reserved name 'data' for a collection, developer or model"
    for part in parts[1:4]:
        if not is_portable(part):
            return f"has the folder {part!r}, which not every system can make"
    if not (AGGREGATE_NAME.fullmatch(parts[4]) or SAMPLES_NAME.fullmatch(parts[4])):
        return "does not end in a lower-case UUID of version 4 (with _samples.jsonl for rows)"
    return None


def known(value: str | None, what: str) -> str:
    """An identity without space around it. Raises AcademyError when it says nothing."""
    trimmed = (value or "").strip()
    if not trimmed or trimmed.lower() == UNKNOWN:
        raise AcademyError(f"The {what} must be known; it is {value!r}.")
    return trimmed


def folder(value: str | None, what: str) -> str:
    """One safe folder name for an identity. Raises AcademyError."""
    name = known(value, what).replace(":", "_")
    if name in (".", "..", "data") or "/" in name or not is_portable(name):
        raise AcademyError(f"The {what} {value!r} cannot name a folder of the datastore.")
    return name


def flat_folder(value: str | None, what: str) -> str:
    """One folder name for an identity with slashes. Raises AcademyError."""
    parts = known(value, what).split("/")
    return "_".join(folder(part, what) for part in parts)


def path_components(
    collection: str | None, model_id: str | None, developer: str | None = None
) -> tuple[str, str, str]:
    """The folders that an identity asks for: collection, developer, model. Raises AcademyError.

    The developer is the part of the model's id before the first slash; only an id without one
    uses the developer that is named beside it.
    """
    first = flat_folder(collection, "collection")
    maker, slash, rest = (model_id or "").strip().partition("/")
    if slash:
        return first, folder(maker, "developer"), flat_folder(rest, "model id")
    return first, folder(developer, "developer"), folder(maker, "model id")


def guess_developer(model: str) -> str:
    """The developer that 0.3.0's converters guess from a model's name, `unknown` if none."""
    if "/" in model:
        return model.partition("/")[0]
    lowered = model.lower()
    for developer, family in FAMILY_ORDER:
        if lowered.startswith(family) or f"-{family}" in lowered:
            return developer
    return UNKNOWN


def guess_model_id(model: str) -> str:
    """`developer/model` for a model's name; a name with a slash is one already."""
    return model if "/" in model else f"{guess_developer(model)}/{model}"


FAMILY_ORDER = tuple(
    (developer, family) for developer, families in FAMILIES.items() for family in families
)


def samples_path(aggregate: str) -> str:
    """Where the rows of an aggregate lie: beside it, under the same name."""
    path = PurePosixPath(aggregate)
    return path.with_name(f"{path.stem}{SAMPLES_SUFFIX}").as_posix()


def aggregate_path(samples: str) -> str | None:
    """Where the aggregate of rows lies, or None when the name is not one of rows."""
    path = PurePosixPath(samples)
    if not path.name.endswith(SAMPLES_SUFFIX):
        return None
    return path.with_name(f"{path.name[: -len(SAMPLES_SUFFIX)]}.json").as_posix()
