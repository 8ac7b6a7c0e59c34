"""What every recipe must do, run on each that is found.

With PLUGIN_DIRS in the environment it is run on the recipes of these folders instead; see `manage.py check_plugin`.
"""

import io

import pytest
from django.conf import settings

from hits import protocols, recipes
from hits.formats.faults import FormatErrors
from hits.protocols.base import CrowdlessProtocol

FOLDERS = [folder / "recipes" for folder in settings.PLUGIN_DIRS]
OWN = recipes.available()
NAMES = [name for name in recipes.available(FOLDERS) if name not in OWN] if FOLDERS else OWN
HOSTILE = [b"", b"\n", b"\xff\xfe", b"\0" * 100, b"[" * 5_000, b"{}", b"[1]", b"PK\x03\x04"]


@pytest.fixture(params=NAMES)
def recipe(request):
    return recipes.load(request.param, FOLDERS)


def test_its_stages_have_protocols_that_take_their_settings(recipe):
    assert recipe.stages
    for stage in recipe.stages:
        protocol = protocols.get(stage.protocol, settings.PLUGIN_ROOTS)
        assert protocol.settings(protocol.settings(stage.settings)) == protocol.settings(stage.settings)
        assert isinstance(protocol, CrowdlessProtocol) != stage.crowd


def test_its_options_stand_and_are_described(recipe):
    assert recipe.options_with(recipe.options) == recipe.options
    assert all(recipe.described[name].label and recipe.described[name].help for name in recipe.options)


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_file_of_its_kind_is_refused_with_sentences(recipe, content):
    given = {"max_bytes": 10_000, "default_origin": "public", "seed": 1, "options": recipe.options}
    with pytest.raises(FormatErrors) as refused:
        recipe.steps.read_documents(io.BytesIO(content), name="file.txt", **given)
    assert refused.value.errors and all(fault.message for fault in refused.value.errors)


def test_it_marks_each_document_and_the_same_seed_marks_alike(recipe):
    documents = [(f"d{number}", "public") for number in range(20)]
    marked = recipe.steps.mark(documents, seed=3, options=recipe.options)
    assert set(marked) == {key for key, _ in documents} and all(marked.values())
    assert recipe.steps.mark(documents, seed=3, options=recipe.options) == marked
