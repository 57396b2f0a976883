"""An upheld appeal names the version that corrects what it contests."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("academy", "0001_initial"),
        ("adjudication", "0006_gold_retires"),
    ]

    operations = [
        migrations.AddField(
            model_name="appeal",
            name="version",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="academy.suiteversion",
            ),
        ),
        migrations.AlterField(
            model_name="appeal",
            name="consequence",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "None"),
                    ("redecide", "Decided again"),
                    ("key", "New key revision"),
                    ("criterion", "Criterion put to the vote"),
                    ("version", "A new version corrects it"),
                ],
                default="",
                max_length=10,
            ),
        ),
    ]
