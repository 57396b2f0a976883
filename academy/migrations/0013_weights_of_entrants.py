"""Whether the weights of an entrant's model are open, as far as somebody said so."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("academy", "0012_bulk_imports")]

    operations = [
        migrations.AddField(
            model_name="entrant",
            name="weights",
            field=models.CharField(
                blank=True,
                choices=[("open", "Open weights"), ("closed", "Closed weights")],
                default="",
                max_length=6,
            ),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="entrant",
            constraint=models.CheckConstraint(
                condition=models.Q(("weights__in", ("", "open", "closed"))),
                name="weights_known_or_blank",
            ),
        ),
    ]
