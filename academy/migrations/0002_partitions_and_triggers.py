"""Records are partitioned by ranges of their id; what is published or said does not change."""

from __future__ import annotations

from django.db import migrations

PARTITION = """
ALTER TABLE academy_instancerecord RENAME TO academy_instancerecord_plain;
CREATE TABLE academy_instancerecord
    (LIKE academy_instancerecord_plain INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
    PARTITION BY RANGE (id);
DROP TABLE academy_instancerecord_plain CASCADE;
ALTER TABLE academy_instancerecord ADD PRIMARY KEY (id);
CREATE TABLE academy_instancerecord_default PARTITION OF academy_instancerecord DEFAULT;
ALTER TABLE academy_instancerecord
    ADD CONSTRAINT record_run FOREIGN KEY (run_id) REFERENCES academy_run (id)
        DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT record_task FOREIGN KEY (task_id) REFERENCES academy_task (id)
        DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT record_pack FOREIGN KEY (pack_id) REFERENCES academy_pack (id)
        DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE academy_reportedscore ADD CONSTRAINT reported_record FOREIGN KEY (record_id)
    REFERENCES academy_instancerecord (id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE academy_decision ADD CONSTRAINT decision_record FOREIGN KEY (record_id)
    REFERENCES academy_instancerecord (id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE academy_score ADD CONSTRAINT score_record FOREIGN KEY (record_id)
    REFERENCES academy_instancerecord (id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE academy_finding ADD CONSTRAINT finding_record FOREIGN KEY (record_id)
    REFERENCES academy_instancerecord (id) DEFERRABLE INITIALLY DEFERRED;
"""

FUNCTIONS = """
CREATE FUNCTION academy_freeze_columns() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE frozen text;
BEGIN
    FOREACH frozen IN ARRAY TG_ARGV LOOP
        IF to_jsonb(OLD) -> frozen IS DISTINCT FROM to_jsonb(NEW) -> frozen THEN
            RAISE EXCEPTION 'column % of % does not change once written', frozen, TG_TABLE_NAME
                USING ERRCODE = 'restrict_violation';
        END IF;
    END LOOP;
    RETURN NEW;
END $$;

CREATE FUNCTION academy_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION academy_freeze_version_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE held record;
BEGIN
    SELECT state, mode, frozen_at INTO held FROM academy_suiteversion
        WHERE id = COALESCE(NEW.version_id, OLD.version_id);
    IF held.state IS NULL OR held.state = 'draft' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    IF held.mode = 'collection' AND held.frozen_at IS NULL THEN
        IF TG_OP = 'INSERT' THEN
            RETURN NEW;
        END IF;
        IF TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'academy_task'
                AND to_jsonb(OLD) - 'gradings' - 'digest' = to_jsonb(NEW) - 'gradings' - 'digest' THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a published version does not change (% of %)', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION academy_freeze_task_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE held record;
BEGIN
    SELECT v.state, v.mode, v.frozen_at INTO held FROM academy_suiteversion v
        JOIN academy_task t ON t.version_id = v.id WHERE t.id = COALESCE(NEW.task_id, OLD.task_id);
    IF held.state IS NULL OR held.state = 'draft' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    IF TG_OP = 'INSERT' AND held.mode = 'collection' AND held.frozen_at IS NULL THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a published version does not change (% of %)', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION academy_freeze_published_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE frozen text;
BEGIN
    IF OLD.state = 'draft' THEN
        RETURN NEW;
    END IF;
    FOREACH frozen IN ARRAY ARRAY['suite_id', 'name', 'title', 'description', 'mode', 'sealed',
            'source_digest', 'thresholds', 'limits', 'attributes', 'extra', 'published_at'] LOOP
        IF to_jsonb(OLD) -> frozen IS DISTINCT FROM to_jsonb(NEW) -> frozen THEN
            RAISE EXCEPTION 'column % of a published version does not change', frozen
                USING ERRCODE = 'restrict_violation';
        END IF;
    END LOOP;
    IF OLD.digest <> NEW.digest AND (OLD.mode <> 'collection' OR OLD.frozen_at IS NOT NULL) THEN
        RAISE EXCEPTION 'the digest of a published version does not change'
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.state = 'draft' THEN
        RAISE EXCEPTION 'a published version does not become a draft again'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
"""

TRIGGERS = """
CREATE TRIGGER version_frozen BEFORE UPDATE ON academy_suiteversion
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_published_version();
CREATE TRIGGER tasks_frozen BEFORE INSERT OR UPDATE OR DELETE ON academy_task
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_version_parts();
CREATE TRIGGER metrics_frozen BEFORE INSERT OR UPDATE OR DELETE ON academy_metric
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_version_parts();
CREATE TRIGGER criteria_frozen BEFORE INSERT OR UPDATE OR DELETE ON academy_criterion
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_task_parts();
CREATE TRIGGER keys_frozen BEFORE UPDATE ON academy_answerkey
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'task_id', 'revision', 'content', 'salt', 'commitment');
CREATE TRIGGER blobs_frozen BEFORE UPDATE ON academy_blob
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns('digest', 'size', 'content');
CREATE TRIGGER runs_frozen BEFORE UPDATE ON academy_run
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'version_id', 'entrant_id', 'kind', 'form', 'external_id', 'attempt', 'arm', 'scenario',
        'header', 'limits', 'created_at');
CREATE TRIGGER records_frozen BEFORE UPDATE ON academy_instancerecord
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'id', 'run_id', 'task_id', 'replicate', 'variant', 'status', 'content_digest');
CREATE TRIGGER decisions_frozen BEFORE UPDATE ON academy_decision
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'kind', 'record_id', 'run_id', 'task_id', 'criterion_id', 'part', 'source', 'author',
        'author_version', 'author_digest', 'person_id', 'seat', 'state', 'value', 'reason',
        'confidence', 'suggestion_seen', 'supersedes_id', 'made_at');
CREATE TRIGGER scores_frozen BEFORE UPDATE ON academy_score
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'record_id', 'metric_id', 'mode', 'scoring_pass_id', 'revision', 'scorer',
        'scorer_version', 'status', 'value', 'credit', 'passed', 'measures', 'note');
CREATE TRIGGER passes_frozen BEFORE UPDATE ON academy_scoringpass
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'version_id', 'number', 'scorers', 'key_revisions', 'struck', 'evidence', 'digest');
CREATE TRIGGER events_frozen BEFORE UPDATE ON academy_runevent
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'run_id', 'state', 'reason', 'at');
CREATE TRIGGER trail_frozen BEFORE UPDATE ON academy_auditevent
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'at', 'actor_id', 'act', 'subject', 'reason', 'details');
CREATE TRIGGER trail_kept BEFORE DELETE ON academy_auditevent
    FOR EACH ROW EXECUTE FUNCTION academy_refuse();
CREATE TRIGGER exposures_kept BEFORE UPDATE OR DELETE ON academy_exposure
    FOR EACH ROW EXECUTE FUNCTION academy_refuse();
"""


class Migration(migrations.Migration):
    """Runs after the tables exist and before other apps point at records."""

    dependencies = (("academy", "0001_initial"),)
    operations = (
        migrations.RunSQL(PARTITION, migrations.RunSQL.noop),
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGERS, migrations.RunSQL.noop),
    )
