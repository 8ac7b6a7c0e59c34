"""Importing: a file is read and checked as a whole, then stored as a whole, or refused with every fault."""

from __future__ import annotations

import io
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from tempfile import TemporaryFile
from typing import BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.core.jobs.leases import Held, LeaseLostError, StoppedError, lease
from hits.formats.files import encodings, media_zip
from hits.formats.files.bulk import without_cycle_collection
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import MOST_ROWS, too_many_rows
from hits.items.rules import item_columns, media
from hits.items.rules.imported_tables import (
    checked_mapping,
    file_of,
    guessed_mapping,
    remarks,
    shown,
    table_of,
    without_priority,
)
from hits.items.rules.item_columns import count
from hits.judging.rules.recipe_rows import Rows
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_summary
from hits.model_assist.rules import suggestions
from hits.models import Blob, Document, Item, Project, Stage, Suggestion, Upload, Verdict
from hits.projects.rules.archived import is_archived, refuse_archived
from hits.projects.rules.plugins import UNUSABLE, options_of, protocol_of, recipe_of, settings_of
from hits.protocols.base import Json, TaskProtocol
from hits.protocols.optional import FittedProtocol, KnownAnswersProtocol, NotingProtocol
from hits.publishing.rules import check_questions
from hits.recipes import SourceDocument, SourceItem
from hits.refusals import Refusal, Refused
from hits.releases.rules import imported_results
from hits.workers.rules import known_answers

PROGRESS_EVERY = 1000
# Some texts take long: what a program makes of them is made while they are read.
SAY_SECONDS = 2.0
LEASE_SECONDS = 120


STORED_AT_ONCE = 1000
MOST_ATTEMPTS = 3
TRIED = (
    f"Its import began {MOST_ATTEMPTS} times and did not come to an end. Split the file and import the parts; "
    "if a small part fails too, tell the operator, whose log says more."
)


ARCHIVED = "The project is archived, so nothing is imported into it. An owner can restore it; then send the file again."


_BEING_IMPORTED = "The same file is being imported: {}."
_SAME_FILE: Mapping[str, str] = {
    Upload.State.DONE: "The same file was imported already: {}. Remove those answers first to import it again.",
    Upload.State.MAPPING: "The same file is there and waits for its columns: {}. Say there which column is what.",
}


class SameFileError(Refusal):
    """The same bytes came before: `first` is that import, finished or not. Nothing was imported."""

    error_code = "same_file"

    def __init__(self, first: Upload) -> None:
        self.first = first
        before = f"{first.name} (import {first.pk}, {first.created_at:%Y-%m-%d %H:%M} UTC)"
        super().__init__(f"{_SAME_FILE.get(first.state, _BEING_IMPORTED).format(before)} Nothing was imported.")

    @property
    def waits(self) -> bool:
        """Whether the first one is not imported either, until somebody says which of its columns is what."""
        return self.first.state == Upload.State.MAPPING


def create_upload(
    project: Project,
    name: str,
    content: bytes,
    origin: str,
    user: User | None,
    mapping: Sequence[tuple[str, str]] | None = None,
    *,
    ask: bool = False,
    media_files: Sequence[tuple[str, BinaryIO]] = (),
) -> Upload:
    """Keep the bytes for the import to come. Raises Refused (upload_refused) and ArchivedError.

    `mapping` has (field, column) pairs for a table, and is remembered for the project; what it does not name is read as
    remembered and by the names of the columns. Raises MappingRefusedError, Refused and, for a mapping of what is
    no table, FormatErrors. With `ask`, a table waits until `confirm_mapping`, and a text that is not UTF-8 until
    `read_as`; other files do not.
    `media_files` are an upload of their own, `media`: this one waits for it, and fails where it is refused.
    """
    check_size(len(content))
    made = Upload(project=project, name=name[-200:], origin=origin, created_by=user)
    remembered: dict[str, str] | None = None
    if mapping is not None:
        made.mapping, remembered = checked_mapping(project, io.BytesIO(content), name, mapping)
    elif ask and (encodings.guessed(io.BytesIO(content)) or _can_be_shown(project, io.BytesIO(content), name)):
        made.state = Upload.State.MAPPING
    with transaction.atomic():
        made.blob = Blob.store(content)
        made.media = create_media_upload(project, media_files, user) if media_files else None
        _hold_in_use(project)
        made.save()
        _remember(project, remembered)
    return made


