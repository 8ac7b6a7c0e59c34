"""Results as files."""

from __future__ import annotations

from rest_framework import serializers

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
