import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

AT_ONCE = 1000


def owners_become_members(apps, schema_editor):
    """Whoever owned a project keeps everything: the role owner."""
    Project, Membership = apps.get_model("hits", "Project"), apps.get_model("hits", "Membership")
    pairs = Project.owners.through.objects.order_by("pk").values_list("project_id", "user_id")
    Membership.objects.bulk_create(
        (Membership(project_id=project, user_id=user, role="owner") for project, user in pairs), batch_size=AT_ONCE
    )


def owning_members_become_owners(apps, schema_editor):
    """Only owners are kept: whoever had another role had no access before there were roles."""
    Project, Membership = apps.get_model("hits", "Project"), apps.get_model("hits", "Membership")
    owner = Project.owners.through
    pairs = Membership.objects.filter(role="owner").order_by("pk").values_list("project_id", "user_id")
    owner.objects.bulk_create(
        (owner(project_id=project, user_id=user) for project, user in pairs), batch_size=AT_ONCE
    )


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("hits", "0027_inputs_of_stages"),
    ]

    operations = [
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("manager", "Manager"),
                            ("reviewer", "Reviewer"),
                            ("reader", "Reader"),
                        ],
                        max_length=8,
                    ),
                ),
                ("since", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="hits.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(models.F("project"), models.F("user"), name="member_once_a_project")
                ],
            },
        ),
        migrations.RunPython(owners_become_members, owning_members_become_owners),
        migrations.RemoveField(model_name="project", name="owners"),
    ]
