"""The admin: curators import suites here and watch what is stored."""

from academy.admin import runs, suites  # noqa: F401
