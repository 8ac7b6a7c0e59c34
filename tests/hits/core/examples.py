"""For each declared verb what the contract suite needs to do it once: a row, and values that are taken.

A verb without an example fails the suite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from hits.models import (
    Assignment,
    BonusFile,
    Grant,
    Membership,
    ModelAnnotator,
    Pool,
    PoolLink,
    PoolUse,
    Project,
    QualificationTest,
)
from hits.payments.verbs import ordering_bonuses
from tests.hits import factories as make
from tests.hits import models_that_answer as asked

CSV = b"assignment_id,amount,reason\n%s,0.50,Clear.\n"
# Of the internet at large, so that no name is looked up.
ADDRESS = "https://93.184.216.34/hook"


def pool(project: Project) -> Pool:
    return make.pool(project, make.worker())


def pool_member(project: Project) -> Grant:
    return pool(project).members.get()


def pool_link(project: Project) -> PoolLink:
    return pool(project).links.get()


def _lake(project: Project) -> Project:
    """Another project with the same members."""
    if found := Project.objects.filter(slug="lake").first():
        return found
    lake = make.project(slug="lake")
    lake.memberships.all().delete()
    for one in project.memberships.all():
        make.member(lake, one.user, one.role)
    return lake


def pool_to_share(project: Project) -> Pool:
    _lake(project)
    return pool(project)


def shared_pool(project: Project) -> Pool:
    row = pool(project)
    PoolUse.objects.create(pool=row, project=_lake(project))
    return row


def project_that_grants(project: Project) -> Project:
    if not project.stages.filter(grants="part-one").exists():
        make.stage(project, key="part", grants="part-one")
    return project


def test_with_known_item(project: Project) -> QualificationTest:
    choices = [{"id": "a", "text": "Mara"}, {"id": "b", "text": "Nobody"}]
    stage = project.stages.first() or make.stage(project)
    make.item(stage, data={"question": "Who?", "choices": choices, "gold": ["b"]}, state="kept")
    return make.qualification_test(project)


def pool_and_best(project: Project) -> Pool:
    if not project.stages.filter(key="judge").exists():
        stage = make.stage(project, key="judge")
        make.worker_stat(stage, make.worker("ABEST"), scored=40, correct=39, answers=40)
    return pool(project)


def answer(project: Project) -> Assignment:
    stage = project.stages.filter(key="validate").first() or make.stage(project, key="validate")
    return make.assignment(make.hit(make.item(stage)), assignment_id="3PAID")


def project_with_answer(project: Project) -> Project:
    answer(project)
    return project


def checked_file(project: Project) -> BonusFile:
    row = make.bonus_file(project, CSV % answer(project).assignment_id.encode())
    return ordering_bonuses.work_file(row.pk)


def reader(project: Project) -> Membership:
    found = Membership.objects.filter(project=project, user__username="rita").first()
    return found or make.member(project, make.user("rita"), "reader")


def project_and_newcomer(project: Project) -> Project:
    if not User.objects.filter(username="nora").exists():
        make.user("nora")
    return project


def model(project: Project) -> ModelAnnotator:
    return asked.model(project, version=str(project.model_annotators.count()))


def model_given_too_often(project: Project) -> ModelAnnotator:
    row, stage = model(project), project.stages.filter(key="ask").first() or asked.stage(project, key="ask")
    asked.item(stage, key=f"row-{row.pk}")
    asked.given_too_often(row, stage)
    return row


# By the name of what a verb or list is about, or of the verb itself.
ROWS: dict[str, Callable[[Project], Any]] = {
    "project": lambda project: project,
    "webhook": make.webhook,
    "message": lambda project: make.webhook_delivery(make.webhook(project), state="delivered"),
    "pool": pool,
    "member": pool_member,
    "link": pool_link,
    "membership": reader,
    "invitation": lambda project: make.invitation(project, f"token {project.invitations.count()}"),
    "model": model,
    "template": make.message_template,
    "release": make.release,
    "answer": answer,
    "file": checked_file,
    "grant": make.grant,
    "test": make.qualification_test,
    "qualification_tests.draw": test_with_known_item,
    "qualification_tests.withdraw": lambda project: make.qualification_test(project, state="offered"),
    "grants.give": project_that_grants,
    "order": lambda project: make.bonus(answer(project)).order,
    "compensation": make.compensation,
    "bonuses.create": project_with_answer,
    "models.give_again": model_given_too_often,
    "members.add": project_and_newcomer,
    "pools.share": pool_to_share,
    "pools.stop_sharing": shared_pool,
    "pools.add_best": pool_and_best,
    "pools.take_up": lambda project: make.pool(project, archived_at=timezone.now()),
}
CONFIRMED = {"total": "0.60", "confirmation": "page-001"}
BONUS = {"amount": "0.50", "reason": "Clear."}
VALUES: dict[str, dict[str, Any]] = {
    "bonuses.create": {"bonuses": [{"assignment_id": "3PAID", **BONUS}], **CONFIRMED},
    "bonuses.pay": {**BONUS, **CONFIRMED},
    "bonus_files.create": {"file": SimpleUploadedFile("march.csv", CSV % b"3PAID")},
    "bonus_files.order": CONFIRMED,
    "compensations.create": {"worker_id": "AUNLUCKY1", **BONUS, **CONFIRMED},
    "compensations.withdraw": {},
    "members.add": {"username": "nora", "role": "owner"},
    "members.change_role": {"role": "reviewer"},
    "members.may_budget": {"may_budget": "20.00"},
    "members.remove": {},
    "grants.give": {"key": "part-one", "worker_ids": ["A1B2C3"]},
    "grants.withdraw": {},
    "qualification_tests.create": {"key": "reading-test", "title": "Reading", "description": "Opens a stage."},
    "qualification_tests.change": {"pass_mark": 60},
    "qualification_tests.draw": {"count": 3},
    "qualification_tests.fetch": {},
    "qualification_tests.offer": {"fingerprint": make.test_fingerprint()},
    "qualification_tests.remove": {},
    "qualification_tests.withdraw": {},
    "invitations.create": {"role": "reader", "email": "", "days": 7},
    "invitations.resend": {},
    "invitations.revoke": {},
    "message_templates.make": {"name": "Thanks", "subject": "Thank you", "text": "Hello {worker}."},
    "message_templates.change": {"name": "Thanks", "subject": "Thank you", "text": "Hello {worker}."},
    "message_templates.remove": {},
    "models.register": {"name": "small-bert", "version": "2", "cost_per_answer": "0.0004"},
    "models.end": {},
    "models.give_again": {},
    "projects.rename": {"name": "Streams"},
    "releases.withdraw": {"reason": "Its test set leaked."},
    "webhooks.add": {"address": ADDRESS, "events": ["item.decided"]},
    "webhooks.change": {"active": False},
    "webhooks.rotate": {},
    "webhooks.end": {},
    "webhooks.test": {},
    "webhooks.send_again": {},
    "pools.create": {"name": "Students 2026"},
    "pools.rename": {"name": "People"},
    "pools.archive": {},
    "pools.take_up": {},
    "pools.add": {"worker_ids": ["A1B2C3"]},
    "pools.add_best": {"stage": "judge", "by": "known", "least": 1, "top": 5},
    "pools.remove": {},
    "pools.share": {"project": "lake"},
    "pools.stop_sharing": {"project": "lake"},
    "pools.make_link": {"uses": 2, "days": 1, "note": "Mondays"},
    "pools.revoke_link": {},
    "pools.fetch": {},
}
