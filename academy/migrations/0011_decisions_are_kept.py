"""A decision is never deleted, and one that was superseded never stands again."""

from __future__ import annotations

from django.db import migrations

KEEP = """
DROP TRIGGER decisions_frozen ON academy_decision;
CREATE TRIGGER decisions_frozen BEFORE UPDATE ON academy_decision
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'id', 'kind', 'record_id', 'run_id', 'task_id', 'criterion_id', 'part', 'source', 'author',
        'author_version', 'author_digest', 'person_id', 'seat', 'state', 'value', 'reason',
        'confidence', 'suggestion_seen', 'counts', 'probability', 'supersedes_id', 'made_at',
        'created_at');
CREATE TRIGGER decisions_superseded BEFORE UPDATE ON academy_decision
    FOR EACH ROW WHEN (NEW.current AND NOT OLD.current) EXECUTE FUNCTION academy_refuse();
CREATE TRIGGER decisions_kept BEFORE DELETE ON academy_decision
    FOR EACH ROW EXECUTE FUNCTION academy_refuse();
"""
FREE = """
DROP TRIGGER decisions_kept ON academy_decision;
DROP TRIGGER decisions_superseded ON academy_decision;
DROP TRIGGER decisions_frozen ON academy_decision;
CREATE TRIGGER decisions_frozen BEFORE UPDATE ON academy_decision
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'kind', 'record_id', 'run_id', 'task_id', 'criterion_id', 'part', 'source', 'author',
        'author_version', 'author_digest', 'person_id', 'seat', 'state', 'value', 'reason',
        'confidence', 'suggestion_seen', 'probability', 'supersedes_id', 'made_at');
"""


class Migration(migrations.Migration):
    """Freezes the columns that were left, and refuses what would undo a decision."""

    dependencies = (("academy", "0010_pictures_of_records"),)
    operations = (migrations.RunSQL(KEEP, FREE),)
