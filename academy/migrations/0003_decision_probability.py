"""A decision carries the chance with which its record came to a person."""

from __future__ import annotations

from django.db import migrations, models

FREEZE = """
DROP TRIGGER decisions_frozen ON academy_decision;
CREATE TRIGGER decisions_frozen BEFORE UPDATE ON academy_decision
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'kind', 'record_id', 'run_id', 'task_id', 'criterion_id', 'part', 'source', 'author',
        'author_version', 'author_digest', 'person_id', 'seat', 'state', 'value', 'reason',
        'confidence', 'suggestion_seen', 'probability', 'supersedes_id', 'made_at');
"""


class Migration(migrations.Migration):
    """Adds the column and freezes it with the others."""

    dependencies = (("academy", "0002_partitions_and_triggers"),)
    operations = (
        migrations.AddField(
            model_name="decision",
            name="probability",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(probability=None)
                | models.Q(probability__gt=0, probability__lte=1),
                name="decision_probability_is_a_chance",
            ),
        ),
        migrations.RunSQL(FREEZE, migrations.RunSQL.noop),
    )
