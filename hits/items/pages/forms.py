"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from django import forms

from hits.views.forms import FilesField, whole_number


class MediaForm(forms.Form):
    file = FilesField(label="A zip of pictures, sounds and videos, or the files themselves")


class AnnotationsForm(forms.Form):
    file = forms.FileField(label="File of annotations", help_text="JSON Lines, as downloaded: one article a line.")


class DrawForm(forms.Form):
    items = forms.IntegerField(label="Size of the sample", min_value=1, max_value=1_000_000, widget=whole_number())
