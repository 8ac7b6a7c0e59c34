"""What every recipe must do, run on each that is found.

With PLUGIN_DIRS in the environment it is run on the recipes of these folders instead; see `manage.py check_plugin`.
"""

import io
import json
from decimal import Decimal

import pytest
from django.conf import settings

from hits import protocols, recipes
from hits.formats.files import rows
from hits.formats.files.faults import Faults, FormatErrors
from hits.items.verbs import importing
from hits.models import Item
from hits.projects.verbs.projects import create_project
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


def test_what_a_sample_is_drawn_from_is_there(recipe):
    draws_from = getattr(recipe.steps, "draws_from", None)
    keys = {stage.key for stage in recipe.stages}
    computed = {one.key for one in getattr(recipe.steps, "COMPUTATIONS", ())}
    for stage in [stage for stage in recipe.stages if stage.draws and draws_from]:
        source = draws_from(stage.key)
        assert source.stages and set(source.stages) <= keys - {stage.key}
        assert source.computation in computed | {""}


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


@pytest.mark.django_db
def test_its_sample_file_is_imported_as_it_is(recipe, django_user_model):
    assert recipe.sample, f"{recipe.name}: add a small file, sample.csv or the like, beside steps.py"
    lead = django_user_model.objects.create_user("lead")
    project = create_project("Sample", recipe.name, Decimal(5), "lab@example.org", lead)
    upload = importing.create_upload(project, recipe.sample.name, recipe.sample.content, "public", lead)
    items = importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.faults, upload.error) == ("done", [], "")
    assert items == Item.objects.filter(stage__project=project).count() > 0


@pytest.mark.parametrize("name", [name for name in NAMES if recipes.load(name, FOLDERS).table])
def test_a_table_of_it_is_read_whatever_names_its_columns_have(name):
    recipe = recipes.load(name, FOLDERS)
    assert all(field.says for field in recipe.table.fields) and len(set(recipe.table.names)) == len(recipe.table.names)
    given = {"max_bytes": 10**6, "default_origin": "public", "seed": 1, "options": recipe.options}
    plain = recipe.steps.read_documents(io.BytesIO(recipe.sample.content), name=recipe.sample.name, **given)
    with rows.opened(io.BytesIO(recipe.sample.content), recipe.sample.name) as table:
        mapping = {name: f"column {column}" for name, column in recipe.table.guess(table.columns).items()}
        lines = [{f"column {name}": text for name, text in cells.items()} for _, cells in table.rows(Faults())]
    renamed = "\n".join(map(json.dumps, lines)).encode()
    mapped = recipe.steps.read_documents(io.BytesIO(renamed), name="renamed.jsonl", mapping=mapping, **given)
    assert [(one.key, one.items) for one in mapped] == [(one.key, one.items) for one in plain]