def create_media_upload(project: Project, files: Sequence[tuple[str, BinaryIO]], user: User | None) -> Upload:
    """Keep a zip of media, or files of media of (name, stream), for the import to come. Raises Refused and
    ArchivedError.
    """
    check_media_size(sum(stream.seek(0, io.SEEK_END) for _, stream in files))
    name = files[0][0] if len(files) == 1 else f"{len(files)} files"
    with media_zip.as_zip(files) as stream:
        made = Upload(project=project, kind=Upload.Kind.MEDIA, name=name[-200:], created_by=user)
        with transaction.atomic():
            made.blob = Blob.store_stream(stream, is_packed=True)
            _hold_in_use(project)
            made.save()
    return made


def create_results_upload(
    stage: Stage,
    name: str,
    content: bytes,
    user: User | None,
    pairs: Sequence[tuple[str, str]] = (),
    *,
    ask: bool = False,
) -> Upload:
    """Keep a file of answers to the stage for the import to come; (field, column) pairs, the others are guessed.

    With `ask` it waits until `confirm_results`, and before that until `read_as` where it is not UTF-8. Raises
    Refused (upload_refused, no_results_taken), SameFileError, MappingRefusedError, FormatErrors and ArchivedError.
    """
    check_size(len(content))
    if ask and encodings.guessed(io.BytesIO(content)):
        imported_results.readable(stage)
    else:
        imported_results.shown(stage, io.BytesIO(content), name)
    mapping = None if ask else imported_results.checked_mapping(stage, io.BytesIO(content), name, pairs)
    with transaction.atomic():
        _hold_in_use(stage.project)
        blob = Blob.store(content)
        _refuse_same_file(stage, blob.sha256)
        return Upload.objects.create(
            project=stage.project,
            stage=stage,
            kind=Upload.Kind.RESULTS,
            state=Upload.State.MAPPING if ask else Upload.State.QUEUED,
            name=name[-200:],
            origin="imported",
            mapping=mapping,
            blob=blob,
            created_by=user,
        )


def confirm_results(upload: Upload, pairs: Sequence[tuple[str, str]], stage: Stage | None = None) -> bool:
    """Let a file of answers that waits for its columns be imported, into `stage` where it is another one than that to
    which it was sent. False for one that does not wait any more.

    Raises MappingRefusedError, Refused (no_results_taken) and ArchivedError.
    """
    with file_of(upload.blob) as file:
        found = imported_results.checked_mapping(stage or _stage_of(upload), file, upload.name, pairs)
    with transaction.atomic():
        _hold_in_use(upload.project)
        waiting = Upload.objects.filter(pk=upload.pk, state=Upload.State.MAPPING)
        return bool(waiting.update(state=Upload.State.QUEUED, mapping=found, stage=stage or _stage_of(upload)))


def read_as(upload: Upload, encoding: str) -> bool:
    """Keep a file that waits in UTF-8 from now on: the next step is its columns, or its import where it has none.

    False for one that does not wait as it did any more. Raises Refused (encoding_refused, upload_refused) and
    ArchivedError, and of answers SameFileError, FormatErrors and Refused (no_results_taken).
    """
    with file_of(upload.blob) as file, TemporaryFile() as made:
        for piece in encodings.in_utf8(file, encoding):
            made.write(piece)
        check_size(made.tell())
        made.seek(0)
        state = Upload.State.MAPPING
        if upload.holds_results:
            imported_results.shown(_stage_of(upload), made, upload.name)
        elif not _can_be_shown(upload.project, made, upload.name):
            state = Upload.State.QUEUED
        made.seek(0)
        with transaction.atomic():
            _hold_in_use(upload.project)
            blob = Blob.store_stream(made)
            if upload.holds_results:
                _refuse_same_file(_stage_of(upload), blob.sha256)
            waiting = Upload.objects.filter(pk=upload.pk, state=Upload.State.MAPPING, blob=upload.blob)
            kept = bool(waiting.update(blob=blob, state=state))
            (upload.blob if kept else blob).delete()
    upload.refresh_from_db()
    return kept


def _refuse_same_file(stage: Stage, digest: str) -> None:
    """Raises SameFileError."""
    here = stage.result_files.filter(blob__sha256=digest, state__in=[*Upload.UNFINISHED, Upload.State.DONE])
    if first := here.order_by("pk").first():
        raise SameFileError(first)


