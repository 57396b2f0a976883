"""The rules of a queue as plain fields, each checked under its own name."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth import get_user_model

from academy.models import InstanceRecord, SuiteVersion
from adjudication import choosing, kinds, steering
from adjudication.models import Queue
from adjudication.policies import APPELLANTS, ORDERS, PRESETS, SUGGESTIONS, Policy, Sampling

OWN_FIELDS = (
    "title", "seats_per_item", "lease_seconds", "undo_seconds", "is_paused", "due_at",
)  # fmt: skip
LABELS = {
    "oldest": "Oldest first",
    "agreement": "Where judges agree least first",
    "sealed": "Sealed until one's own verdict is in",
    "open": "May be opened before, which is stored",
    "entrant": "The run's entrant",
    "readers": "Any reader with an account",
}


def named(values: tuple[str, ...]) -> list[tuple[str, str]]:
    """Rules with their labels."""
    return [(value, LABELS[value]) for value in values]


class QueueAddForm(forms.ModelForm):  # type: ignore[type-arg]
    """A queue to begin with: what it decides, and the preset whose rules it takes over."""

    version = forms.ModelChoiceField(
        SuiteVersion.objects.filter(state="published").select_related("suite").order_by("-pk")
    )
    kind = forms.ChoiceField(choices=(), help_text="What people decide here.")
    preset = forms.ChoiceField(
        choices=[(preset.key, f"{preset.title}: {preset.says}") for preset in PRESETS],
        widget=forms.RadioSelect,
        initial=PRESETS[0].key,
    )
    title = forms.CharField(
        max_length=200, required=False, help_text="Left empty, it is named after suite and kind."
    )

    class Meta:
        model = Queue
        fields = ("version", "kind", "preset", "title", "due_at")

    def __init__(self, *args: Any, **named_args: Any) -> None:
        super().__init__(*args, **named_args)
        field = self.fields["kind"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(kind.key, kind.title) for kind in kinds.KINDS.values()]

    def clean(self) -> dict[str, Any]:
        """A version has one queue of each kind."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        version, kind = cleaned.get("version"), cleaned.get("kind")
        if version is not None and version.queues.filter(kind=kind).exists():
            self.add_error("kind", f"{version} has a queue of this kind already.")
        return cleaned


class QueueForm(forms.ModelForm):  # type: ignore[type-arg]
    """The rules of a queue, and the guideline that holds from now on."""

    seats_per_item = forms.IntegerField(
        min_value=1, max_value=3, help_text="More are added to open items; fewer hold for new ones."
    )
    lease_seconds = forms.IntegerField(
        min_value=60, max_value=7 * 86_400, help_text="How long a seat is held without activity."
    )
    undo_seconds = forms.IntegerField(min_value=0, max_value=3600)
    waiting = forms.BooleanField(required=False, label="Records with a score that waits")
    everything = forms.BooleanField(required=False, label="All records")
    share = forms.FloatField(
        min_value=0, max_value=1, label="Share drawn at random", help_text="A part from 0 to 1."
    )
    minimum = forms.IntegerField(
        min_value=0, label="At least", help_text="Records drawn from each entrant's run."
    )
    seed = forms.RegexField(
        r"^[\w./-]{1,60}$", help_text="The same seed draws the same records again."
    )
    differing = forms.BooleanField(required=False, label="Records on which judges differ")
    flagged = forms.BooleanField(required=False, label="Records with an open finding")
    order = forms.ChoiceField(choices=named(ORDERS))
    suggestion = forms.ChoiceField(choices=named(SUGGESTIONS), label="What judges said")
    is_blind = forms.BooleanField(required=False, label="Names are masked")
    gold_every = forms.IntegerField(
        min_value=0, max_value=1000, help_text="One gold item among so many; 0 for none."
    )
    second_seat = forms.BooleanField(
        required=False, label="A second seat where a person differs from the judge"
    )
    reviewers = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Account names, one a line. Left empty, everybody who reviews.",
    )
    appeals_by = forms.ChoiceField(choices=named(APPELLANTS), label="Appeals are open to")
    guideline = forms.CharField(
        required=False,
        strip=True,
        max_length=steering.LONGEST_GUIDELINE,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="A changed text is a new revision; earlier ones stay with what they led to.",
    )

    class Meta:
        model = Queue
        fields = OWN_FIELDS

    def __init__(self, *args: Any, **named_args: Any) -> None:
        super().__init__(*args, **named_args)
        policy = choosing.policy_of(self.instance.version, self.instance.policy)
        for name in ("waiting", "everything", "share", "minimum", "seed", "differing", "flagged"):
            self.initial.setdefault(name, getattr(policy.sampling, name))
        for name in (
            "order", "suggestion", "is_blind", "gold_every", "second_seat", "appeals_by",
        ):  # fmt: skip
            self.initial.setdefault(name, getattr(policy, name))
        self.initial.setdefault("reviewers", "\n".join(policy.reviewers))
        last = self.instance.guidelines.order_by("-revision").first()
        self.initial.setdefault("guideline", last.text if last else "")

    def clean_reviewers(self) -> tuple[str, ...]:
        """Only accounts that are there."""
        names = tuple(dict.fromkeys(re.split(r"[\s,;]+", self.cleaned_data["reviewers"].strip())))
        names = tuple(name for name in names if name)
        known = set(
            get_user_model().objects.filter(username__in=names).values_list("username", flat=True)
        )
        strange = [name for name in names if name not in known]
        if strange:
            raise forms.ValidationError(f"There is no account {', '.join(strange)}.")
        return names

    def clean_guideline(self) -> str:
        """A guideline that is there cannot be emptied: reviewers went by it."""
        text: str = self.cleaned_data["guideline"]
        if not text and self.initial.get("guideline"):
            raise forms.ValidationError("A guideline is revised, not taken away.")
        return text

    def policy(self) -> Policy:
        """The rules that were given."""
        given = self.cleaned_data
        return Policy(
            sampling=Sampling(
                waiting=given["waiting"],
                everything=given["everything"],
                share=given["share"],
                minimum=given["minimum"],
                seed=given["seed"],
                differing=given["differing"],
                flagged=given["flagged"],
            ),
            order=given["order"],
            suggestion=given["suggestion"],
            is_blind=given["is_blind"],
            gold_every=given["gold_every"],
            second_seat=given["second_seat"],
            reviewers=given["reviewers"],
            appeals_by=given["appeals_by"],
        )

    def facts(self) -> dict[str, Any]:
        """All that may have changed."""
        own = {name: self.cleaned_data[name] for name in OWN_FIELDS}
        return {**own, "policy": self.policy().as_json()}


