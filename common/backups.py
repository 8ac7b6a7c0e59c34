"""Backups of a database in one file: made at one moment, tried by restoring, restored whole or not at all.

A file is a tar of `manifest.json` and the dump. The manifest says which project and version made it, when, at which
migrations, how many rows each table had and the sums of its money, and the dump's checksum. PostgreSQL is dumped by
pg_dump in a snapshot that the counts are made in too; SQLite by its online backup. Everything that either project
keeps, files and media included, is in its database.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
from django.apps import apps
from django.db import DatabaseError, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import ConnectionHandler

from common.migrations import OLDEST, is_before_oldest, known_migrations

FORMAT = 1
MANIFEST, POSTGRESQL_DUMP, SQLITE_DUMP = "manifest.json", "database.dump", "database.sqlite3.gz"
PIECE = 1024 * 1024
# Where a session of another program stands in the way, restoring gives up and changes nothing.
LOCK_SECONDS = 10
# The number of the lock of whoever tries a backup; any will do.
_TRYING = 1
Figures = dict[str, dict[str, int]]


class BackupError(Exception):
    """Why there is no backup, or why it was not restored; the message says what to do. Nothing was changed."""


@dataclass(frozen=True)
class Backed:
    """What is backed up: the project's name, its version and the kind of column that holds money.

    `filled` are the tables of its own that have rows as soon as an empty database was migrated.
    """

    name: str
    version: str
    money: type[models.Field[Any, Any]]
    filled: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Manifest:
    project: str
    version: str
    # The moment of the snapshot: what was written later is not in it.
    at: str
    engine: str
    server: str
    migrations: list[str]
    # Table to its number of rows (`rows`) and the sum of each column of money, in cents.
    tables: Figures
    dump: str
    bytes: int = 0
    sha256: str = ""
    format: int = FORMAT

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.at)

    @property
    def rows(self) -> int:
        return sum(figures["rows"] for figures in self.tables.values())


@dataclass
class Made:
    """A backup that was made: its file, and whether it was restored and counted."""

    file: Path
    manifest: Manifest
    verified: bool
    dropped: list[Path] = field(default_factory=list)


# Making


def make(what: Backed, folder: Path, *, keep: int | None = None, verify: bool = True) -> Made:
    """Write a new backup into the folder, and drop all but the last `keep` good ones. Raises BackupError.

    The file has another name until it is whole, on the disk and tried: who sees one can restore it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _own_connection() as connection, tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder) as scratch:
        write = _dump_postgresql if connection.vendor == "postgresql" else _dump_sqlite
        dump, manifest = write(what, connection, Path(scratch))
        new = _pack(dump, manifest, Path(scratch) / "backup.tar")
        dump.unlink()
        if verify:
            _try(connection, read_manifest(new), _unpack(new, manifest, Path(scratch)), Path(scratch), what)
        file = folder / f"{what.name}-{manifest.moment:%Y%m%dT%H%M%S%fZ}.backup"
        new.replace(file)
        _flush(folder)
    old = backups(what.name, folder)[:-keep] if keep else []
    for each in old:
        each.unlink()
    made = Made(file, manifest, verify, old)
    _tell_last(what, folder, made)
    return made


def scratch_name(database: str) -> str:
    """The database in which backups of this one are tried, where the role may make none."""
    return f"{database}_try"


def last_good(name: str, folder: Path) -> datetime | None:
    """The moment of the last backup that was made and, unless that was switched off, tried; None without one."""
    try:
        return datetime.fromisoformat(json.loads(_last(name, folder).read_text())["at"])
    except (OSError, ValueError, KeyError):
        return None


def is_too_old(name: str, folder: Path, hours: float) -> bool:
    """Whether the last good backup is missing or older than that."""
    last = last_good(name, folder)
    return last is None or datetime.now(UTC) - last > timedelta(hours=hours)


def _last(name: str, folder: Path) -> Path:
    return folder / f"{name}-last.json"


def _tell_last(what: Backed, folder: Path, made: Made) -> None:
    """For whoever watches: a small file, replaced as a whole."""
    said = {"at": made.manifest.at, "file": made.file.name, "verified": made.verified, "rows": made.manifest.rows}
    new = folder / f".{what.name}-last.json"
    new.write_text(json.dumps(said))
    new.replace(_last(what.name, folder))


def backups(name: str, folder: Path) -> list[Path]:
    """The backups of the project in the folder, oldest first."""
    return sorted(folder.glob(f"{name}-2*.backup"))


