"""A questionnaire made of a file of results, and the file imported into it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from hits.items.rules import results_forms
from hits.items.verbs import importing
from hits.models import Stage, Upload
from hits.stages.verbs import custom_stages, task_settings


@transaction.atomic
def make_form(upload: Upload, proposal: results_forms.Proposal, title: str, user: User | None) -> Stage | None:
    """Make the proposed questionnaire and let the file, which waits for its columns, be imported into it.

    The stage to which the file was sent becomes it where it was never published nor answered; else a new stage with
    this title asks it about the rows that are there. None for a file that does not wait any more. Raises Refused,
    SettingsRefusedError, MappingRefusedError and ArchivedError; then nothing was changed.
    """
    settings_, stage = results_forms.checked(proposal), upload.stage
    assert stage is not None
    if results_forms.can_be_rewritten(stage):
        task_settings.change_task(stage, {"settings": settings_}, user)
    else:
        results_forms.refuse_without_rows(stage)
        table = {"title": title, "protocol": results_forms.FORM, "settings": settings_}
        stage = custom_stages.add_stage(stage.project, table, user)
    if not importing.confirm_results(upload, proposal.mapping, stage):
        transaction.set_rollback(True)
        return None
    return stage


@transaction.atomic
def send_in_with_form(
    stage: Stage, name: str, content: bytes, proposal: results_forms.Proposal, title: str, user: User | None
) -> Upload:
    """Keep the file and make the proposed questionnaire, see `make_form`: the import is to be started then."""
    upload = importing.create_results_upload(stage, name, content, user, ask=True)
    make_form(upload, proposal, title or name.rpartition(".")[0][:100] or name[:100], user)
    upload.refresh_from_db()
    return upload