def _hold_in_use(project: Project) -> None:
    """Nobody archives the project before the transaction ends. Raises ArchivedError.

    Comes after what takes long, such as keeping a file.
    """
    refuse_archived(Project.objects.select_for_update(no_key=True).get(pk=project.pk))


def check_media_size(size: int) -> None:
    """Raises Refused (upload_refused)."""
    advice = "Send them in several archives, one after another. Nothing was stored."
    _refuse_size(size, settings.MAX_MEDIA_BYTES, "The media have", advice)
    if not size:
        raise Refused("upload_refused", "The file of media is empty. Nothing was stored.", status=400)


def _can_be_shown(project: Project, file: BinaryIO, name: str) -> bool:
    """False also for what the import will refuse: all its faults are named there."""
    try:
        return bool(shown(project, file, name).rows)
    except (Refused, FormatErrors):
        return False


def confirm_mapping(upload: Upload, mapping: Sequence[tuple[str, str]]) -> bool:
    """Let a table that waits for its columns be imported; (field, column) pairs, remembered for the project.

    False for one that does not wait any more. Raises MappingRefusedError and ArchivedError.
    """
    with file_of(upload.blob) as file:
        found, remembered = checked_mapping(upload.project, file, upload.name, mapping)
    with transaction.atomic():
        _hold_in_use(upload.project)
        waiting = Upload.objects.filter(pk=upload.pk, state=Upload.State.MAPPING)
        if not waiting.update(state=Upload.State.QUEUED, mapping=found):
            return False
        _remember(upload.project, remembered)
    return True


def _remember(project: Project, mapping: dict[str, str] | None) -> None:
    if mapping is not None:
        Project.objects.filter(pk=project.pk).update(mapping=mapping)
        project.mapping = mapping


def as_one(files: Sequence[tuple[str, BinaryIO]]) -> tuple[str, bytes]:
    """The name and bytes of one file, or of a zip archive of several (name, stream). Raises Refused."""
    sizes = [stream.seek(0, io.SEEK_END) for _, stream in files]
    check_size(sum(sizes))
    for _, stream in files:
        stream.seek(0)
    if len(files) == 1:
        return files[0][0], files[0][1].read()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, stream in files:
            archive.writestr(name, stream.read())
    return f"{len(files)} files.zip", made.getvalue()


def check_size(size: int) -> None:
    """Raises Refused (upload_refused)."""
    advice = "Split it at line ends and import the parts one after another. Nothing was imported."
    _refuse_size(size, settings.MAX_IMPORT_BYTES, "The file has", advice)
    if not size:
        raise Refused("upload_refused", "The file is empty. Nothing was imported.", status=400)


def _refuse_size(size: int, limit: int, what: str, advice: str) -> None:
    if size > limit:
        raise Refused(
            "upload_refused",
            f"{what} {size / 1e6:,.1f} MB; at most {limit / 1e6:,.1f} MB are taken at once. {advice}",
            status=400,
        )


def import_upload(upload_pk: int) -> int:
    """Import a stored file; returns the number of new items, or of new files of media. A second run of the same upload
    changes nothing.

    Each run counts as an attempt. After `MOST_ATTEMPTS` that did not come to an end the upload is failed.
    """
    upload = Upload.objects.select_related("project", "blob", "media").get(pk=upload_pk)
    with _lease(upload) as held:
        if held is None or not _begin(upload):
            return 0
        try:
            with without_cycle_collection():
                return _IMPORTS[upload.kind](upload, held)
        except FormatErrors as error:
            _refuse(upload, error.errors, error.count)
            return 0
        except (LeaseLostError, StoppedError):
            return 0
        except UNUSABLE as error:
            # Trying again would find the same.
            fail(upload_pk, f"{error}")
            return 0
        except Exception:
            if upload.attempts >= MOST_ATTEMPTS:
                fail(upload_pk, TRIED)
            raise
        finally:
            upload.refresh_from_db(fields=["state"])
            media.tidy(upload)


