"""The differences of a snapshot are settled when it is published, and frozen from then on."""

from __future__ import annotations

from django.db import migrations, models

FREEZE = """
CREATE OR REPLACE FUNCTION leaderboard_keep_published() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.published_at IS NOT NULL AND (
        NEW.published_at IS DISTINCT FROM OLD.published_at
        OR NEW.differences IS DISTINCT FROM OLD.differences
        OR NEW.compared_with IS DISTINCT FROM OLD.compared_with
    ) THEN
        RAISE EXCEPTION 'a published snapshot stays published as it is'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER snapshots_frozen ON leaderboard_snapshot;
CREATE TRIGGER snapshots_frozen BEFORE UPDATE ON leaderboard_snapshot
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'board_id', 'number', 'board_revision', 'inputs_digest', 'digest', 'standings',
        'rows_html', 'created_at');
"""


class Migration(migrations.Migration):
    """Runs after the triggers that it replaces exist."""

    dependencies = (("leaderboard", "0004_window_revisions"),)
    operations = (
        migrations.AddField(
            model_name="snapshot",
            name="compared_with",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.RunSQL(FREEZE, migrations.RunSQL.noop),
    )
