"""What a person saw of an item, and reported of it, stays with them and not with the seat."""

from __future__ import annotations

from django.db import migrations, models

OF_HOLDERS = """
UPDATE adjudication_draft draft
SET suggestion_seen = seat.suggestion_seen, not_blind = seat.not_blind
FROM adjudication_seat seat
WHERE seat.item_id = draft.item_id AND seat.holder_id = draft.user_id
  AND (seat.suggestion_seen OR seat.not_blind <> '')
"""


class Migration(migrations.Migration):
    dependencies = [("adjudication", "0009_gold_is_chosen_like_others")]

    operations = [
        migrations.AddField(
            model_name="draft",
            name="suggestion_seen",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="draft", name="not_blind", field=models.TextField(blank=True)
        ),
        migrations.RunSQL(OF_HOLDERS, migrations.RunSQL.noop),
    ]
