"""Results as files."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import Shape
from hits.api.shapes.uploads import LONGEST_MAPPING, MappingField, TextFile
from hits.domain.results_forms import KINDS
from hits.flow.data import exporting


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
