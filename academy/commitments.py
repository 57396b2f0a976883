"""What is fixed in public about sealed keys and scoring passes: digests anybody recomputes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from academy.bundle import JSON
from academy.canonical import digest


def key_commitment(salt: str, content: JSON) -> str:
    """The digest of a random salt and a key: it fixes the key in public without showing it."""
    return digest({"salt": salt, "key": content})


def pass_digest(
    *,
    version: str,
    scorers: Mapping[str, int],
    evidence: Mapping[str, JSON],
    commitments: Iterable[str],
    struck: Iterable[str] = (),
) -> str:
    """The digest of a scoring pass.

    `version` is the version's digest, `scorers` versions by "key/mode", `commitments` those of
    the key revisions in use, `struck` the digests of struck criteria. The order of the last two
    does not matter. A pass that strikes nothing has no entry for it.
    """
    left_out = sorted(struck)
    return digest(
        {
            "version": version,
            "scorers": dict(scorers),
            "evidence": dict(evidence),
            "keys": sorted(commitments),
            **({"struck": left_out} if left_out else {}),
        }
    )
