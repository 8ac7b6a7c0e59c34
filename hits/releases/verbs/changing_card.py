"""A lead states licence, citation and a description of the collection, which its next releases name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from hits.core.action_log import record
from hits.models import Project
from hits.projects.rules.archived import refuse_archived
from hits.releases.rules.release_cards import checked


def change_card(project: Project, given: Mapping[str, Any], user: User | None) -> None:
    """State what is given (`hits.releases.rules.release_cards.FIELDS`); what is not given stays.

    Releases that were made stay what they are. Raises Refused (release_card_refused) and ArchivedError.
    """
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        refuse_archived(locked)
        wanted = checked(locked.card, given)
        if wanted != locked.card:
            changed = [name for name in (*wanted, *locked.card) if wanted.get(name) != locked.card.get(name)]
            locked.card = wanted
            locked.save(update_fields=["card"])
            record(locked, user, "changed the card of releases", detail={"changed": list(dict.fromkeys(changed))})
    project.card = wanted
