"""Uploaded media of a project: which file a row names, its address, which files are in use, storing and deleting.

A column names a file by its whole name (`images/cat.png`) or by the end of it (`cat.png`, where no other file ends so).
The address holds the signed number of the row, so that nobody guesses it, and needs no sign-in: a worker's page loads
it within a frame, where there is no cookie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from urllib.parse import quote

from django.core import signing
from django.db import transaction
from django.db.models import QuerySet

from hits.core.models.blobs import Blob
from hits.formats.files.media import SVG
from hits.formats.files.media_zip import Entry, MediaZip, NamedFaults, folders_of, plain_name
from hits.items.models import LONGEST_NAME, MediaFile, Upload
from hits.judging.rules.required_answers import chunks
from hits.projects.models import Project
from hits.projects.rules.plugins import settings_of, usable_protocol
from hits.protocols.base import Json, TaskProtocol
from hits.protocols.optional import MediaProtocol
from hits.publishing.rules.hit_items import with_hit
from hits.stages.models import Stage

_SALT = "hits.media"
# Those that get smaller when they are compressed.
PLAIN_TYPES = frozenset({SVG, "audio/wav"})
# Rows whose names are looked up by one query.
ROWS_AT_ONCE = 1000
# Of the files that one name could mean, as many are named.
NAMED = 3


# Addresses


def address_of(file: MediaFile) -> str:
    """Below the dashboard's origin; a function of the row alone."""
    return f"/media/{signing.Signer(salt=_SALT).sign(str(file.pk))}/{quote(file.base, safe='')}"


def file_at(token: str, base: str) -> MediaFile | None:
    """The file of an address; None where it was not made here, was changed, or is of a file that is gone."""
    try:
        pk = int(signing.Signer(salt=_SALT).unsign(token))
    except (signing.BadSignature, ValueError):
        return None
    return MediaFile.objects.ready().select_related("blob").filter(pk=pk, base=base).first()


# What rows name


def with_media(protocol: TaskProtocol, project_pk: int, rows: Sequence[tuple[Json, Json]], options: Json) -> list[Json]:
    """Of each (document, item) the document with the uploaded files that the item shows, as its protocol takes them:
    `media` has, by the name in the column, {"address", "kind", "width", "height", "others"}.

    Takes one query for all rows, and none for a protocol that shows no media.
    """
    columns = _columns(protocol, options)
    if not columns:
        return [document for document, _ in rows]
    names = [_names(protocol, columns, *row) for row in rows]
    found = _files(project_pk, {name for each in names for name in each})
    shown = {name: _shown(files) for name, files in found.items()}
    return [
        {**document, "media": {name: shown[name] for name in each if name in shown}}
        for (document, _), each in zip(rows, names, strict=True)
    ]


def _columns(protocol: TaskProtocol | None, options: Json) -> Sequence[str]:
    return protocol.media_columns(options) if isinstance(protocol, MediaProtocol) else ()


def _names(protocol: TaskProtocol, columns: Sequence[str], document: Json, item: Json) -> list[str]:
    """Those of the row's values that can be names of files."""
    assert isinstance(protocol, MediaProtocol)
    values = protocol.columns(document, item)
    given = [str(values[column]).strip() for column in columns if isinstance(values.get(column), str)]
    return [name for name in given if 0 < len(name) <= LONGEST_NAME and "://" not in name]


def _files(project_pk: int, names: Iterable[str]) -> dict[str, list[MediaFile]]:
    """By name, the file of that name, or else all that end so, the oldest first."""
    plain = {name: plain_name(name).removeprefix("./") for name in names}
    by_base: dict[str, list[MediaFile]] = {}
    for part in chunks(sorted({_base(name) for name in plain.values()})):
        for file in MediaFile.objects.ready().filter(project=project_pk, base__in=part).order_by("pk"):
            by_base.setdefault(file.base, []).append(file)
    found = {name: _matching(wanted, by_base.get(_base(wanted), [])) for name, wanted in plain.items()}
    return {name: files for name, files in found.items() if files}


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _matching(name: str, files: Sequence[MediaFile]) -> list[MediaFile]:
    exact = [file for file in files if file.name == name]
    return exact or [file for file in files if file.name.endswith(f"/{name}")]


def _shown(files: Sequence[MediaFile]) -> Json:
    """Of several, the oldest: what a published item shows does not change when another file comes."""
    first = files[0]
    return {
        "address": address_of(first),
        "kind": first.kind,
        "width": first.width,
        "height": first.height,
        "others": [file.name for file in files[:NAMED]] if len(files) > 1 else [],
    }


def used(project: Project) -> set[int]:
    """The files that items show which were ever published. Reads all of these, of the stages that show media."""
    found: set[int] = set()
    for stage in project.stages.filter(crowd=True):
        found |= _used(stage)
    return found


