"""A gold item retires: when, by whom and why."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("adjudication", "0005_finding_answers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="gold",
            name="retired_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="gold",
            name="retired_because",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="gold",
            name="retired_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="gold",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("retired_at", None), ("retired_because", ""), ("retired_by", None)),
                    models.Q(
                        ("retired_at__isnull", False),
                        ("retired_by__isnull", False),
                        models.Q(("retired_because", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="gold_retires_by_somebody_for_a_reason",
            ),
        ),
    ]
