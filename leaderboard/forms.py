"""The policy of a board as a form: every field that a curator may set, checked as a whole."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin.helpers import ActionForm

from academy.errors import AcademyError
from academy.models import Run, SuiteVersion
from leaderboard import certifying, verifying, windowing
from leaderboard.boards import CHOICES, LABELS_OF_EVIDENCE, MOST_ROUNDS, StoredPolicy
from leaderboard.models import Board, Certificate, Window

LABELS = {
    "strict": "Strict",
    "reference": "Reference",
    "computed": "Computed from records",
    "reported": "Reported by the source",
    "newest": "The newest public version",
    "all": "The items of all versions together",
    "at_once": "At once",
    "by_hand": "By hand",
}


def _choice(name: str, label: str, help_text: str = "") -> forms.ChoiceField:
    named = LABELS_OF_EVIDENCE if name == "evidence" else LABELS
    options = [(value, named.get(value, value.capitalize())) for value in CHOICES[name]]
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


class WindowForm(forms.ModelForm):  # type: ignore[type-arg]
    """A stretch of time on a board; it overlaps no other, and stays once it holds results."""

    class Meta:
        model = Window
        fields = ("board", "label", "opens_at", "closes_at")

    def clean(self) -> dict[str, Any] | None:
        """Refuse what the board could not have."""
        cleaned: dict[str, Any] | None = super().clean()
        if self.errors or cleaned is None:
            return cleaned
        known = Window.objects.filter(pk=self.instance.pk).first() if self.instance.pk else None
        problem = windowing.window_problem(
            cleaned["board"],
            cleaned["label"],
            cleaned["opens_at"],
            cleaned["closes_at"],
            window=known,
        )
        if problem:
            self.add_error("closes_at", problem)
        return cleaned


class CheckForm(forms.Form):
    """A certificate as a file or as text, and the issuer's public keys where it is not ours."""

    file = forms.FileField(required=False, label="The file")
    text = forms.CharField(
        required=False,
        max_length=verifying.LONGEST,
        strip=False,
        label="or its text",
        widget=forms.Textarea(attrs={"rows": 8, "class": "field full", "spellcheck": "false"}),
    )
    key = forms.CharField(
        required=False,
        max_length=16_384,
        label="Public key of the issuer, PEM",
        help_text="Only for certificates that another site signed.",
        widget=forms.Textarea(attrs={"rows": 4, "class": "field full", "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any] | None:
        """One of file and text is there, and the file is no larger than a certificate."""
        cleaned: dict[str, Any] | None = super().clean()
        if cleaned is None or self.errors:
            return cleaned
        file = cleaned.get("file")
        if not file and not cleaned.get("text", "").strip():
            self.add_error(None, "Choose a file, or paste its text.")
        elif file and cleaned.get("text", "").strip():
            self.add_error(None, "Choose a file or paste text, not both.")
        elif file and file.size > verifying.LONGEST:
            limit = verifying.LONGEST // 1024
            self.add_error("file", f"The file is larger than {limit} KB; no certificate is.")
        return cleaned

    def certificate(self) -> tuple[str, bytes]:
        """What to call the certificate, and its bytes."""
        file = self.cleaned_data.get("file")
        if file:
            return str(file.name)[:100], file.read()
        return "The text", self.cleaned_data["text"].encode("utf-8", "surrogatepass")

    def keys(self) -> list[str]:
        """The public keys that were given."""
        return verifying.keys_in(self.cleaned_data["key"])


class BoardField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A board by title and address, since boards of several versions may share a title."""

    def label_from_instance(self, obj: Any) -> str:
        """Both."""
        return f"{obj.title} ({obj.slug})"


class CertificateForm(forms.ModelForm):  # type: ignore[type-arg]
    """Which entry of which board is certified, and what the reviewer has looked at."""

    board = BoardField(Board.objects.order_by("title", "slug"))
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