def _dump_postgresql(what: Backed, connection: BaseDatabaseWrapper, scratch: Path) -> tuple[Path, Manifest]:
    refuse_without_programs(connection, "pg_dump")
    dump = scratch / POSTGRESQL_DUMP
    connection.set_autocommit(False)
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_export_snapshot(), now()")
        snapshot, moment = cursor.fetchone()
    command = ["pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}"]
    _run([*command, f"--file={dump}"], _surroundings(connection))
    manifest = _manifest(what, connection, moment, dump.name)
    connection.rollback()
    return dump, manifest


def _dump_sqlite(what: Backed, connection: BaseDatabaseWrapper, scratch: Path) -> tuple[Path, Manifest]:
    """Counted in the copy; that the copy is the original is what SQLite's online backup promises."""
    copy = scratch / "copy.sqlite3"
    with closing(sqlite3.connect(_file(connection))) as source, closing(sqlite3.connect(copy)) as target:
        moment = datetime.now(UTC)
        source.backup(target)
        # One file, without a second one beside it.
        target.execute("PRAGMA journal_mode = DELETE")
    with _opened(connection, copy) as copied:
        manifest = _manifest(what, copied, moment, SQLITE_DUMP)
    dump = scratch / SQLITE_DUMP
    with copy.open("rb") as source_file, gzip.open(dump, "wb", compresslevel=5) as packed:
        shutil.copyfileobj(source_file, packed, PIECE)
    copy.unlink()
    return dump, manifest


def _manifest(what: Backed, connection: BaseDatabaseWrapper, moment: datetime, dump: str) -> Manifest:
    return Manifest(
        project=what.name,
        version=what.version,
        at=moment.astimezone(UTC).isoformat(),
        engine=connection.vendor,
        server=_server_version(connection),
        migrations=sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations()),
        tables=figures(connection, what.money),
        dump=dump,
    )


def _server_version(connection: BaseDatabaseWrapper) -> str:
    if connection.vendor != "postgresql":
        return sqlite3.sqlite_version
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return str(cursor.fetchone()[0])


def figures(connection: BaseDatabaseWrapper, money: type[models.Field[Any, Any]]) -> Figures:
    """Of each table its number of rows and the sum of each column of money, in cents."""
    columns: dict[str, list[str]] = {}
    for model in apps.get_models(include_auto_created=True):
        found = [str(one.column) for one in model._meta.local_concrete_fields if isinstance(one, money)]
        columns[model._meta.db_table] = found
    with connection.cursor() as cursor:
        known = {
            table: {column.name for column in connection.introspection.get_table_description(cursor, table)}
            for table in connection.introspection.table_names(cursor)
        }
        counted: Figures = {}
        quote = connection.ops.quote_name
        for table, there in sorted(known.items()):
            names = [one for one in columns.get(table, []) if one in there]
            sums = "".join(f", COALESCE(SUM({quote(name)}), 0)" for name in names)
            cursor.execute(f"SELECT COUNT(*){sums} FROM {quote(table)}")
            row = zip(["rows", *names], cursor.fetchone(), strict=True)
            counted[table] = {name: int(value) for name, value in row}
        return counted