class ReasonForm(ActionForm):
    """The reason that stands beside an act on chosen items."""

    reason = forms.CharField(required=False, max_length=300, label="Reason, to retire: ")


class GoldRecordForm(forms.Form):
    """The record that becomes gold."""

    record = forms.IntegerField(min_value=1, help_text="The number in the address of the record.")

    def __init__(self, *args: Any, queue: Queue, **named_args: Any) -> None:
        super().__init__(*args, **named_args)
        self.queue = queue

    def clean_record(self) -> InstanceRecord:
        """A record of the queue's version."""
        pk = self.cleaned_data["record"]
        records = InstanceRecord.objects.filter(
            pk=min(pk, 2**63 - 1), run__version=self.queue.version
        )
        found: InstanceRecord | None = records.select_related("task", "run__entrant").first()
        if found is None:
            raise forms.ValidationError(f"There is no record {pk} of {self.queue.version}.")
        return found


class GoldForm(forms.Form):
    """The right verdict on every question about a record."""

    def __init__(self, *args: Any, questions: list[Any], known: Any = None, **named: Any) -> None:
        super().__init__(*args, **named)
        self.questions = questions
        for place, question in enumerate(questions):
            given = (known or {}).get(question.key, {})
            self.fields[f"q{place}"] = forms.ChoiceField(
                label=question.text,
                choices=[("", "—"), *((one.code, one.label) for one in question.choices)],
                initial=next(
                    (
                        one.code
                        for one in question.choices
                        if one.state == given.get("state")
                        and (one.state != "value" or one.value == given.get("value"))
                    ),
                    "",
                ),
            )
            if question.faults:
                self.fields[f"f{place}"] = forms.ChoiceField(
                    required=False,
                    label="What is wrong with it, where it is defective",
                    choices=[("", "—"), *((fault, fault) for fault in question.faults)],
                    initial=given.get("fault", ""),
                )

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """The verdicts as they are kept."""
        return {q.key: self._verdict(place, q) for place, q in enumerate(self.questions)}

    def _verdict(self, place: int, question: Any) -> dict[str, Any]:
        choice = question.choice(self.cleaned_data[f"q{place}"])
        fault = self.cleaned_data.get(f"f{place}", "")
        return {
            "state": choice.state,
            "value": choice.value if choice.state == "value" else None,
            **({"fault": fault} if choice.state == "defective" else {}),
        }

    def clean(self) -> dict[str, Any]:
        """What a question itself objects to stands at its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for place, question in enumerate(self.questions):
            if cleaned.get(f"q{place}"):
                problem = question.problem({**self._verdict(place, question), "reason": "gold"})
                if problem:
                    self.add_error(f"q{place}", problem)
        return cleaned
