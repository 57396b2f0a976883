"""What the admin calls several scoring passes, and several units of work."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("academy", "0013_weights_of_entrants")]

    operations = [
        migrations.AlterModelOptions(
            name="scoringpass", options={"verbose_name_plural": "scoring passes"}
        ),
        migrations.AlterModelOptions(name="work", options={"verbose_name_plural": "work"}),
    ]