@contextmanager
def _lease(upload: Upload) -> Iterator[Held | None]:
    """Two archives of one project may hold files of one name: one is read after the other."""
    name = f"media:{upload.project_id}" if upload.holds_media else f"upload:{upload.pk}"
    with lease(name, seconds=LEASE_SECONDS) as held:
        if held:
            # As it is now: it may have ended while the lease was another's.
            upload.refresh_from_db(fields=["state", "attempts"])
        yield held


def waiting_for(upload_pk: int) -> list[int]:
    """The uploads whose import begins when these media are in."""
    waiting = Upload.objects.filter(media=upload_pk, state=Upload.State.QUEUED)
    return list(waiting.values_list("pk", flat=True))


def answered_by(upload_pk: int) -> list[int]:
    """The stage whose items have answers of this file, now that they are in."""
    done = Upload.objects.filter(pk=upload_pk, kind=Upload.Kind.RESULTS, state=Upload.State.DONE)
    return list(done.values_list("stage", flat=True))


def stop(upload: Upload) -> bool:
    """End an import that waits or runs: it stores nothing. False for one that has ended already."""
    unfinished = Upload.objects.filter(pk=upload.pk, state__in=Upload.UNFINISHED)
    if not unfinished.update(state=Upload.State.STOPPED, finished_at=timezone.now()):
        return False
    upload.refresh_from_db(fields=["state", "attempts"])
    if not upload.attempts:
        # Nobody reads it, and nobody will.
        media.tidy(upload)
    return True


def fail(upload_pk: int, why: str) -> None:
    """`why` is a sentence for the lead. An upload that has ended stays as it is."""
    running = Upload.objects.filter(pk=upload_pk, state__in=Upload.RUNNING)
    if running.update(state=Upload.State.FAILED, error=why, finished_at=timezone.now()):
        media.tidy(Upload.objects.select_related("blob").get(pk=upload_pk))


def _begin(upload: Upload) -> bool:
    if upload.is_running and upload.media and not _may_follow(upload, upload.media):
        return False
    if upload.is_running and is_archived(upload.project_id):
        fail(upload.pk, ARCHIVED)
        return False
    if upload.is_running and upload.attempts >= MOST_ATTEMPTS:
        fail(upload.pk, TRIED)
        return False
    upload.attempts += 1
    return _note(upload, state=Upload.State.READING, attempts=upload.attempts)


def _may_follow(upload: Upload, came_first: Upload) -> bool:
    """Whether the media that came with it are in. Where they never will be, the upload fails."""
    if came_first.state == Upload.State.DONE:
        return True
    if not came_first.is_running:
        fail(upload.pk, f"The media that came with it, {came_first.name}, were not taken. Send both again.")
    return False


def _import_media(upload: Upload, held: Held) -> int:
    note = _progress(upload, held)
    with file_of(upload.blob) as file, media_zip.read(file, note) as found:
        media.refuse_known(upload.project, found.entries)
        _go_on(upload, state=Upload.State.STORING, total=len(found.entries), done=0)
        items = media.store(upload, found, note)
        same = len(found.entries) - items
        notes = [f"{same:,} of the files were there already, with the same content."] if same else []
        ended = {"done": len(found.entries), "items": items, "notes": notes, "finished_at": timezone.now()}
        with transaction.atomic():
            # Together: nobody comes back to an archive whose files are in.
            upload.blob.forget_content()
            _go_on(upload, state=Upload.State.DONE, **ended)
    return items


def _import(upload: Upload, held: Held) -> int:
    with file_of(upload.blob) as file:
        steps = recipe_of(upload.project).steps
        mapping, priority = _mapping(upload, file)
        documents = steps.read_documents(
            file,
            name=upload.name,
            max_bytes=settings.MAX_IMPORT_BYTES,
            default_origin=upload.origin,
            progress=_progress(upload, held),
            seed=upload.project.seed,
            options=options_of(upload.project),
            **({} if mapping is None else {"mapping": mapping}),
        )
        of_file = [] if mapping is None else remarks(file, upload.name)
    _refuse_other_stages(upload.project, documents)
    if hasattr(steps, "admit"):
        documents = steps.admit(documents, Rows(upload.project))
    _refuse_too_many(documents)
    documents = item_columns.taken(documents, _by_name(upload.project), priority)
    _refuse_known(upload.project, [document for document in documents if document.items])
    _refuse_unsuitable(upload.project, documents)
    notes = [*of_file, *_notes(documents), *(steps.import_notes(documents) if hasattr(steps, "import_notes") else ())]
    notes += _notes_of_tasks(upload.project, documents)
    documents = [document for document in documents if document.items]
    total = len(documents)
    _go_on(upload, state=Upload.State.STORING, total=total, done=total, notes=notes)
    with transaction.atomic():
        stages = _store(upload.project, documents)
        items = sum(stages.values())
        # Whoever waits for the end of the import reads the figures next.
        for stage in {*stages, *known_answers.take_for_tests(upload.project)}:
            refresh_summary(stage)
        _go_on(upload, state=Upload.State.DONE, items=items, finished_at=timezone.now())
    return items


