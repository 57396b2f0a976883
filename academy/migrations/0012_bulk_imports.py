"""Uploads that a worker reads, with what it told of them."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("academy", "0011_decisions_are_kept"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BulkImport",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("suites", "Suites"), ("runs", "Runs")], max_length=10
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("reading", "Being read"),
                            ("read", "Waits for you"),
                            ("importing", "Being imported"),
                            ("done", "Imported"),
                            ("refused", "Refused"),
                            ("failed", "Failed through us"),
                            ("expired", "No longer kept"),
                        ],
                        default="reading",
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(max_length=300)),
                ("file", models.CharField(blank=True, max_length=400)),
                ("size", models.PositiveBigIntegerField()),
                ("choices", models.JSONField(default=dict)),
                ("report", models.JSONField(default=dict)),
                ("problems", models.JSONField(default=list)),
                ("problems_total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("total", models.PositiveBigIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
