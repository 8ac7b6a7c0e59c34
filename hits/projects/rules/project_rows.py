"""The rows of a new project: its stages and tests, and items copied from another project."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from types import MappingProxyType
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from common.names import hidden_sign
from hits.accounts.rules.lead_limits import refuse_above, refuse_guest
from hits.items.models import Document, Item
from hits.items.rules import media
from hits.judging.rules.summaries import refresh_summary
from hits.model_assist.models import Suggestion
from hits.payments.models import Account
from hits.people.models import Terms
from hits.pools import rules as pools
from hits.projects.models import Membership, Project
from hits.projects.rules.plugins import check_crowds
from hits.publishing.rules import check_questions
from hits.recipes import Recipe, StageSettings, TestSpec
from hits.stages.models import Stage, StageSummary
from hits.stages.rules.stage_tables import columns_of
from hits.workers.models import QualificationTest

COPIED_AT_ONCE = 1000


def create(
    recipe: Recipe,
    *,
    name: str,
    budget: Decimal,
    contact_email: str,
    owner: User,
    options: Mapping[str, Any],
    stages: Sequence[StageSettings],
    tests: Sequence[TestSpec],
    seed: int | None,
    card: Mapping[str, str] = MappingProxyType({}),
    terms: str = "",
    limited: bool = True,
) -> Project:
    """A project with these stages, nothing published, and these qualification tests about to be offered.

    `card` is what `hits.releases.rules.release_cards.checked` gives, and `terms` what `hits.people.rules.terms.checked`
    does. Not `limited` is what a command of the server makes, whatever its owner may budget in all.

    Raises hits.protocols errors for settings that do not fit, Refused (guest, above_lead_limit), and
    Refused (pool_refused) where stages ask for pools that the owner may not use.
    """
    check_crowds(recipe)
    refuse_guest(owner)
    with transaction.atomic():
        project = Project.objects.create(
            name=name,
            slug=_free_slug(name),
            recipe=recipe.name,
            options=recipe.options_with(options),
            namespace=secrets.token_hex(8),
            seed=secrets.randbelow(2**31) if seed is None else seed,
            contact_email=contact_email,
            card=dict(card),
        )
        refuse_above([owner], budget, owner if limited else None)
        Membership.objects.create(project=project, user=owner, role=Membership.Role.OWNER)
        Account.objects.create(project=project, budget=budget)
        if terms:
            Terms.objects.create(project=project, version=1, text=terms, made_by=owner)
        for position, spec in enumerate(stages, start=1 if stages[0].crowd else 0):
            create_stage(project, position, spec)
        asked = [one for stage in project.stages.all() for one in stage.requirements]
        pools.admit(project, owner if limited else None, asked)
        for test in tests:
            _create_test(project, test, owner)
    return project


def check_visible(name: str) -> None:
    """A validator of forms and serializers: raises Django's ValidationError for a name with signs that are not seen."""
    if code := hidden_sign(name):
        raise ValidationError(f"This name holds a sign that cannot be seen ({code}). Leave it out.")


def _free_slug(name: str) -> str:
    base = slugify(name)[:100] or "project"
    slug, number = base, 1
    while Project.objects.filter(slug=slug).exists():
        number += 1
        slug = f"{base}-{number}"
    return slug


def create_stage(project: Project, position: int, spec: StageSettings) -> Stage:
    stage = Stage.objects.create(project=project, key=spec.key, position=position, **columns_of(spec))
    StageSummary.objects.create(stage=stage)
    return stage


def _create_test(project: Project, test: TestSpec, owner: User) -> None:
    """Written down as one that shall be offered: `testing.finish` tells the marketplace."""
    QualificationTest.objects.create(
        project=project,
        questions=list(test.questions),
        created_by=owner,
        state=QualificationTest.State.OFFERING,
        **vars(test.details),
    )


def copy_items(source: Project, target: Project) -> int:
    """Copy what was imported, documents, their items and media, to be published; returns how many items.

    What followed from answers is left out. Its cost in memory does not grow with the project.
    """
    stages = {stage.key: stage for stage in target.stages.all()}
    kinds = {key: check_questions.kind_of(stage) for key, stage in stages.items()}
    copied = 0
    with transaction.atomic():
        media.copy(source, target)
        for documents in _parts(source):
            made = Document.objects.bulk_create(
                Document(project=target, key=one.key, origin=one.origin, purpose=one.purpose, data=one.data)
                for one in documents
            )
            new = {old.pk: row for old, row in zip(documents, made, strict=True)}
            imported = Item.objects.filter(document__in=list(new), parent=None, source=None)
            rows = imported.select_related("stage", "document").prefetch_related("suggestions").order_by("pk")
            sources = [one for one in rows if one.stage.key in stages]
            items = [
                Item(
                    stage=stages[one.stage.key],
                    document=new[one.document_id],
                    key=one.key,
                    data=one.data,
                    figures=one.figures,
                    priority=one.priority,
                    conclusion="" if one.stage.crowd else one.conclusion,
                    state=kinds[one.stage.key](one.document.data, one.data),
                )
                for one in sources
            ]
            Item.objects.bulk_create(items, batch_size=COPIED_AT_ONCE)
            Suggestion.objects.bulk_create(
                Suggestion(item=item, field=one.field, value=one.value, score=one.score, model=one.model)
                for source, item in zip(sources, items, strict=True)
                for one in source.suggestions.all()
            )
            copied += len(items)
        for stage in stages.values():
            refresh_summary(stage)
    return copied


def _parts(source: Project) -> Iterator[list[Document]]:
    """Documents that a worker wrote have items of later stages only: they are left out."""
    rows = source.documents.filter(items__parent=None, items__source=None).distinct().order_by("pk").iterator()
    while part := list(islice(rows, COPIED_AT_ONCE)):
        yield part