def _import_results(upload: Upload, held: Held) -> int:
    """Answers to the stage, and the items that they are about where these are not there yet."""
    stage = _stage_of(upload)
    with file_of(upload.blob) as file:
        found = imported_results.read(upload, stage, file, _progress(upload, held))
        notes = remarks(file, upload.name)
    _refuse_too_many(found.documents)
    _refuse_known(upload.project, found.documents)
    _refuse_unsuitable(upload.project, found.documents)
    total = len(found.answers)
    _go_on(upload, state=Upload.State.STORING, total=total, done=total, notes=notes)
    with transaction.atomic():
        list(Stage.objects.select_for_update(no_key=True).filter(pk=stage.pk))
        stages = set(_store(upload.project, found.documents, upload))
        answers = imported_results.store(upload, stage, found)
        for changed in stages | {stage}:
            refresh_summary(changed)
        record(
            upload.project, upload.created_by, "imported answers", [stage], {"answers": answers, "file": upload.name}
        )
        _go_on(upload, state=Upload.State.DONE, items=answers, finished_at=timezone.now())
    return answers


def _stage_of(upload: Upload) -> Stage:
    return Stage.objects.select_related("project__account").get(result_files=upload)


_IMPORTS: dict[str, Callable[[Upload, Held], int]] = {
    Upload.Kind.ITEMS: _import,
    Upload.Kind.MEDIA: _import_media,
    Upload.Kind.RESULTS: _import_results,
}


def _mapping(upload: Upload, file: BinaryIO) -> tuple[dict[str, str] | None, str]:
    """(for a recipe that reads a table: which column of the file is which field; the column that is the priority)."""
    if (table := table_of(upload.project)) is None:
        return None, item_columns.PRIORITY
    mapping = upload.mapping
    if mapping is None:
        mapping = guessed_mapping(upload.project, table, file, upload.name)
    return without_priority(upload.project, mapping)


def _notes(documents: Sequence[SourceDocument]) -> list[str]:
    """Why texts were left out, and what is to know of those that came in, with how many."""
    left_out = Counter(document.note for document in documents if not document.items)
    stored = Counter(document.note for document in documents if document.items and document.note)
    return [
        *(f"{_texts(count, 'was', 'were')} left out: {note}" for note, count in left_out.most_common()),
        *(f"Not used of {_texts(count)}: {note}" for note, count in stored.most_common()),
    ]


def _texts(count: int, one: str = "", more: str = "") -> str:
    return f"{count:,} text {one}".strip() if count == 1 else f"{count:,} texts {more}".strip()


def _note(upload: Upload, **values: object) -> bool:
    """False when the upload has ended, or a lead has stopped it: then nothing is written."""
    return bool(Upload.objects.filter(pk=upload.pk, state__in=Upload.RUNNING).update(**values))


def _go_on(upload: Upload, **values: object) -> None:
    if not _note(upload, **values):
        raise StoppedError


def _progress(upload: Upload, held: Held) -> Callable[[int], None]:
    said = time.monotonic()

    def note(done: int) -> None:
        nonlocal said
        if done % PROGRESS_EVERY == 0 or time.monotonic() - said > SAY_SECONDS:
            said = time.monotonic()
            held.renew()
            _go_on(upload, done=done)

    return note


def _refuse(upload: Upload, faults: Sequence[Fault], total: int) -> None:
    rows = [{"line": fault.line, "place": fault.place, "message": fault.message} for fault in faults]
    _note(upload, state=Upload.State.REFUSED, faults=rows, fault_count=total, finished_at=timezone.now())


def _refuse_too_many(documents: Sequence[SourceDocument]) -> None:
    if sum(len(document.items) for document in documents) > MOST_ROWS:
        raise FormatErrors([Fault(None, "", too_many_rows())])