def _pack(dump: Path, manifest: Manifest, target: Path) -> Path:
    """The manifest first, so that reading it takes no time."""
    # The figures of the dump's file belong to the manifest that is stored.
    object.__setattr__(manifest, "bytes", dump.stat().st_size)
    object.__setattr__(manifest, "sha256", _digest(dump))
    text = json.dumps(asdict(manifest), indent=1, sort_keys=True).encode()
    with target.open("xb") as raw:
        os.fchmod(raw.fileno(), 0o600)
        with tarfile.open(fileobj=raw, mode="w") as archive:
            head = tarfile.TarInfo(MANIFEST)
            head.size, head.mode = len(text), 0o600
            archive.addfile(head, io.BytesIO(text))
            archive.add(dump, dump.name)
        raw.flush()
        os.fsync(raw.fileno())
    return target


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _flush(folder: Path) -> None:
    """A name that a folder was given is on the disk only when the folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# Reading and trying


def read_manifest(file: Path) -> Manifest:
    """Raises BackupError for what is no whole backup."""
    with _reading(file) as archive:
        first = archive.next()
        content = archive.extractfile(first) if first and first.name == MANIFEST else None
        if content is None:
            raise BackupError(f"{file} is no backup of ours: it does not begin with {MANIFEST}.")
        values = json.loads(content.read())
        if values.get("format") != FORMAT:
            raise BackupError(f"{file} has the format {values.get('format')}; this version reads {FORMAT}.")
        manifest = Manifest(**values)
        # It becomes the name of a file.
        if manifest.dump not in (POSTGRESQL_DUMP, SQLITE_DUMP):
            raise BackupError(f"{file} is broken: it names {manifest.dump} as its dump. Take another backup.")
        return manifest


@contextmanager
def _reading(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, "r:") as archive:
            yield archive
    except FileNotFoundError:
        raise BackupError(f"There is no file {file}.") from None
    except (OSError, EOFError, ValueError, TypeError, tarfile.TarError) as error:
        raise BackupError(f"{file} is broken: {error}. Take another backup.") from error


def _unpack(file: Path, manifest: Manifest, scratch: Path) -> Path:
    """The dump as a file of its own, which is what was packed to the last byte."""
    dump = scratch / manifest.dump
    with _reading(file) as archive:
        try:
            content = archive.extractfile(manifest.dump)
        except KeyError:
            content = None
        if content is None:
            raise BackupError(f"{file} is broken: it has no {manifest.dump}. Take another backup.")
        with dump.open("xb") as target:
            shutil.copyfileobj(content, target, PIECE)
    if dump.stat().st_size != manifest.bytes or _digest(dump) != manifest.sha256:
        raise BackupError(f"{file} is broken: {manifest.dump} has another checksum. Take another backup.")
    return dump


def verify(what: Backed, file: Path) -> Manifest:
    """Restore the backup beside the database, count rows and money, and drop what was restored. Raises BackupError."""
    manifest = read_manifest(file)
    with _own_connection() as connection, tempfile.TemporaryDirectory(prefix="annotate-verify-") as scratch:
        _refuse_foreign(what, manifest, connection)
        _try(connection, manifest, _unpack(file, manifest, Path(scratch)), Path(scratch), what)
    return manifest


def _try(connection: BaseDatabaseWrapper, manifest: Manifest, dump: Path, scratch: Path, what: Backed) -> None:
    if connection.vendor == "postgresql":
        with _scratch_database(connection) as restored:
            command = ["pg_restore", "--exit-on-error", "--no-owner", "--no-privileges"]
            _run([*command, f"--dbname={restored.settings_dict['NAME']}", str(dump)], _surroundings(restored))
            _compare(manifest, figures(restored, what.money))
        return
    with _opened(connection, _grown(dump, scratch)) as restored:
        _compare(manifest, figures(restored, what.money))


def _grown(dump: Path, scratch: Path) -> Path:
    """The SQLite file of a dump, whole by SQLite's own check."""
    file = scratch / "restored.sqlite3"
    with gzip.open(dump, "rb") as packed, file.open("wb") as target:
        shutil.copyfileobj(packed, target, PIECE)
    with closing(sqlite3.connect(file)) as opened:
        said = opened.execute("PRAGMA integrity_check").fetchone()[0]
    if said != "ok":
        raise BackupError(f"The restored database is broken: {said}")
    return file


def _compare(manifest: Manifest, there: Figures) -> None:
    differ = [name for name in sorted({*manifest.tables, *there}) if manifest.tables.get(name) != there.get(name)]
    if differ:
        first = differ[0]
        raise BackupError(
            f"What was restored is not what was backed up: {', '.join(differ[:5])} differ, such as {first} with "
            f"{there.get(first)} instead of {manifest.tables.get(first)}."
        )


@contextmanager
def _scratch_database(connection: BaseDatabaseWrapper) -> Iterator[BaseDatabaseWrapper]:
    """An empty one: that which `ops.database_roles` made for the role, or else one that the role makes and drops."""
    kept = scratch_name(connection.settings_dict["NAME"])
    with _named(connection, "postgres") as server, server.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [kept])
        if cursor.fetchone():
            with _emptied(connection, kept) as restored:
                yield restored
            return
        name = f"{kept}_{os.getpid()}"
        quoted = server.ops.quote_name(name)
        try:
            cursor.execute(f"CREATE DATABASE {quoted} TEMPLATE template0")
        except DatabaseError as error:
            role = connection.settings_dict["USER"]
            raise BackupError(
                f"The backup could not be tried: {str(error).strip()}. Make the database {kept} and give it to the "
                f'role, let the role make one, ALTER ROLE "{role}" CREATEDB, or back up with --unverified.'
            ) from error
        try:
            with _named(connection, name) as restored:
                yield restored
        finally:
            cursor.execute(f"DROP DATABASE IF EXISTS {quoted} WITH (FORCE)")


