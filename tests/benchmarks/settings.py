"""The product's settings with the addresses of the benchmark beside its own."""

from __future__ import annotations

from academy.project.settings import *  # noqa: F403

ROOT_URLCONF = "tests.benchmarks.addresses"
