"""A project of ReCoRD with articles of our own writing in its first stage."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from hits.items.verbs import importing
from hits.models import Project, Stage, Upload
from hits.projects.verbs import projects

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "articles"


@cache
def archive(*names: str) -> bytes:
    """A zip of these sample articles, of all without a name."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as found:
        for file in sorted(SAMPLES.glob("*.story")):
            if not names or file.stem in names:
                found.writestr(f"articles/{file.name}", file.read_bytes())
    return made.getvalue()


def bring(project: Project, content: bytes, name: str = "articles.zip") -> Upload:
    upload = importing.create_upload(project, name, content, "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def article_project(owner: Any, *names: str, **options: Any) -> Project:
    made = projects.create_project("River", "record", Decimal(100), "lab@example.org", owner, options=options, seed=7)
    upload = bring(made, archive(*names))
    assert upload.state == Upload.State.DONE, (upload.state, upload.faults, upload.error)
    return made


def generate(project: Project) -> Stage:
    return project.stages.select_related("summary", "project__account").get(key="generate")