@contextmanager
def _emptied(connection: BaseDatabaseWrapper, name: str) -> Iterator[BaseDatabaseWrapper]:
    """The database of that name, for one program at a time; nothing is in it before and after."""
    empty = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"
    with _named(connection, name) as scratch, scratch.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_TRYING])
        if not cursor.fetchone()[0]:
            raise BackupError(f"Another program tries a backup in the database {name} now. Wait for its end.")
        cursor.execute(empty)
        try:
            yield scratch
        finally:
            cursor.execute(empty)


# Restoring


def restore(what: Backed, file: Path, *, replace: bool) -> Manifest:
    """Put what the backup holds in place of what the database holds, all or nothing. Raises BackupError.

    `replace` is needed for a database that is not empty. The tables are those of the backup's version afterwards.
    """
    manifest = read_manifest(file)
    with _own_connection() as connection, tempfile.TemporaryDirectory(prefix="annotate-restore-") as scratch:
        _refuse_foreign(what, manifest, connection)
        _refuse_other_versions(manifest)
        dump = _unpack(file, manifest, Path(scratch))
        if not replace and (held := _tables_with_rows(connection, what)):
            raise BackupError(
                f"The database is not empty: {', '.join(held[:4])} have rows. --replace drops what is in it. "
                "Nothing was changed."
            )
        _refuse_in_use(connection)
        if connection.vendor == "postgresql":
            _restore_postgresql(connection, manifest, dump)
        else:
            _restore_sqlite(connection, manifest, _grown(dump, Path(scratch)), what)
    return manifest


def _refuse_foreign(what: Backed, manifest: Manifest, connection: BaseDatabaseWrapper) -> None:
    if manifest.project != what.name:
        raise BackupError(f"This is a backup of {manifest.project}, and this is {what.name}. Nothing was changed.")
    if manifest.engine != connection.vendor:
        raise BackupError(
            f"The backup was made of a database of {manifest.engine}, and this one is of {connection.vendor}. "
            "Nothing was changed."
        )


def _refuse_other_versions(manifest: Manifest) -> None:
    """A newer one, and one whose tables this one cannot migrate."""
    applied = {(app, name) for app, name in (one.split(".", 1) for one in manifest.migrations)}
    if newer := sorted(applied - known_migrations()):
        raise BackupError(
            f"The backup was made by a newer version, {manifest.version}: this one does not know {'.'.join(newer[0])}. "
            "Install that version first. Nothing was changed."
        )
    if is_before_oldest(applied):
        raise BackupError(
            f"The backup was made by a version before {OLDEST}, {manifest.version}. Restore it with {OLDEST}, back up "
            "again, and restore that with this version. Nothing was changed."
        )


def _tables_with_rows(connection: BaseDatabaseWrapper, what: Backed) -> list[str]:
    """Tables that somebody filled: what migrating an empty database writes is nobody's."""
    own = {"django_migrations", "django_content_type", "auth_permission"} | what.filled
    with connection.cursor() as cursor:
        found = []
        for table in sorted(set(connection.introspection.table_names(cursor)) - own):
            cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")
            if cursor.fetchone():
                found.append(table)
        return found


def _refuse_in_use(connection: BaseDatabaseWrapper) -> None:
    """A program that is at work would go on with what it read before."""
    others = _sessions(connection) if connection.vendor == "postgresql" else _holders(_file(connection))
    if others:
        raise BackupError(
            f"Other programs use the database: {', '.join(others[:5])}. Stop web, worker, beat, marketplace and tick "
            "first. Nothing was changed."
        )


def _sessions(connection: BaseDatabaseWrapper) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid, application_name, client_port FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        found = cursor.fetchall()
    own = {one.laddr.port for one in psutil.Process().net_connections() if one.laddr}
    return [f"session {pid} {name}".strip() for pid, name, port in found if port not in own]


def _holders(file: Path) -> list[str]:
    """The processes that have a file open, as far as this one may see them."""
    found = []
    for process in psutil.process_iter(["pid", "name"]):
        if process.pid == os.getpid():
            continue
        try:
            if any(Path(opened.path) == file for opened in process.open_files()):
                found.append(f"{process.info['name']} ({process.pid})")
        except psutil.Error:
            continue
    return found


def _restore_sqlite(connection: BaseDatabaseWrapper, manifest: Manifest, restored: Path, what: Backed) -> None:
    """In one transaction of SQLite's online backup: whoever opens the file finds the old or the new content."""
    with _opened(connection, restored) as opened:
        _compare(manifest, figures(opened, what.money))
    connection.close()
    connections["default"].close()
    target = _file(connection)
    target.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(restored)) as source, closing(sqlite3.connect(target, timeout=LOCK_SECONDS)) as into:
        try:
            source.backup(into)
        except sqlite3.Error as error:
            raise BackupError(f"The database was not restored: {error}. Nothing was changed.") from error
        into.execute("PRAGMA journal_mode = WAL")


