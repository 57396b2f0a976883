"""System checks: every plug-in must load."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, register

from academy import registry


@register()
def plugins_load(**_options: Any) -> list[CheckMessage]:
    """A format or scorer that cannot be loaded is an error of the installation."""
    try:
        registry.all_formats()
        registry.all_scorers()
    except Exception as error:  # noqa: BLE001 - whatever a plug-in raises is told here
        return [Error(f"A plug-in does not load: {error}", id="academy.E001")]
    return []
