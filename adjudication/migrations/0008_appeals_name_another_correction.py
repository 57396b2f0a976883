"""An upheld appeal tells when and why another version or pass was named to correct it."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("adjudication", "0007_appeals_corrected_by_a_version")]

    operations = [
        migrations.AddField(
            model_name="appeal", name="renamed_because", field=models.TextField(blank=True)
        ),
        migrations.AddField(
            model_name="appeal",
            name="renamed_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="appeal",
            constraint=models.CheckConstraint(
                condition=Q(renamed_at=None, renamed_because="")
                | Q(renamed_at__isnull=False) & ~Q(renamed_because=""),
                name="correction_is_renamed_for_a_reason",
            ),
        ),
    ]
