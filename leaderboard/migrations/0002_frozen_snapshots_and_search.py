"""A snapshot never changes; boards know their proposal; what search looks through is indexed."""

from __future__ import annotations

from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

FREEZE = """
CREATE FUNCTION leaderboard_keep_published() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.published_at IS NOT NULL AND NEW.published_at IS DISTINCT FROM OLD.published_at THEN
        RAISE EXCEPTION 'a published snapshot stays published'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER snapshots_frozen BEFORE UPDATE ON leaderboard_snapshot
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'board_id', 'number', 'board_revision', 'inputs_digest', 'digest', 'standings',
        'rows_html', 'differences', 'created_at');
CREATE TRIGGER snapshots_stay_published BEFORE UPDATE ON leaderboard_snapshot
    FOR EACH ROW EXECUTE FUNCTION leaderboard_keep_published();
CREATE TRIGGER snapshots_kept BEFORE DELETE ON leaderboard_snapshot
    FOR EACH ROW EXECUTE FUNCTION academy_refuse();
CREATE TRIGGER revisions_frozen BEFORE UPDATE ON leaderboard_boardrevision
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'board_id', 'revision', 'policy', 'versions', 'created_at');
"""

SEARCH = """
CREATE INDEX task_words ON academy_task
    USING gin (to_tsvector('simple', external_id || ' ' || title || ' ' || left(prompt, 20000)));
CREATE INDEX task_likeness ON academy_task
    USING gin ((external_id || ' ' || title) gin_trgm_ops);
CREATE INDEX entrant_likeness ON academy_entrant
    USING gin ((name || ' ' || slug || ' ' || model) gin_trgm_ops);
"""


class Migration(migrations.Migration):
    """Runs after the core's functions exist."""

    dependencies = (
        ("academy", "0003_decision_probability"),
        ("leaderboard", "0001_initial"),
    )
    operations = (
        migrations.AddField(
            model_name="board",
            name="proposal",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="boardrevision",
            name="versions",
            field=models.JSONField(default=list),
        ),
        migrations.RunSQL(FREEZE, migrations.RunSQL.noop),
        TrigramExtension(),
        migrations.RunSQL(SEARCH, migrations.RunSQL.noop),
    )
