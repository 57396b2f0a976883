"""The rows of a snapshot say what moved, so they too are settled when it is published."""

from __future__ import annotations

from django.db import migrations

FREEZE = """
CREATE OR REPLACE FUNCTION leaderboard_keep_published() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.published_at IS NOT NULL AND (
        NEW.published_at IS DISTINCT FROM OLD.published_at
        OR NEW.differences IS DISTINCT FROM OLD.differences
        OR NEW.compared_with IS DISTINCT FROM OLD.compared_with
        OR NEW.rows_html IS DISTINCT FROM OLD.rows_html
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
        'created_at');
"""


class Migration(migrations.Migration):
    """Runs after the triggers that it replaces exist."""

    dependencies = (("leaderboard", "0005_differences_settled_at_publication"),)
    operations = (migrations.RunSQL(FREEZE, migrations.RunSQL.noop),)
