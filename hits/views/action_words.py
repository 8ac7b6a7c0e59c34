"""Actions as pages tell them: settings by the names and units that their fields have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hits.models import Action, Project
from hits.recipes.stage_settings import SETTINGS
from hits.stages.pages.settings_form import said_of
from hits.stages.verbs.stage_settings import CHANGED
from hits.views import navigation


def told(project: Project, actions: Iterable[Action]) -> list[tuple[Action, str]]:
    """Each with what it was about. So many queries, however many actions there are."""
    titles = {stage.key: stage.title for stage in navigation.stages_of(project)}
    qualifications = navigation.qualification_titles(project)
    return [(action, _about(action, titles, qualifications)) for action in actions]


def _about(action: Action, titles: Mapping[str, str], qualifications: Mapping[str, str]) -> str:
    if action.verb == CHANGED and "values" in action.detail:
        pairs = action.detail["values"].items()
        return "; ".join(
            f"{_label(name)}: {' → '.join(said_of(name, one, titles, qualifications) for one in shown)}"
            for name, change in pairs
            for shown in [_differing(change) if name == "requirements" else change]
        )
    if "changed" in action.detail:
        return ", ".join(_label(name) for name in action.detail["changed"])
    return action.about


def _label(name: str) -> str:
    return SETTINGS[name].label if name in SETTINGS else name.replace("_", " ")


def _differing(change: Sequence[list[Any]]) -> list[list[Any]]:
    """The requirements before and after, without those that stayed: they are many words."""
    before, after = change
    return [[one for one in before if one not in after], [one for one in after if one not in before]]
