"""A PostgreSQL role and a database for each project, neither of which may look into the other's.

`python -m ops.database_roles`: ADMIN_DATABASE_URL is of a role that may make roles and databases. DATABASE_URL and
MARKETPLACE_DATABASE_URL name what is to be there: user, password and database. Beside each database there is an empty
one in which its backups are tried, for the roles may make none. What is there already stays: a database that the
administrator owned before is handed over, with its tables. May be run again, as after a change of a password.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from urllib.parse import quote, unquote, urlsplit

import psycopg2
from psycopg2 import sql
from psycopg2.extensions import connection as Connection

from common.backups import scratch_name
from ops.ensure_database import ensure

NAMES = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL")
# Tables, partitioned tables, sequences, views and materialized views; an index belongs to whoever owns its table, a
# sequence of a column too.
OWNED = """
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND c.relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
      AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i') AND c.relkind = 'S')
"""


def hand_out(admin_url: str, url: str) -> str:
    """Make the role and the database of `url`; the role's name. Raises psycopg2.Error when the server refuses."""
    parts, admin = urlsplit(url), urlsplit(admin_url)
    role, password, database = (unquote(part or "") for part in (parts.username, parts.password, parts.path.strip("/")))
    with _connected(admin_url) as server:
        _make_role(server, role, password)
    for name in (database, scratch_name(database)):
        _hand_over(admin._replace(path=f"/{quote(name)}").geturl(), name, role)
    return role


def _hand_over(inside: str, database: str, role: str) -> None:
    """`inside` is the address of the database for the administrator."""
    ensure(inside)
    with _connected(inside) as server:
        _run(server, "ALTER DATABASE {} OWNER TO {}", database, role)
        _run(server, "REVOKE ALL ON DATABASE {} FROM PUBLIC", database)
        _run(server, "ALTER SCHEMA public OWNER TO {}", role)
        _run(server, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
        with server.cursor() as cursor:
            cursor.execute(OWNED)
            owned = cursor.fetchall()
        for (name,) in owned:
            _run(server, "ALTER TABLE public.{} OWNER TO {}", name, role)


def _make_role(server: Connection, role: str, password: str) -> None:
    with server.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role])
        verb = "ALTER" if cursor.fetchone() else "CREATE"
        statement = f"{verb} ROLE {{}} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {{}}"
        cursor.execute(sql.SQL(statement).format(sql.Identifier(role), sql.Literal(password)))


def _run(server: Connection, statement: str, *names: str) -> None:
    with server.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _connected(url: str) -> closing[Connection]:
    server = psycopg2.connect(url)
    server.autocommit = True
    return closing(server)


def main() -> int:
    missing = [name for name in ("ADMIN_DATABASE_URL", *NAMES) if not os.environ.get(name)]
    if missing:
        print(f"Set {', '.join(missing)} in the environment.", file=sys.stderr)
        return 1
    admin = urlsplit(os.environ["ADMIN_DATABASE_URL"])
    users = [admin.username, *(urlsplit(os.environ[name]).username for name in NAMES)]
    if len(set(users)) < len(users):
        print("The three addresses must have three different users.", file=sys.stderr)
        return 1
    for name in NAMES:
        role = hand_out(admin.geturl(), os.environ[name])
        print(f"{role} has the database {urlsplit(os.environ[name]).path.strip('/')}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
