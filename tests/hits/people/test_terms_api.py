"""The terms of a project through the API."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from hits.judging.rules.summaries import refresh_summary
from hits.models import Stage
from tests.hits import factories as make
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import logged

pytestmark = pytest.mark.django_db
HOME = "/api/projects/river/"


def test_they_are_written_listed_and_withdrawn(api: APIClient, river_stage: Stage) -> None:
    assert api.get(HOME + "terms/").json() == {"results": [], "not_asked_in": []}
    make.stage(river_stage.project, key="own", protocol="html_page")
    for text in ("First.", "  Second, *indented*.\n", "  Second, *indented*."):
        assert api.put(HOME + "terms/", {"text": text}, format="json").status_code == 200
    make.assignment(make.hit(make.item(river_stage)), terms=river_stage.project.terms.get(version=1))
    refresh_summary(river_stage)
    found = api.get(HOME + "terms/").json()
    second, first = found["results"]
    assert (second["version"], second["text"], second["ended_at"], second["made_by"], second["answers"]) == (
        2, "  Second, *indented*.", None, "alice", 0,
    )  # fmt: skip
    assert (first["version"], first["ended_at"], first["answers"]) == (1, second["made_at"], 1)
    assert found["not_asked_in"] == ["own"]
    assert api.delete(HOME + "terms/").status_code == 204
    assert api.get(HOME + "terms/").json()["results"][0]["ended_at"]
    refused(api.delete(HOME + "terms/"), 409, "no_terms")
    assert logged(river_stage.project) == ["changed the terms for workers"] * 2 + ["withdrew the terms for workers"]


def test_an_answer_names_the_version_of_its_worker(api: APIClient, river_stage: Stage) -> None:
    version = make.terms(river_stage.project)
    for terms in (version, None):
        make.assignment(make.hit(make.item(river_stage)), terms=terms)
    rows = api.get(HOME + f"stages/{river_stage.key}/answers/").json()["results"]
    assert [row["terms_version"] for row in rows] == [1, None]


def test_of_earlier_versions_a_list_has_the_beginning_and_a_version_alone_is_whole(river_stage, api):
    for number in (1, 2):
        make.terms(river_stage.project, text=f"{number} " + "x" * 19_990)
    standing, earlier = api.get(HOME + "terms/").json()["results"]
    assert (standing["version"], len(standing["text"])) == (2, 19_992)
    assert (len(earlier["text"]) <= 1000, earlier["text"].endswith(" more characters were cut off]")) == (True, True)
    (alone,) = api.get(HOME + "terms/?version=1").json()["results"]
    assert alone["text"] == "1 " + "x" * 19_990
    assert api.get(HOME + "terms/?version=3").json()["results"] == []
