"""Serials come from a sequence, public keys stay, and a certificate's document never changes."""

from __future__ import annotations

from django.db import migrations, models

SEQUENCE = "CREATE SEQUENCE leaderboard_certificate_serial"
DROP = "DROP SEQUENCE leaderboard_certificate_serial"
FREEZE = """
CREATE TRIGGER certificates_frozen BEFORE UPDATE ON leaderboard_certificate
    FOR EACH ROW EXECUTE FUNCTION academy_freeze_columns(
        'serial', 'board_id', 'run_id', 'snapshot_id', 'window_id', 'tier', 'document',
        'issued_at', 'expires_at');
CREATE TRIGGER certificates_kept BEFORE DELETE ON leaderboard_certificate
    FOR EACH ROW EXECUTE FUNCTION academy_refuse();
CREATE TRIGGER keys_kept BEFORE UPDATE OR DELETE ON leaderboard_signingkey
    FOR EACH ROW EXECUTE FUNCTION academy_refuse();
"""


class Migration(migrations.Migration):
    """Runs after the tables of certificates exist."""

    dependencies = (("leaderboard", "0002_frozen_snapshots_and_search"),)
    operations = (
        migrations.CreateModel(
            name="SigningKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=16, unique=True)),
                ("pem", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.RunSQL(SEQUENCE, DROP),
        migrations.RunSQL(FREEZE, migrations.RunSQL.noop),
    )
