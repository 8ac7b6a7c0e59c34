"""Shapes of releases and results."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from hits.api.shapes import Shape, UsernameField
from hits.core.targets import Target
from hits.formats.outputs.licences import LICENCES, OWN
from hits.items.api.shapes import LONGEST_MAPPING, MappingField, TextFile
from hits.items.rules.results_forms import KINDS
from hits.models import EvaluatedSystem, Release
from hits.releases.rules import release_folders
from hits.releases.rules.release_cards import LONGEST, RELEASED, TEXTS
from hits.releases.verbs import exporting
from hits.releases.verbs.evaluating import LONGEST_NAME

TAG = "Releases"
RELEASE = Target(
    "release",
    Release,
    "releases/<int:number>/",
    lambda project: project.releases.select_related("created_by", "project"),
    # Two that name each other as the one to use instead are withdrawn one after the other.
    project_first=True,
)


class ReleaseCardShape(Shape):
    licence = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=LONGEST["licence"],
        help_text=f"{', '.join(LICENCES)}, or {OWN} with `terms`; empty: none is stated.",
    )
    terms = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST["terms"], help_text="The text of a licence of one's own."
    )

    single_answers = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=LONGEST["single_answers"],
        help_text=f"`{RELEASED}`: releases have every answer to the items of train and dev; empty: they do not.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        texts = {
            name: serializers.CharField(
                required=False, allow_blank=True, max_length=asked.longest, help_text=f"{asked.label} {asked.help}"
            )
            for name, asked in TEXTS.items()
        }
        return {**super().get_fields(), **texts}


class LicenceShape(Shape):
    """One of the usual ones has `spdx`, `title` and `url`, one of the lead's own `file` and `text`."""

    spdx = serializers.CharField(required=False)
    title = serializers.CharField(required=False)
    url = serializers.URLField(required=False)
    file = serializers.CharField(required=False)
    text = serializers.CharField(required=False)


class PreviewShape(Shape):
    """What a release made now would hold."""

    why_empty = serializers.CharField(help_text="Why it would hold nothing and what to do; empty otherwise.")
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Items a split.")
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="Reason to items.")
    statistics = serializers.DictField()
    notes = serializers.ListField(child=serializers.CharField())
    scores = serializers.DictField()
    collection = serializers.ListField(
        child=serializers.DictField(),
        help_text="Of each stage what was asked, kept and dropped by reason, its answers, workers, blocked ones, "
        "median seconds and wage an hour in dollars.",
    )
    aggregated = serializers.ListField(
        child=serializers.DictField(),
        help_text="Of each stage with aggregated values: the methods by unit, when they were computed, over how many "
        "answers, and whether those are not all.",
    )
    worker_terms = serializers.DictField(
        allow_null=True,
        help_text="`versions`: of each version of the terms that answers name, or that stands, the `file` with its "
        "text, `from`, `until` and the number of `answers`; `answers_under_none`. null: the project has no terms.",
    )
    licence = LicenceShape(allow_null=True, help_text="null: none is stated.")
    citation = serializers.CharField(allow_null=True)
    description = serializers.CharField(allow_null=True)


class ReleaseShape(Shape):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    digest = serializers.CharField(help_text="SHA-256 of the manifest file's bytes.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True, help_text="null: it stands.")
    withdrawn_reason = serializers.CharField()
    successor = serializers.IntegerField(
        source="successor.number", default=None, allow_null=True, help_text="The number of the release to use instead."
    )


class ArchiveQuery(Shape):
    without_keys = serializers.BooleanField(default=False, help_text="For publishing: without the answers of test.")


class ReleaseFileShape(Shape):
    name = serializers.CharField()
    bytes = serializers.IntegerField(source="blob.size")
    sha256 = serializers.CharField(source="blob.sha256")
    is_key = serializers.SerializerMethodField(help_text="It has the answers of test and is no part of the folder.")
    url = serializers.SerializerMethodField()

    def get_is_key(self, file: Any) -> bool:
        return bool(file.name == release_folders.key_of(file.release.project))

    @extend_schema_field(serializers.URLField())
    def get_url(self, file: Any) -> str:
        release = file.release
        return reverse(
            "api:release-file", [release.project.slug, release.number, file.name], request=self.context["request"]
        )


class SystemScoreShape(Shape):
    measure = serializers.CharField()
    division = serializers.CharField(help_text="Such as `type of question`; empty: over all items.")
    part = serializers.CharField()
    n = serializers.IntegerField(help_text="Items.")
    value = serializers.FloatField(help_text="0 to 1.")
    low = serializers.FloatField(help_text="Of the 95 % interval of a bootstrap over items.")
    high = serializers.FloatField()


class SystemShape(Shape):
    name = serializers.CharField()
    kind = serializers.ChoiceField(EvaluatedSystem.Kind.choices)
    file = serializers.CharField()
    split = serializers.CharField()
    method = serializers.CharField(help_text="Of a baseline: where it comes from.")
    seed = serializers.IntegerField(allow_null=True)
    scores = SystemScoreShape(many=True)
    created_at = serializers.DateTimeField()


class ReleaseDetailShape(ReleaseShape):
    manifest = serializers.DictField()
    systems = serializers.SerializerMethodField(help_text="Which were evaluated on it.")
    files = serializers.SerializerMethodField()

    @extend_schema_field(SystemShape(many=True))
    def get_systems(self, release: Release) -> list[dict[str, Any]]:
        # The sums of each item are megabytes in a large release.
        return list(SystemShape(release.systems.defer("sums"), many=True).data)

    @extend_schema_field(ReleaseFileShape(many=True))
    def get_files(self, release: Release) -> list[dict[str, Any]]:
        files = release.files.select_related("blob", "release__project")
        return list(ReleaseFileShape(files, many=True, context=self.context).data)


class BaselineSettings(Shape):
    seed = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=2**63 - 1,
        help_text="Of what the systems draw at random, and of the intervals; null: the project's.",
    )


