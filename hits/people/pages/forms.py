"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from django import forms

from hits.views.forms import MessageForm


class TermsForm(forms.Form):
    """`hits.people.verbs.terms` judges the text."""

    text = forms.CharField(
        required=False,
        strip=False,
        label="The terms",
        help_text="In Markdown: who collects what and what for, what happens with it, what workers may demand. HTML is "
        "shown as it is written, and pictures are left out.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
    )


class MessageAllForm(MessageForm):
    recipients = forms.CharField(required=False)
    subject = forms.CharField(required=False, strip=True, label="Subject")
    text = forms.CharField(required=False, label="Text", widget=forms.Textarea(attrs={"rows": 10, "dir": "auto"}))
