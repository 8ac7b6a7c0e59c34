"""The HIT type of a stage at the marketplace, and the project's own qualifications that it asks for."""

from __future__ import annotations

from hits.answers.rules import automatic_approval, task_words
from hits.models import Project, Qualification, Stage
from hits.mturk.gateway import SYSTEM_QUALIFICATIONS, Gateway, HitTypeSpec
from hits.pools import rules as pools
from hits.text.wording import _, gettext_noop
from hits.workers.rules.project_qualifications import POOR_QUALITY

# The marketplace's limit.
LONGEST_DESCRIPTION = 2000
# What workers read of the qualifications that no stage gives, with the name of the project.
QUALIFICATIONS = {
    POOR_QUALITY: gettext_noop(
        "Given to workers who are blocked or paused in the project “%(name)s”. While they have it, they get none of "
        "its HITs."
    )
}
_BY_HAND = gettext_noop(
    "Given by the project “%(name)s” to workers whom it names. It opens or closes HITs of this project."
)
_OF_POOL = gettext_noop(
    "Given by the project “%(name)s” to people whom it knows or has invited. It opens HITs that are only for them."
)


def ensure_hit_type(stage: Stage, market: Gateway) -> str:
    """One HIT type a stage, made once: any differing byte would split the group that workers see."""
    if not stage.hit_type_id:
        hit_type_id = market.create_hit_type(_spec(stage, market))
        # Nobody has asked for the events of this one yet.
        Stage.objects.filter(pk=stage.pk, hit_type_id="").update(hit_type_id=hit_type_id, events_to="")
        stage.refresh_from_db(fields=["hit_type_id", "events_to"])
    return stage.hit_type_id


def _spec(stage: Stage, market: Gateway) -> HitTypeSpec:
    return HitTypeSpec(
        title=stage.hit_title,
        description=stage.hit_description,
        keywords=stage.keywords,
        reward=stage.reward,
        assignment_seconds=stage.assignment_seconds,
        auto_approval_seconds=automatic_approval.marketplace_delay(stage),
        requirements=tuple(_requirement(stage, given, market) for given in stage.requirements),
    )


def _requirement(stage: Stage, given: dict, market: Gateway) -> dict:
    key = given["qualification"]
    found: dict = {
        "QualificationTypeId": SYSTEM_QUALIFICATIONS.get(key) or own_qualification(stage.project, key, market),
        "Comparator": given["comparator"],
        "ActionsGuarded": given.get("guards", "PreviewAndAccept"),
    }
    if given.get("integers"):
        found["IntegerValues"] = given["integers"]
    if given.get("locales"):
        found["LocaleValues"] = [{"Country": country} for country in given["locales"]]
    return found


def described(project: Project, key: str) -> str:
    """What workers read of a qualification that the project gives, by how it is given, in the language of its pages."""
    stages = list(project.stages.filter(crowd=True).order_by("position"))
    givers = [one for one in stages if one.grants == key] if key not in QUALIFICATIONS else []
    with task_words.spoken(_language(givers or stages)):
        return _described(project, key, givers)[:LONGEST_DESCRIPTION]


def _described(project: Project, key: str, givers: list[Stage]) -> str:
    name = project.name
    if pools.homes(project.pk, [key]):
        return _(_OF_POOL, name=name)
    tasks = _(" or ").join(_("“%(title)s”", title=one.hit_title) for one in givers)
    if not givers:
        return _(QUALIFICATIONS.get(key, _BY_HAND), name=name)
    if all(one.screening_share for one in givers):
        return _(
            "Your percentage of right answers in %(tasks)s of the project “%(name)s”.", tasks=tasks, name=project.name
        )
    return _(
        "Given to workers who have answered %(tasks)s, or whom the project “%(name)s” names.",
        tasks=tasks,
        name=project.name,
    )


def _language(stages: list[Stage]) -> str:
    """The one in which all of them have their pages; English where they differ or name none."""
    named = {stage.page_language for stage in stages}
    return (named.pop() if len(named) == 1 else "") or task_words.ENGLISH


def own_qualification_name(project: Project, key: str) -> str:
    """What the qualification of the project, or of one of its pools, is called at the marketplace: it is found again by
    that.
    """
    return f"{key.replace('-', ' ').capitalize()}: {project.name} ({project.namespace[:6]})"


def own_qualification(project: Project, key: str, market: Gateway) -> str:
    """The id of the project's qualification of that name: a test's, a pool's, or one made when it is wanted first."""
    test = project.qualification_tests.filter(key=key).first()
    if test:
        return test.qualification_type_id
    project = pools.home(project, key)
    existing = Qualification.objects.filter(project=project, key=key).first()
    if existing:
        return existing.qualification_type_id
    made = market.ensure_qualification_type(own_qualification_name(project, key), described(project, key))
    row, _was_made = Qualification.objects.get_or_create(
        project=project, key=key, defaults={"qualification_type_id": made}
    )
    return row.qualification_type_id