class NewPredictions(Shape):
    predictions = serializers.FileField(
        help_text="JSON {id: answer}; for cosmos and mcscript also CSV or JSON Lines with ids and labels."
    )
    file = serializers.CharField(
        default="", allow_blank=True, max_length=200, help_text="The file to compare with; empty: the key of test."
    )


class NewSystem(NewPredictions):
    name = serializers.CharField(max_length=LONGEST_NAME, help_text="Of the system.")


class SystemDifferenceShape(Shape):
    """Of the first measure, from another system on the same file."""

    name = serializers.CharField(help_text="Of the other system.")
    difference = serializers.FloatField(help_text="This system's score less the other's, -1 to 1.")
    p = serializers.FloatField(help_text="Of a two-sided paired randomisation test.")


class EvaluationShape(Shape):
    """`scores` has all; `exact_match` and `f1` for ReCoRD and `accuracy` for the others repeat those over all items."""

    release = serializers.IntegerField()
    file = serializers.CharField()
    n = serializers.IntegerField(help_text="Queries or questions.")
    exact_match = serializers.FloatField(required=False, help_text="Percent.")
    f1 = serializers.FloatField(required=False, help_text="Percent.")
    accuracy = serializers.FloatField(required=False, help_text="0 to 1.")
    low = serializers.FloatField(required=False, help_text="Of the 95 % interval of the accuracy.")
    high = serializers.FloatField(required=False)
    scores = SystemScoreShape(many=True)
    differences = SystemDifferenceShape(
        many=True, help_text="From each system that is kept with the release for this file."
    )


class ResultsQuery(serializers.Serializer):
    file = serializers.ChoiceField(
        exporting.FORMATS,
        default=exporting.MTURK,
        help_text="`mturk`: Mechanical Turk's columns, a row an answer; the others: the long table, a row a label.",
    )
    workers = serializers.ChoiceField(
        ("pseudonyms", "ids"), default="pseudonyms", help_text="What stands for a worker."
    )
    answers = serializers.ChoiceField(
        ("counting", "all"), default="counting", help_text="`all`: with a column that says why one does not count."
    )
    inputs = serializers.BooleanField(
        default=False, help_text="The long table also has what each item shows, as columns `Input.*`."
    )
    text_evidence = serializers.BooleanField(
        default=False, help_text="The long table also has how texts came about, where a stage collects it."
    )


class NewResults(TextFile):
    mapping = MappingField(
        required=False,
        max_length=LONGEST_MAPPING,
        help_text='The column by field, as a JSON object such as {"Answer.mood": "Answer.feeling"}; what it does not '
        'name is read by its name. A value after “=” is that of all rows: {"Input.known": "=Glad"}.',
    )


class NewResultsForm(TextFile):
    kinds = MappingField(
        required=False,
        max_length=LONGEST_MAPPING,
        help_text='The kind by column of answers, as a JSON object such as {"Answer.mood": "scale"}; '
        f"{', '.join(filter(None, KINDS))}, or empty to leave the column out. Without it all are proposed; with it "
        "what it does not name is as proposed.",
    )
    hidden = serializers.ListField(
        child=serializers.CharField(max_length=300),
        required=False,
        max_length=500,
        help_text="Columns Input.* that workers shall not see; without it those that may tell the right answer.",
    )
    title = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=120, help_text="Of a new stage, where one is added."
    )
    make = serializers.BooleanField(
        default=False, help_text="Make the questionnaire and import the answers; without it nothing is kept."
    )


class ProposedFieldShape(Shape):
    column = serializers.CharField()
    key = serializers.CharField()
    kind = serializers.CharField(help_text="Empty: left out.")
    values = serializers.ListField(
        child=serializers.ListField(), help_text="[value, how often it came], the most frequent ones first."
    )
    different = serializers.IntegerField(help_text="Different values; with `more` there are others.")
    more = serializers.BooleanField()
    blank = serializers.IntegerField()
    why = serializers.CharField(help_text="What is in the way of this kind; empty otherwise.")


class ProposedFormShape(Shape):
    fields = ProposedFieldShape(many=True)  # type: ignore[assignment]  # every serializer has an attribute of this name
    shown = serializers.ListField(child=serializers.ListField(), help_text="[column Input.*, whether it is shown].")
    rows = serializers.IntegerField(help_text="Rows that were looked at.")
    all_rows = serializers.BooleanField()
    faults = serializers.ListField(child=serializers.CharField())
    form = serializers.DictField(help_text="The questionnaire, as the setting `form` of a task.")


class ResultFieldShape(Shape):
    name = serializers.CharField()
    needed = serializers.BooleanField(help_text="Every answer needs it.")
    column = serializers.CharField(
        source="source", help_text="The column that an import without a mapping would read; empty for none."
    )


class ResultsColumns(Shape):
    layout = serializers.CharField(help_text="`mturk` (Turkle’s too), `figure-eight` or `long`.")
    columns = serializers.ListField(child=serializers.CharField())
    fields = ResultFieldShape(many=True)  # type: ignore[assignment]  # every serializer has an attribute of this name
    unused = serializers.ListField(child=serializers.CharField(), help_text="Answers that the task does not ask for.")


class RemovedResults(Shape):
    removed = serializers.IntegerField(help_text="Answers. Their items are judged again without them.")