def _refuse_other_stages(project: Project, documents: Sequence[SourceDocument]) -> None:
    """A project keeps the stages that its recipe had when it began."""
    wanted = {item.stage for document in documents for item in document.items}
    if missing := wanted - set(_by_name(project)):
        said = f"this project has no stage {', '.join(sorted(missing))}: it began before the recipe had one. "
        raise FormatErrors([Fault(None, "", said + "Import the file into a new project")])


def _refuse_known(project: Project, documents: Sequence[SourceDocument]) -> None:
    """An id that is there already is a fault like any other; different stages may have items of the same id."""
    known_documents = _known(project.documents.all(), [document.key for document in documents])
    known_items = _known_items(project, documents)
    faults = Faults()
    for document in documents:
        own = [document.key] if document.key in known_documents else []
        clashes = own + [item.key for item in document.items if item.key in known_items[item.stage]]
        for key in dict.fromkeys(clashes):
            faults.add(document.line, document.place, f"the id {key} was imported into this project before")
    faults.refuse()


def _refuse_unsuitable(project: Project, documents: Sequence[SourceDocument]) -> None:
    """A known answer that no worker could give would be compared with nothing, in silence; and a page cannot show what
    an item does not have.
    """
    stages = _by_name(project)
    wanted = {item.stage for document in documents for item in document.items}
    wanted = {name for name in wanted if stages[name].crowd}
    protocols = {name: protocol_of(stages[name]) for name in wanted}
    options = {name: settings_of(stages[name]) for name in wanted}
    found = Faults()
    given = ((document, item) for document in documents for item in document.items if item.stage in wanted)
    while part := list(islice(given, media.ROWS_AT_ONCE)):
        for name in sorted(wanted):
            rows = [(document, item) for document, item in part if item.stage == name]
            _note_unsuitable(protocols[name], project, rows, options[name], found)
    found.refuse()


def _notes_of_tasks(project: Project, documents: Sequence[SourceDocument]) -> Iterator[str]:
    for name, stage in _by_name(project).items():
        protocol = protocol_of(stage)
        if isinstance(protocol, NotingProtocol):
            rows = ((one.data, item.data) for one in documents for item in one.items if item.stage == name)
            yield from protocol.import_notes(rows, settings_of(stage))


def _note_unsuitable(
    protocol: TaskProtocol,
    project: Project,
    rows: Sequence[tuple[SourceDocument, SourceItem]],
    options: Json,
    found: Faults,
) -> None:
    # Asked once: to compare a class with a Protocol takes longer than to check an item.
    known = protocol if isinstance(protocol, KnownAnswersProtocol) else None
    fitted = protocol if isinstance(protocol, FittedProtocol) else None
    seen = media.with_media(protocol, project.pk, [(document.data, item.data) for document, item in rows], options)
    for (document, item), data in zip(rows, seen, strict=True):
        for message in known.known_answer_faults(item.data, options) if known else ():
            found.add(document.line, "gold", message)
        for message in fitted.item_faults(data, item.data, options) if fitted else ():
            found.add(document.line, "", message)


