"""The policy of a board as a form: every field that a curator may set, checked as a whole."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin.helpers import ActionForm

from academy.errors import AcademyError
from academy.models import Run, SuiteVersion
from leaderboard import certifying
from leaderboard.boards import CHOICES, MOST_ROUNDS, StoredPolicy
from leaderboard.models import Board, Certificate

LABELS = {
    "strict": "Strict",
    "reference": "Reference",
    "computed": "Computed from records",
    "reported": "Reported by the source",
    "people": "People",
    "judge": "One judge, not audited",
    "judge_audited": "A judge audited by people",
    "newest": "The newest public version",
    "all": "The items of all versions together",
    "at_once": "At once",
    "by_hand": "By hand",
}


def _choice(name: str, label: str, help_text: str = "") -> forms.ChoiceField:
    options = [(value, LABELS.get(value, value.capitalize())) for value in CHOICES[name]]
    return forms.ChoiceField(choices=options, label=label, help_text=help_text)


class BoardForm(forms.ModelForm):  # type: ignore[type-arg]
    """Title, description, versions and policy; a changed policy becomes a revision."""

    metric = forms.CharField(max_length=100)
    mode = _choice("mode", "Mode")
    origin = _choice("origin", "Origin")
    evidence = _choice("evidence", "Evidence", "Whose word counts where somebody must decide.")
    attempts = _choice("attempts", "Attempt that counts", "All attempts are shown.")
    shown_versions = _choice("versions", "Versions shown")
    publishing = _choice("publishing", "Snapshots are published")
    verification = forms.TypedChoiceField(
        choices=Run.Verification.choices, coerce=int, label="Ranks from step"
    )
    coverage = forms.FloatField(
        min_value=0, max_value=1, help_text="The least share of submitted items for a rank."
    )
    confidence = forms.FloatField(min_value=0.5, max_value=0.9999)
    rounds = forms.IntegerField(min_value=100, max_value=MOST_ROUNDS)
    audited = forms.IntegerField(
        min_value=1, label="Audited records", help_text="Needed for a rank under an audited judge."
    )
    ranked = forms.BooleanField(required=False)
    secondary = forms.CharField(required=False, help_text="Keys of metrics, with commas.")
    slices = forms.CharField(required=False, help_text="Attributes of tasks, with commas.")
    cluster = forms.CharField(required=False, help_text="The attribute that tasks share.")
    where = forms.JSONField(
        required=False, help_text="Attributes that a task must have to count, as JSON."
    )
    note = forms.CharField(required=False, max_length=500, widget=forms.Textarea(attrs={"rows": 2}))
    reason = forms.CharField(
        max_length=300, help_text="Why it changes; the trail keeps it.", required=False
    )

    class Meta:
        model = Board
        fields = ("title", "description", "versions")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            stored = StoredPolicy.read(self.instance.policy).as_json()
            for name in self._policy_fields():
                value = stored["versions" if name == "shown_versions" else name]
                self.initial[name] = ", ".join(value) if isinstance(value, list) else value

    @staticmethod
    def _policy_fields() -> list[str]:
        names = [name for name in StoredPolicy.__slots__ if name != "versions"]
        return [*names, "shown_versions"]

    def policy(self) -> StoredPolicy:
        """The policy that the fields say; they are clean."""
        held = {name: self.cleaned_data[name] for name in self._policy_fields()}
        held["versions"] = held.pop("shown_versions")
        held["where"] = held["where"] or {}
        for name in ("secondary", "slices"):
            parts = (part.strip() for part in held[name].split(","))
            held[name] = tuple(part for part in parts if part)
        return StoredPolicy(**held)

    def clean(self) -> dict[str, Any] | None:
        """Check the policy against the versions: metrics and attributes must be there."""
        cleaned: dict[str, Any] | None = super().clean()
        if self.errors or cleaned is None:
            return cleaned
        if not isinstance(cleaned.get("where") or {}, dict):
            self.add_error("where", "Give an object of attributes and values.")
            return cleaned
        versions: list[SuiteVersion] = list(cleaned["versions"])
        for name, text in self.policy().problems(versions).items():
            self.add_error("shown_versions" if name == "versions" else name, text)
        return cleaned


class ReasonForm(ActionForm):
    """The reason that stands beside an act on chosen rows."""

    reason = forms.CharField(required=False, max_length=300, label="Reason: ")


class CertificateForm(forms.ModelForm):  # type: ignore[type-arg]
    """Which entry of which board is certified, and what the reviewer has looked at."""

    entry = forms.CharField(max_length=300, help_text="The key of the entry on the board.")
    why = forms.CharField(max_length=300, label="What was reviewed")

    class Meta:
        model = Certificate
        fields = ("board",)

    def clean(self) -> dict[str, Any] | None:
        """Refuse what could not be issued, at the entry."""
        cleaned: dict[str, Any] | None = super().clean()
        if cleaned and cleaned.get("board") and cleaned.get("entry"):
            try:
                certifying.check_entry(cleaned["board"], cleaned["entry"])
            except AcademyError as error:
                self.add_error("entry", str(error))
        return cleaned
