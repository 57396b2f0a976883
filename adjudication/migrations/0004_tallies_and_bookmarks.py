"""How many items are in a state is kept by a trigger, and where somebody's way goes on."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

COUNT_ITEMS = """
CREATE FUNCTION adjudication_count_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO adjudication_itemtally AS t (queue_id, state, number)
            SELECT queue_id, state, count(*) FROM came GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (queue_id, state) DO UPDATE SET number = t.number + EXCLUDED.number;
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE adjudication_itemtally AS t SET number = t.number - d.number
            FROM (SELECT queue_id, state, count(*) AS number FROM went GROUP BY 1, 2) AS d
            WHERE t.queue_id = d.queue_id AND t.state = d.state;
    ELSE
        IF NOT EXISTS (SELECT 1 FROM came n JOIN went o USING (id)
                       WHERE (n.queue_id, n.state) IS DISTINCT FROM (o.queue_id, o.state)) THEN
            RETURN NULL;
        END IF;
        INSERT INTO adjudication_itemtally AS t (queue_id, state, number)
            SELECT DISTINCT n.queue_id, n.state, 0 FROM came n JOIN went o USING (id)
            WHERE (n.queue_id, n.state) IS DISTINCT FROM (o.queue_id, o.state)
            ORDER BY 1, 2
            ON CONFLICT (queue_id, state) DO NOTHING;
        -- In one order, so that two transactions never wait for each other.
        PERFORM 1 FROM adjudication_itemtally AS t WHERE (t.queue_id, t.state) IN (
            SELECT queue_id, state FROM came UNION SELECT queue_id, state FROM went
        ) ORDER BY t.id FOR UPDATE;
        UPDATE adjudication_itemtally AS t SET number = t.number + d.number
            FROM (SELECT queue_id, state, sum(one) AS number FROM (
                      SELECT n.queue_id, n.state, 1 AS one FROM came n JOIN went o USING (id)
                          WHERE (n.queue_id, n.state) IS DISTINCT FROM (o.queue_id, o.state)
                      UNION ALL
                      SELECT o.queue_id, o.state, -1 FROM came n JOIN went o USING (id)
                          WHERE (n.queue_id, n.state) IS DISTINCT FROM (o.queue_id, o.state)
                  ) AS moved GROUP BY 1, 2) AS d
            WHERE t.queue_id = d.queue_id AND t.state = d.state;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER items_came AFTER INSERT ON adjudication_reviewitem
    REFERENCING NEW TABLE AS came
    FOR EACH STATEMENT EXECUTE FUNCTION adjudication_count_items();
CREATE TRIGGER items_moved AFTER UPDATE ON adjudication_reviewitem
    REFERENCING OLD TABLE AS went NEW TABLE AS came
    FOR EACH STATEMENT EXECUTE FUNCTION adjudication_count_items();
CREATE TRIGGER items_went AFTER DELETE ON adjudication_reviewitem
    REFERENCING OLD TABLE AS went
    FOR EACH STATEMENT EXECUTE FUNCTION adjudication_count_items();

INSERT INTO adjudication_itemtally (queue_id, state, number)
    SELECT queue_id, state, count(*) FROM adjudication_reviewitem GROUP BY 1, 2;
"""
FORGET_ITEMS = """
DROP TRIGGER items_came ON adjudication_reviewitem;
DROP TRIGGER items_moved ON adjudication_reviewitem;
DROP TRIGGER items_went ON adjudication_reviewitem;
DROP FUNCTION adjudication_count_items;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("academy", "0009_bulk_exports"),
        ("adjudication", "0003_seat_comment"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # Nobody asks for all free seats; for those of an item the planner took it, and read all.
        migrations.RemoveIndex(model_name="seat", name="seats_by_state"),
        migrations.CreateModel(
            name="Bookmark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("role", models.CharField(default="reviewer", max_length=10)),
                ("priority", models.IntegerField(default=-2147483648)),
                ("item", models.BigIntegerField(default=0)),
                ("version", models.PositiveIntegerField(default=0)),
                ("taken", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="ItemTally",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("decided", "Waits for a third person"),
                            ("resolved", "Resolved"),
                            ("closed", "Closed"),
                            ("gold", "Gold"),
                        ],
                        max_length=10,
                    ),
                ),
                ("number", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name="reviewitem",
            name="answer",
            field=models.TextField(blank=True),
        ),
        migrations.AddIndex(
            model_name="reviewitem",
            index=models.Index(
                condition=models.Q(("state", "gold")), fields=["queue", "id"], name="gold_items"
            ),
        ),
        migrations.AddIndex(
            model_name="seat",
            index=models.Index(
                condition=models.Q(("state", "held")),
                fields=["item", "lease_until"],
                name="held_seats",
            ),
        ),
        migrations.AddIndex(
            model_name="skip",
            index=models.Index(
                condition=models.Q(("act", "defer")),
                fields=["user", "at", "id"],
                name="deferred_items",
            ),
        ),
        migrations.AddField(
            model_name="bookmark",
            name="queue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="adjudication.queue",
            ),
        ),
        migrations.AddField(
            model_name="bookmark",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="itemtally",
            name="queue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tallies",
                to="adjudication.queue",
            ),
        ),
        migrations.AddConstraint(
            model_name="bookmark",
            constraint=models.UniqueConstraint(
                fields=("queue", "user", "role"), name="one_bookmark"
            ),
        ),
        migrations.AddConstraint(
            model_name="itemtally",
            constraint=models.UniqueConstraint(
                fields=("queue", "state"), name="one_tally_per_state"
            ),
        ),
        migrations.RunSQL(COUNT_ITEMS, FORGET_ITEMS),
    ]
