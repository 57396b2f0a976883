"""Forms of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from academy import bulk_importing, importing, registry
from academy.errors import AcademyError
from academy.models import BulkImport


def format_choices() -> list[tuple[str, str]]:
    """The formats that have suites, from the registry."""
    known = [(key, fmt.label) for key, fmt in registry.all_formats().items() if fmt.parse_suite]
    return [("", "Find out from the files"), *known]


def name_parts(text: str) -> tuple[str, str] | None:
    """SUITE@VERSION in two parts, or None for nothing. Raises ValidationError for anything else."""
    if not text.strip():
        return None
    try:
        return importing.parse_name(text.strip())
    except AcademyError as error:
        raise forms.ValidationError(str(error)) from None


def within_limit(upload: Any, command: str) -> Any:
    """The upload, if it is no larger than one may be. Raises ValidationError."""
    if upload.size > settings.ACADEMY_UPLOAD_BYTES:
        limit = filesizeformat(settings.ACADEMY_UPLOAD_BYTES)
        raise forms.ValidationError(f"The file is larger than {limit}; use {command}.")
    return upload


def keep_sent(
    form: forms.Form, kind: str, *, choices: Mapping[str, Any], by: Any
) -> BulkImport | None:
    """Keep what was sent for its dry run; None where it is refused, which the form then says."""
    sent = form.cleaned_data["upload"]
    try:
        return bulk_importing.keep_upload(
            kind, sent.name, sent, size=sent.size, choices=choices, by=by
        )
    except AcademyError as error:
        form.add_error("upload", str(error))
        return None


class SuiteImportForm(forms.Form):
    """One file or zip to be read, with format and name found out unless they are given."""

    upload = forms.FileField(label="File or zip")
    format = forms.ChoiceField(label="Format", required=False, choices=format_choices)
    name = forms.CharField(
        label="Import as",
        required=False,
        help_text="SUITE@VERSION; leave it empty to use the names in the files.",
    )

    def clean_upload(self) -> object:
        """Refuse what is larger than an upload may be."""
        return within_limit(self.cleaned_data["upload"], "import_suite")

    def clean_name(self) -> tuple[str, str] | None:
        """SUITE@VERSION in two parts, or None."""
        return name_parts(self.cleaned_data["name"])


def run_format_choices() -> list[tuple[str, str]]:
    """The forms of runs, from the registry."""
    known = [(key, fmt.label) for key, fmt in registry.all_formats().items() if fmt.parse_run]
    return [("", "Find out from the files"), *known]


class RunImportForm(forms.Form):
    """One file or zip of runs to be read."""

    upload = forms.FileField(label="File or zip")
    format = forms.ChoiceField(label="Form", required=False, choices=run_format_choices)
    version = forms.CharField(
        label="Run on",
        required=False,
        help_text="SUITE@VERSION; leave it empty when the files name it.",
    )
    entrant = forms.CharField(
        label="Entrant",
        required=False,
        help_text="The slug of who entered it; leave it empty when the files name it.",
    )
    human = forms.BooleanField(label="A person made the run: the human baseline", required=False)
    leave_out = forms.BooleanField(
        label="List and leave out records of tasks that the version lacks", required=False
    )

    def clean_upload(self) -> object:
        """Refuse what is larger than an upload may be."""
        return within_limit(self.cleaned_data["upload"], "import_run")

    def clean_version(self) -> str:
        """SUITE@VERSION as it is written, or nothing."""
        text: str = self.cleaned_data["version"].strip()
        name_parts(text)
        return text


class SuiteConfirmForm(forms.Form):
    """An upload that was read in a dry run and is now to be imported."""

    token = forms.RegexField(r"^[a-f0-9]{32}$")
    format = forms.ChoiceField(required=False, choices=format_choices)
    name = forms.CharField(required=False)
    publish = forms.BooleanField(required=False)

    def clean_name(self) -> tuple[str, str] | None:
        """SUITE@VERSION in two parts, or None."""
        return name_parts(self.cleaned_data["name"])