def _restore_postgresql(connection: BaseDatabaseWrapper, manifest: Manifest, dump: Path) -> None:
    """In one transaction, in which the rows are counted too: it is rolled back where a number differs."""
    refuse_without_programs(connection, "pg_restore", "psql")
    connection.close()
    connections["default"].close()
    surroundings = _surroundings(connection)
    script = dump.with_suffix(".sql")
    with script.open("w") as target:
        target.write(f"SET lock_timeout = '{LOCK_SECONDS}s';\nSET statement_timeout = 0;\n")
        target.write("DROP SCHEMA public CASCADE;\nCREATE SCHEMA public;\n")
    plain = dump.with_suffix(".plain")
    _run(["pg_restore", "--no-owner", "--no-privileges", f"--file={plain}", str(dump)], surroundings)
    with plain.open("rb") as lines, script.open("ab") as target:
        # A dump may create the schema itself. Line by line: files and media are in the dump too.
        target.writelines(line for line in lines if line != b"CREATE SCHEMA public;\n")
        target.write(_counting(manifest).encode())
    plain.unlink()
    _run(["psql", "-X", "-q", "--single-transaction", "-v", "ON_ERROR_STOP=1", "-f", str(script)], surroundings)


def _counting(manifest: Manifest) -> str:
    lines = []
    for table, wanted in manifest.tables.items():
        for name, value in wanted.items():
            found = "COUNT(*)" if name == "rows" else f'COALESCE(SUM("{name}"), 0)'
            lines.append(
                f'IF (SELECT {found} FROM public."{table}") <> {value} THEN '
                f"RAISE EXCEPTION 'what was restored is not what was backed up: {table}.{name}'; END IF;"
            )
    return "\nDO $counting$ BEGIN\n" + "\n".join(lines) + "\nEND $counting$;\n"


# Programs and connections


def refuse_without_programs(connection: BaseDatabaseWrapper, *names: str) -> None:
    """Raises BackupError where a client program is missing or of another major version than the server."""
    server = _server_version(connection).split(".")[0]
    for name in names:
        if not shutil.which(name):
            raise BackupError(f"{name} is not installed: install the client programs of PostgreSQL {server}.")
        said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
        own = re.search(r"(\d+)", said)
        if own is None or own[1] != server:
            raise BackupError(
                f"{name} is of version {own[1] if own else said}, the server of {server}: install the client programs "
                f"of PostgreSQL {server}."
            )


def _run(command: list[str], surroundings: Mapping[str, str]) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, **surroundings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise BackupError(f"{command[0]} failed, and nothing was changed: {said[-1000:]}")


def _surroundings(connection: BaseDatabaseWrapper) -> dict[str, str]:
    """For programs of PostgreSQL: a password in the environment, never on a command line."""
    values = connection.settings_dict
    options = values.get("OPTIONS", {})
    given = {
        "PGHOST": values["HOST"],
        "PGPORT": str(values["PORT"] or ""),
        "PGUSER": values["USER"],
        "PGPASSWORD": values["PASSWORD"],
        "PGDATABASE": values["NAME"],
        "PGSSLMODE": str(options.get("sslmode", "")),
        "PGSSLROOTCERT": str(options.get("sslrootcert", "")),
    }
    return {name: value for name, value in given.items() if value}


@contextmanager
def _own_connection() -> Iterator[BaseDatabaseWrapper]:
    """To the project's database, beside the one that the process may be using."""
    values = connections["default"].settings_dict
    with _handled(dict(values)) as connection:
        yield connection


@contextmanager
def _named(connection: BaseDatabaseWrapper, name: str) -> Iterator[BaseDatabaseWrapper]:
    """To another database of the same server, or another file."""
    with _handled({**connection.settings_dict, "NAME": name}) as other:
        yield other


@contextmanager
def _opened(connection: BaseDatabaseWrapper, file: Path) -> Iterator[BaseDatabaseWrapper]:
    """A copy of the database, of which nothing is left beside its file."""
    options = {"timeout": LOCK_SECONDS}
    with _handled({**connection.settings_dict, "NAME": str(file), "OPTIONS": options}) as other:
        yield other


@contextmanager
def _handled(values: dict[str, Any]) -> Iterator[BaseDatabaseWrapper]:
    connection = ConnectionHandler({"default": values})["default"]
    try:
        yield connection
    finally:
        connection.close()


def _file(connection: BaseDatabaseWrapper) -> Path:
    return Path(connection.settings_dict["NAME"]).resolve()
