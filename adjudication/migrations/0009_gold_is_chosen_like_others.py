"""Gold items have the reason and the chance of an ordinary item of their queue."""

from __future__ import annotations

from django.db import migrations

LIKE_OTHERS = """
UPDATE adjudication_reviewitem gold
SET chosen_because = other.chosen_because, probability = other.probability
FROM (
    SELECT DISTINCT ON (queue_id) queue_id, chosen_because, probability
    FROM adjudication_reviewitem WHERE state <> 'gold' ORDER BY queue_id, id
) other
WHERE gold.state = 'gold' AND other.queue_id = gold.queue_id
"""


class Migration(migrations.Migration):
    dependencies = [("adjudication", "0008_appeals_name_another_correction")]

    operations = [migrations.RunSQL(LIKE_OTHERS, migrations.RunSQL.noop)]
