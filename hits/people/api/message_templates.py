"""Texts that messages to workers begin with, as they are read."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes import Shape, UsernameField
from hits.core.lists import listing, reading
from hits.core.targets import PROJECT, Target
from hits.models import MessageTemplate
from hits.people.models import LONGEST_NAME, LONGEST_SUBJECT, LONGEST_TEXT
from hits.people.rules.message_templates import PLACEHOLDERS

TAG = "Messages"
NAMES = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
MEANINGS = ", ".join(f"{{{name}}} {meaning}" for name, meaning in PLACEHOLDERS.items())
TEMPLATE = Target(
    "template",
    MessageTemplate,
    "message-templates/<int:pk>/",
    lambda project: project.message_templates.select_related("changed_by"),
    project_first=True,
)


class TemplateShape(Shape):
    id = serializers.IntegerField(read_only=True)
    name = serializers.CharField(max_length=LONGEST_NAME, help_text="By which you find it.")
    subject = serializers.CharField(max_length=LONGEST_SUBJECT)
    text = serializers.CharField(
        max_length=LONGEST_TEXT, help_text=f"Placeholders: {MEANINGS}.", style={"kind": "text area", "rows": 10}
    )
    changed_by = UsernameField("changed_by")
    changed_at = serializers.DateTimeField(read_only=True)


listing(
    "message_templates.list",
    "Texts that messages to workers begin with",
    tag=TAG,
    on=PROJECT,
    route="message-templates/",
    gives=TemplateShape,
    rows=TEMPLATE.rows,
)
reading("message_templates.show", "A message template", tag=TAG, on=TEMPLATE, gives=TemplateShape)