def _known_items(project: Project, documents: Sequence[SourceDocument]) -> dict[str, set[str]]:
    """By the stage's name as the documents have it."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        for item in document.items:
            wanted[item.stage].append(item.key)
    stages = _by_name(project)
    return {name: _known(stages[name].items.all(), keys) for name, keys in wanted.items()}


def _by_name(project: Project) -> dict[str, Stage]:
    """The stages by their keys, and the first one with a crowd also without."""
    stages = list(project.stages.order_by("position"))
    return {"": next(stage for stage in stages if stage.crowd)} | {stage.key: stage for stage in stages}


def _known(rows: QuerySet, keys: Sequence[str]) -> set[str]:
    known: set[str] = set()
    for chunk in chunks(keys):
        known.update(rows.filter(key__in=chunk).values_list("key", flat=True))
    return known


def _store(project: Project, documents: list[SourceDocument], upload: Upload | None = None) -> dict[Stage, int]:
    """The stages that got items, with how many. Takes the documents out of the list as it stores them."""
    stages = _by_name(project)
    purposes = _purposes(project, [(document.key, document.origin) for document in documents])
    # Stages that a lead added, which ask about the rows of the file too.
    own = [stage for stage in project.stages.exclude(input={}) if stage.input["stage"] == ""]
    stored: Counter[Stage] = Counter()
    kinds = {stage.pk: check_questions.kind_of(stage) for stage in [*stages.values(), *own]}
    for part in _parts(documents):
        rows = Document.objects.bulk_create(
            Document(
                project=project,
                key=document.key,
                origin=document.origin,
                purpose=purposes[document.key],
                data=document.data,
                came_with=upload,
            )
            for document in part
        )
        items = []
        suggested = []
        for row, document in zip(rows, part, strict=True):
            for given in document.items:
                items.append(_item(stages[given.stage], row, given, kinds))
                if given.suggestions:
                    suggested.append((items[-1], given.suggestions))
                if stages[given.stage] == stages[""]:
                    copies = [_item(stage, row, given, kinds) for stage in own]
                    state = items[-1].state
                    items += [copy for copy in copies if check_questions.is_for_added(state, copy.state)]
        Item.objects.bulk_create(items, batch_size=2000)
        # Of a stage that a lead added, which perhaps asks something else, they are added by themselves.
        Suggestion.objects.bulk_create(suggestions.rows_of(suggested), batch_size=2000)
        stored.update(item.stage for item in items)
    return dict(stored)


def _purposes(project: Project, documents: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The purpose of each document; of those that were here it is changed where the recipe asks for it."""
    steps = recipe_of(project).steps
    how = {"seed": project.seed, "options": options_of(project)}
    if not getattr(steps, "MARKS_WHOLE_PROJECT", False):
        new: dict[str, str] = steps.mark(documents, **how)
        return new
    # Of two uploads that are stored at once the later one has to know the marks of the other.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    # What was made of a document, such as the passage of an article, goes with it.
    imported = project.documents.filter(Exists(Item.objects.filter(document=OuterRef("pk"), parent=None)))
    there = {key: (origin, purpose) for key, origin, purpose in imported.values_list("key", "origin", "purpose")}
    marked = {key: purpose for key, (_, purpose) in there.items()}
    origins = [(key, origin) for key, (origin, _) in there.items()]
    found: dict[str, str] = steps.mark([*origins, *documents], marked=marked, fixed=_fixed(project), **how)
    for purpose in sorted(set(found.values())):
        _mark(project, [key for key in there if found[key] == purpose != marked[key]], purpose)
    return found


def _fixed(project: Project) -> set[str]:
    """The documents of which an item has come further than the first stage with a crowd, or was released."""
    items = Item.objects.filter(stage__project=project)
    later = Q(Exists(project.released_items.filter(key=OuterRef("key"))))
    if first := project.stages.filter(crowd=True).order_by("position").first():
        later |= Q(stage__crowd=True, stage__position__gt=first.position)
    of_these = items.filter(document__in=items.filter(later).values("document"))
    rows = of_these.values_list("document__key", "parent__document__key").distinct()
    return {key for row in rows for key in row if key}


def _mark(project: Project, keys: Sequence[str], purpose: str) -> None:
    """What their items lead to is found out again."""
    for part in chunks(keys):
        documents = project.documents.filter(Q(key__in=part) | Q(items__parent__document__key__in=part))
        pks = list(documents.values_list("pk", flat=True).distinct())
        Document.objects.filter(pk__in=pks).update(purpose=purpose)
        Verdict.objects.filter(item__document__in=pks, superseded_at=None).update(advanced=False)


def _item(stage: Stage, document: Document, given: SourceItem, kinds: Mapping[int, check_questions.Kind]) -> Item:
    state = kinds[stage.pk](document.data, given.data)
    item = Item(stage=stage, document=document, key=given.key, data=given.data, state=state, priority=given.priority)
    if not stage.crowd:
        count(item)
    return item


def _parts(documents: list[SourceDocument]) -> Iterator[list[SourceDocument]]:
    """A thousand at a time, in their order; the list is empty in the end, so that none is in memory twice."""
    documents.reverse()
    while documents:
        yield [documents.pop() for _ in range(min(STORED_AT_ONCE, len(documents)))]


def unfinished() -> list[int]:
    """Uploads that a crash left; importing them again is safe."""
    return list(Upload.objects.filter(state__in=Upload.RUNNING).order_by("pk").values_list("pk", flat=True))
