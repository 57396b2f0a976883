"""Forms of invitations: making one, and making an account by one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User

from academy.models import Organization
from adjudication import inviting


def dress(form: forms.BaseForm) -> None:
    """Give fields the look of the site, and what is wrong to those who listen."""
    for name, field in form.fields.items():
        field.widget.attrs["class"] = "field full"
        if form.is_bound and form.has_error(name):
            field.widget.attrs["aria-invalid"] = "true"
            field.widget.attrs["aria-describedby"] = f"e-{name}"


class InvitationForm(forms.Form):
    """What a curator says of the person to invite."""

    role = forms.ChoiceField(choices=[(role, role.capitalize()) for role in inviting.ROLES])
    organization = forms.ModelChoiceField(
        Organization.objects.order_by("name", "pk"), label="Organisation", empty_label=None
    )
    days = forms.IntegerField(
        label="Days it can be used",
        initial=14,
        min_value=inviting.FEWEST_DAYS,
        max_value=inviting.MOST_DAYS,
    )
    note = forms.CharField(label="Note for curators", max_length=200, required=False)

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        dress(self)


class SignUpForm(UserCreationForm):  # type: ignore[type-arg]
    """An account by invitation: a name, a password that Django's validators take, an address."""

    email = forms.EmailField(
        required=False, help_text="Only for the digest of what waits for you; may stay empty."
    )

    class Meta(UserCreationForm.Meta):
        """Which account is made."""

        model = User
        fields = ("username", "email")

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.fields["username"].help_text = "Letters, digits and @ . + - _ only."
        self.fields[
            "password1"
        ].help_text = "At least eight characters, no common password, and nothing like your name."
        self.fields["password2"].help_text = "The same once more."
        dress(self)