def _used(stage: Stage) -> set[int]:
    protocol = usable_protocol(stage)
    columns = _columns(protocol, settings_of(stage)) if protocol else ()
    if not protocol or not columns:
        return set()
    published = with_hit(stage.items.all()).values_list("document__data", "data").order_by("pk")
    rows = published.iterator(chunk_size=ROWS_AT_ONCE)
    found: set[int] = set()
    while part := list(islice(rows, ROWS_AT_ONCE)):
        names = {name for document, item in part for name in _names(protocol, columns, document, item)}
        found |= {files[0].pk for files in _files(stage.project_id, names).values()}
    return found


# Storing and deleting


def refuse_known(project: Project, entries: Sequence[Entry]) -> None:
    """Raises FormatErrors for names that are taken, or that would change what rows mean by a name."""
    faults = NamedFaults()
    there = _by_base(project, entries)
    for entry in entries:
        for file in there.get(_base(entry.name), []):
            if file.name == entry.name and file.blob.sha256 != entry.sha256:
                faults.add(entry.name, "is there already with other content: delete that one, or rename this one")
            elif file.name.endswith(f"/{entry.name}"):
                faults.add(entry.name, f"is what rows may call {file.name}, which is there: put it in a folder")
    _add_clashes(project, entries, faults)
    faults.refuse()


def _add_clashes(project: Project, entries: Sequence[Entry], faults: NamedFaults) -> None:
    """Names that could not be written to one folder, on every machine, together with those that are there."""
    names = {entry.name.casefold(): entry.name for entry in entries}
    folders = {folder: name for plain, name in names.items() for folder in folders_of(plain)}
    needed: set[str] = set()
    for there in project.media.ready().values_list("name", flat=True).iterator():
        plain = there.casefold()
        if names.get(plain, there) != there:
            faults.add(names[plain], f"differs from {there}, which is there, in capital letters alone: rename it")
        if plain in folders:
            faults.add(folders[plain], f"stands in a folder of the name of {there}, which is a file: rename the folder")
        needed.update(names.keys() & folders_of(plain))
    for plain in sorted(needed):
        faults.add(names[plain], "has the name of a folder that is there: rename it")


def _by_base(project: Project, entries: Sequence[Entry]) -> dict[str, list[MediaFile]]:
    found: dict[str, list[MediaFile]] = {}
    for part in chunks(sorted({_base(entry.name) for entry in entries})):
        for file in project.media.ready().select_related("blob").filter(base__in=part):
            found.setdefault(file.base, []).append(file)
    return found


def store(upload: Upload, media: MediaZip, progress: Callable[[int], None]) -> int:
    """Keep each file by itself: none can be seen before the upload is done. Returns how many are new.

    What is there already, byte for byte, is not stored again.
    """
    discard(upload)
    there = {file.name for files in _by_base(upload.project, media.entries).values() for file in files}
    new = [entry for entry in media.entries if entry.name not in there]
    for done, entry in enumerate(new):
        progress(done)
        with media.opened(entry) as stream, transaction.atomic():
            _keep(upload, entry, Blob.store_stream(stream, is_packed=entry.content_type not in PLAIN_TYPES))
    return len(new)


def _keep(upload: Upload, entry: Entry, blob: Blob) -> None:
    MediaFile.objects.create(
        project=upload.project,
        upload=upload,
        name=entry.name,
        base=_base(entry.name),
        blob=blob,
        content_type=entry.content_type,
        width=entry.width,
        height=entry.height,
    )


def tidy(upload: Upload) -> None:
    """Of an upload that has ended otherwise than done, nothing stays: neither the archive nor a file of it."""
    if upload.holds_media and not upload.is_running and upload.state != Upload.State.DONE:
        discard(upload)
        upload.blob.forget_content()


def discard(upload: Upload) -> None:
    """Of an upload that is not done, the files that were stored so far."""
    with transaction.atomic():
        delete(upload.media_files.all())


def delete(files: QuerySet[MediaFile]) -> list[str]:
    """With the bytes that no copy of a file shares; returns the names. Runs in the caller's transaction."""
    rows = list(files.values_list("pk", "name", "blob"))
    blobs = sorted({blob for _, _, blob in rows})
    # Of two projects that share bytes and delete at once, the second waits and sees that it is the last to have them.
    for part in chunks(blobs):
        list(Blob.objects.select_for_update().filter(pk__in=part).order_by("pk").values_list("pk"))
    MediaFile.objects.filter(pk__in=[pk for pk, _, _ in rows]).delete()
    for part in chunks(blobs):
        Blob.objects.filter(pk__in=part, media=None).delete()
    return [name for _, name, _ in rows]


def copy(source: Project, target: Project) -> None:
    """The files of a project in another one, which shares their bytes."""
    # Deleting one holds the project, so none of these bytes goes meanwhile.
    Project.objects.select_for_update().get(pk=source.pk)
    columns = ("name", "base", "blob_id", "content_type", "width", "height")
    rows = source.media.ready().order_by("pk").values(*columns)
    MediaFile.objects.bulk_create((MediaFile(project=target, **row) for row in rows), batch_size=1000)
