"""Results as files."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import Shape
from hits.api.shapes.uploads import LONGEST_MAPPING, MappingField
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


class NewResults(Shape):
    file = serializers.FileField()
    mapping = MappingField(
        required=False,
        max_length=LONGEST_MAPPING,
        help_text='The column by field, as a JSON object such as {"Answer.mood": "Answer.feeling"}; what it does not '
        'name is read by its name. A value after “=” is that of all rows: {"Input.known": "=Glad"}.',
    )


class ResultsFile(Shape):
    file = serializers.FileField()


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
