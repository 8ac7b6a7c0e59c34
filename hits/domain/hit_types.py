"""The HIT type of a stage at the marketplace, and the project's own qualifications that it asks for."""

from __future__ import annotations

from hits.models import Project, Qualification, Stage
from hits.mturk.gateway import SYSTEM_QUALIFICATIONS, Gateway, HitTypeSpec

QUALIFICATIONS = {
    "poor-quality": "Answers in earlier tasks of this project were, on average, much less accurate than other workers'."
}


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
        auto_approval_seconds=stage.auto_approval_seconds,
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


def own_qualification(project: Project, key: str, market: Gateway) -> str:
    """The id of the project's qualification of that name: a test's, or one made when it is wanted first."""
    test = project.qualification_tests.filter(key=key).first()
    if test:
        return test.qualification_type_id
    existing = Qualification.objects.filter(project=project, key=key).first()
    if existing:
        return existing.qualification_type_id
    name = f"{key.replace('-', ' ').capitalize()}: {project.name} ({project.namespace[:6]})"
    made = market.ensure_qualification_type(name, QUALIFICATIONS.get(key, f"Granted by the project {project.name}."))
    row, _ = Qualification.objects.get_or_create(project=project, key=key, defaults={"qualification_type_id": made})
    return row.qualification_type_id
