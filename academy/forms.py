"""Forms of the core."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from academy import importing, registry
from academy.errors import AcademyError


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
        upload = self.cleaned_data["upload"]
        if upload.size > settings.ACADEMY_UPLOAD_BYTES:
            limit = filesizeformat(settings.ACADEMY_UPLOAD_BYTES)
            raise forms.ValidationError(f"The file is larger than {limit}; use import_suite.")
        return upload

    def clean_name(self) -> tuple[str, str] | None:
        """SUITE@VERSION in two parts, or None."""
        return name_parts(self.cleaned_data["name"])


class SuiteConfirmForm(forms.Form):
    """An upload that was read in a dry run and is now to be imported."""

    token = forms.RegexField(r"^[a-f0-9]{32}$")
    format = forms.ChoiceField(required=False, choices=format_choices)
    name = forms.CharField(required=False)
    publish = forms.BooleanField(required=False)

    def clean_name(self) -> tuple[str, str] | None:
        """SUITE@VERSION in two parts, or None."""
        return name_parts(self.cleaned_data["name"])
