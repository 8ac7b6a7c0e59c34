"""Releasing: an immutable set of files with a manifest. The same verdicts give the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Sum

from hits.core.action_log import record
from hits.core.reading import snapshot
from hits.formats.outputs import croissant, data_card, parquet_facts
from hits.formats.outputs.licences import OWN, OWN_FILE
from hits.formats.outputs.parquet_facts import TableFacts
from hits.items.rules.media import used
from hits.judging.rules import stage_statistics
from hits.judging.rules.recipe_rows import Rows
from hits.models import (
    Assignment,
    Blob,
    Block,
    Item,
    Project,
    Release,
    ReleaseFile,
    Stage,
    StageSummary,
    Webhook,
    WebhookDelivery,
)
from hits.payments.rules import wages
from hits.people.rules import terms
from hits.projects.rules.plugins import options_of, recipe_of, settings_of, usable_protocol
from hits.protocols.optional import LevelledProtocol, RowsProtocol
from hits.publishing.rules import check_questions
from hits.publishing.rules.hit_items import left_out
from hits.recipes.source import JudgedItem, ReleaseContent
from hits.recipes.table_rows import ANNOTATIONS, release_of
from hits.refusals import Refused
from hits.releases.rules import (
    models_in_releases,
    release_cards,
    release_folders,
    release_values,
    released_splits,
    saved_pages,
    single_answers,
)
from hits.stages.rules.stage_tables import is_added
from hits.stats.aggregation.methods import METHODS
from hits.webhooks.rules import api_address

MANIFEST, README = "manifest.json", "README.md"
PART_BYTES = 1 << 18

# What else became of items, by its name in the funnel.
_UNDECIDED = {"Items withdrawn": "withdrawn", "Items not decided": "open"}
CHECKS = "check questions, which are no data"
ABOUT_CHECKS = "about check questions"
UNTOLD = "about texts whose labels are not told"


def preview(project: Project) -> dict[str, Any]:
    """What a release made now would hold: counts per split, what is left out and why, statistics, scores.

    `why_empty` is empty where it would hold anything.
    """
    content = _build(project)
    return {
        "why_empty": "" if any(content.counts.values()) else why_empty(project),
        "counts": content.counts,
        "left_out": content.left_out,
        "statistics": content.statistics,
        "notes": list(content.notes),
        "scores": _scores(project),
        "collection": _collection(project),
        "agreement": _agreement(project),
        "aggregated": list(content.aggregated),
        "worker_terms": terms.facts(project) or None,
        **_stated(project),
    }


def release(project: Project, user: User | None) -> tuple[Release, bool]:
    """The release of the verdicts as they stand, and whether it is new.

    When nothing changed since the last release, that one is returned. Raises Refused (nothing_to_release).
    """
    last = _last_number(project)
    content = _build(project)
    if not any(content.counts.values()):
        raise Refused("nothing_to_release", why_empty(project))
    files = {name: io.BytesIO(file) if isinstance(file, bytes) else file for name, file in content.files.items()}
    if (said := release_cards.stated(project.card)).licence == OWN:
        files[OWN_FILE] = io.BytesIO(f"{said.terms}\n".encode())
    agreed = terms.facts(project)
    files |= {name: io.BytesIO(text) for name, text in terms.files(project, agreed).items()}
    tables = {file: files[file] for splits in content.tables.values() for file in splits.values()}
    card = _card(project, content, agreed, parquet_facts.read(tables))
    files[README] = io.BytesIO(data_card.written(card))
    sums = {name: _sum(file) for name, file in tables.items()}
    files[croissant.FILE] = io.BytesIO(croissant.written(card, sums))
    manifest = _manifest(project, content, files, agreed)
    files[MANIFEST] = io.BytesIO(to_bytes(manifest))
    digest = _digest(project, files)
    latest = project.releases.order_by("-number").first()
    if latest and latest.digest == digest:
        return latest, False
    made = _store(project, manifest, digest, files, user, content, last)
    # Of two that are made at once the later one has to know the splits of the other.
    return (made, True) if made else release(project, user)


def refuse_unjudged(project: Project) -> None:
    """What needs no building to be known: nothing has a verdict yet. Raises Refused (nothing_to_release)."""
    if not any(stage.summary.kept or stage.summary.dropped for stage in _stages(project)):
        raise Refused("nothing_to_release", why_empty(project))


def why_empty(project: Project) -> str:
    """Why a release would hold nothing and what to do, from the figures of the stages."""
    return f"There is nothing to release: {_why_empty([(stage, stage.summary) for stage in _stages(project)])}"


def _stages(project: Project) -> list[Stage]:
    return list(project.stages.filter(crowd=True).select_related("summary").order_by("position"))


def _why_empty(stages: Sequence[tuple[Stage, StageSummary]]) -> str:
    filled = [(stage, found) for stage, found in stages if found.items]
    if not filled:
        return "no item is here. Import a file and publish its items."
    for stage, found in filled:
        if found.waiting:
            return f"{found.waiting:,} of {found.items:,} items of “{stage.title}” are not published. Publish them."
    for stage, found in filled:
        if found.to_review:
            return f"{found.to_review:,} answers in “{stage.title}” wait for review. Approve or reject them."
    for stage, found in filled:
        if found.open:
            return f"{found.open:,} items of “{stage.title}” wait for answers. Wait for them, or close early."
    stage, found = filled[-1]
    if not found.kept:
        return f"the rule of “{stage.title}” dropped all {found.items:,} items. Look at its rule."
    return f"what was kept in “{stage.title}” was left out. The list of what is left out says why."


def to_bytes(data: Any) -> bytes:
    """JSON with one spelling: sorted keys, two spaces, a line end."""
    return (json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def _build(project: Project) -> ReleaseContent:
    # Recipes read the items more than once, and verdicts may come meanwhile.
    with snapshot():
        if not project.stages.exists():
            raise Refused("nothing_to_release", "There is nothing to release: the project has no stages.")
        content: ReleaseContent = recipe_of(project).steps.build_release(Rows(project))
        # Published or not.
        if checks := StageSummary.objects.filter(stage__project=project).aggregate(n=Sum("check_questions"))["n"]:
            content = replace(content, left_out={**content.left_out, CHECKS: checks})
        added = [stage for stage in project.stages.exclude(input={}).order_by("position") if is_added(stage)]
        hidden = _hidden(project, content.told) if added else _Hidden()
        for stage in added:
            content = _with_stage(content, stage, hidden)
        content = _with_values(project, _with_answers(project, content))
        by_models = models_in_releases.files_of(project, content.told)
        pages, facts = saved_pages.files_of(project, content.told)
        content = replace(content, files={**content.files, **by_models, **pages}, pages=tuple(facts))
        # Read once: verdicts may come before they are stored.
        placed = tuple(content.splits()) if content.splits else ()
        gone = released_splits.checked(project, placed) if content.splits else []
        return replace(content, notes=(*content.notes, *gone), splits=lambda: placed)


def _with_answers(project: Project, content: ReleaseContent) -> ReleaseContent:
    """The content with single answers, where the lead releases them and the recipe does not do so itself."""
    if not release_cards.stated(project.card).single_answers or ANNOTATIONS in content.files:
        return content
    files, tables = single_answers.files_of(project, content.told)
    return replace(content, files={**content.files, **files}, tables={**content.tables, **tables})


def _with_values(project: Project, content: ReleaseContent) -> ReleaseContent:
    """The content with the values that were aggregated from the answers, where they were."""
    files, tables, facts = release_values.files_of(project, content.told)
    return replace(
        content, files={**content.files, **files}, tables={**content.tables, **tables}, aggregated=tuple(facts)
    )


@dataclass(frozen=True)
class _Hidden:
    """What no added stage may tell, by keys: the documents of which the recipe tells no label, and the items and
    documents with a known answer that judges workers.
    """

    documents: Set[str] = frozenset()
    check_items: Set[str] = frozenset()
    check_documents: Set[str] = frozenset()

    def why(self, document: str, item: str) -> str:
        """Empty where it may be told."""
        if document in self.documents:
            return UNTOLD
        return ABOUT_CHECKS if item in self.check_items or document in self.check_documents else ""


class _Told(Rows):
    """Without the items that are hidden."""

    def __init__(self, project: Project, hidden: _Hidden) -> None:
        super().__init__(project)
        self._hidden = hidden

    def judged(self, stage: str, *, labels: bool = False, computation: str = "") -> Iterator[JudgedItem]:
        found = super().judged(stage, labels=labels, computation=computation)
        return (item for item in found if not self._hidden.why(item.document_key, item.key))


def _hidden(project: Project, told: release_values.Told) -> _Hidden:
    """The documents are those with kept items of which the recipe tells no label, such as those of test."""
    rows = Rows(project)
    kept, shown = set(), set()
    for stage, items in told.items():
        keys = {item.key for item in items()}
        for item in rows.judged(stage):
            if item.key in keys:
                shown.add(item.document_key)
            elif item.outcome == "kept":
                kept.add(item.document_key)
    return _Hidden(frozenset(kept - shown), *check_questions.untold(project))


def _with_stage(content: ReleaseContent, stage: Stage, hidden: _Hidden) -> ReleaseContent:
    """The content with the files of a stage that a lead added, each named after the stage's key. Its rows hold the
    file's columns and what earlier stages said, so there are none about what is hidden.
    """
    protocol = usable_protocol(stage)
    if not (isinstance(protocol, LevelledProtocol) and isinstance(protocol, RowsProtocol)):
        return content
    own = release_of(_Told(stage.project, hidden), stage.key, protocol.levels(settings_of(stage)))
    kept = stage.items.filter(state=Item.State.KEPT).values_list("document__key", "key")
    untold = Counter(why for document, key in kept.iterator() if (why := hidden.why(document, key)))
    own = replace(own, left_out={**own.left_out, **untold})
    files, tables = (own.files, own.tables) if own.counts["items"] else ({}, {})
    prefixed = {
        f"{stage.key}-{name}": {split: f"{stage.key}-{file}" for split, file in splits.items()}
        for name, splits in tables.items()
    }
    return replace(
        content,
        files={**content.files, **{f"{stage.key}-{name}": file for name, file in files.items()}},
        counts={**content.counts, **{f"{stage.key} {what}": count for what, count in own.counts.items()}},
        left_out={**content.left_out, **{f"{stage.key}: {why}": count for why, count in own.left_out.items()}},
        notes=tuple(dict.fromkeys((*content.notes, *own.notes))),
        tables={**content.tables, **prefixed},
        told={**content.told, **own.told},
    )


def _card(
    project: Project, content: ReleaseContent, agreed: Mapping[str, Any], facts: Mapping[str, TableFacts]
) -> data_card.Card:
    recipe = recipe_of(project)
    stages = list(project.stages.filter(crowd=True).select_related("summary").order_by("position"))
    said, key = release_cards.stated(project.card), release_folders.key_of(project)
    rows = zip(stages, _collection(project), strict=True)
    asked = [(stage.title, _facts(stage, row)) for stage, row in rows if is_told(row)]
    return data_card.Card(
        title=project.name,
        recipe=f"{recipe.title} {recipe.version}",
        description=recipe.description,
        tables=content.tables,
        counts=content.counts,
        left_out=content.left_out,
        funnel={f"{content.written[0]} written": content.written[1], **content.funnel} if content.funnel else {},
        notes=content.notes,
        stages=asked,
        rules={stage.title: rule for stage in stages if (rule := stage.rule["params"].get("text", ""))},
        aggregated=[
            (stage.title, _values_facts(row))
            for row in content.aggregated
            for stage in stages
            if stage.key == row["stage"]
        ],
        pages=saved_pages.described(list(content.pages), {stage.key: stage.title for stage in stages}),
        about=said.description,
        licence=said.licence,
        terms=said.terms,
        citation=said.citation,
        language=said.language or recipe.language,
        tasks=recipe.task_categories,
        asked={release_cards.TEXTS[name].label: getattr(said, name) for name in release_cards.DATASHEET},
        facts=facts,
        agreed=_agreed(agreed),
        key=key if key in content.files else "",
    )


def _agreed(found: Mapping[str, Any]) -> dict[str, str]:
    """Answers by the version of the terms that their workers agreed to, in words."""
    if not found:
        return {}
    rows = {}
    for row in found["versions"]:
        since, until = row["from"][:10], row["until"]
        dates = f"{since} to {until[:10]}" if until else f"from {since} on"
        rows[f"Version {row['version']}, {dates} ({row['file']})"] = f"{row['answers']:,}"
    return {**rows, "No version": f"{found['answers_under_none']:,}"}


def _noted(row: Mapping[str, Any]) -> str:
    return f" ({row['wage_note']})" if row.get("wage_note") else ""


def _stated(project: Project) -> dict[str, Any]:
    """What the lead states, each null where nothing is. A licence of one's own has no `spdx` and `url`, but `text`."""
    said = release_cards.stated(project.card)
    licence: dict[str, str] | None = {"file": OWN_FILE, "text": said.terms} if said.licence == OWN else None
    if known := said.known:
        licence = {"spdx": known.spdx, "title": known.title, "url": known.url}
    texts = {name: getattr(said, name) or None for name in release_cards.TEXTS}
    return {"licence": licence, **texts}


def _facts(stage: Stage, row: Mapping[str, Any]) -> dict[str, str]:
    """What a reader of the data has to know of a stage; `row` is its row of the funnel."""
    hourly, seconds = row["wage_an_hour"], row["median_seconds"]
    wanted = str(stage.answers) if stage.most_answers is None else f"{stage.answers} to {stage.most_answers}"
    imported, given = row.get("imported_answers", 0), row["answers"]
    paid = {
        "Reward for an answer": f"${row['reward']}",
        "Median time": f"{seconds:.1f} s" if seconds else "not known",
        "Wage an hour": f"${hourly}{_noted(row)}" if hourly else "not known",
    }
    asked = {
        "Workers read": stage.hit_title,
        "Description": stage.hit_description,
        "Answers wanted an item": wanted,
    }
    return {
        # Imported answers were asked for elsewhere, in other words.
        **(asked if given > imported or not given else {}),
        "Answers": f"{given:,}",
        **({"Imported answers, given and paid elsewhere": f"{imported:,}"} if imported else {}),
        "Workers": f"{row['workers']:,}",
        "Blocked workers": f"{row['blocked_workers']:,}",
        **(paid if given > imported else {}),
        **({"Rejected answers": f"{row['rejected_answers']:,}"} if row["rejected_answers"] else {}),
        "Items": f"{row['all_items']:,}",
        "Items asked about": f"{row['asked']:,}",
        "Items answered": f"{row['answered']:,}",
        "Items kept": f"{row['kept']:,} of {row['all_items']:,}",
        "Items dropped": _dropped(row),
        **models_in_releases.facts(row.get("decided_by_models")),
        **{said: f"{row[name]:,}" for said, name in _UNDECIDED.items() if row[name]},
    }


def is_told(row: Mapping[str, Any]) -> bool:
    """Whether there is something to say of a stage's row of the funnel: answers came, or models decided items."""
    return bool(row["answers"] or row.get("decided_by_models"))


def _dropped(row: Mapping[str, Any]) -> str:
    """How many, and why; the most frequent reason first."""
    why = ", ".join(f"{reason} {n:,}" for reason, n in row["dropped_by_reason"].items())
    return f"{row['dropped']:,}{f' ({why})' if why else ''}"


def _values_facts(row: Mapping[str, Any]) -> dict[str, str]:
    """What a reader has to know of a stage's aggregated values."""
    by = sorted({METHODS[name][0] for name in row["methods"].values()})
    moment = datetime.fromisoformat(row["computed_at"])
    older = "yes: answers came or stopped counting since" if row["older_than_answers"] else "no"
    return {
        "Values by": ", ".join(by),
        "Computed": f"{moment:%Y-%m-%d %H:%M} UTC",
        "Answers that had come": f"{row['answers'] or 0:,}",
        "Older than the newest answers": older,
        "Values": f"{row['values']:,}",
    }


def _scores(project: Project) -> dict[str, Any]:
    return {
        stage.key: stage.summary.scores for stage in project.stages.select_related("summary") if stage.summary.scores
    }


def _agreement(project: Project) -> dict[str, Any]:
    """How far workers agreed, by stage and unit, as it was computed last; stages without a run are left out."""
    found = {stage.key: stage_statistics.for_release(stage) for stage in _stages(project)}
    return {key: units for key, units in found.items() if units}


def _collection(project: Project) -> list[dict[str, Any]]:
    """The funnel, stage by stage: what was asked and what became of it, by whom, how fast and at what wage.

    Seconds are the median of all answers, dollars are written as text; both are None before the first answer.
    """
    return [_funnel(stage) for stage in _stages(project)]


def _funnel(stage: Stage) -> dict[str, Any]:
    found = stage.summary
    reasons = {word: n for state, word, n in found.conclusions if state == Item.State.DROPPED}
    if others := found.dropped - sum(reasons.values()):
        reasons["by the rule"] = others
    median = found.median_seconds
    return {
        "stage": stage.key,
        "all_items": found.items,
        "asked": _asked(stage),
        "answered": found.answered,
        "kept": found.kept,
        "dropped": found.dropped,
        "dropped_by_reason": reasons,
        "withdrawn": found.withdrawn,
        "open": found.items - found.kept - found.dropped - found.withdrawn,
        "answers": found.answers,
        # Told where there are any: other releases stay what they are.
        **({"imported_answers": found.imported} if found.imported else {}),
        **({"decided_by_models": by_models} if (by_models := models_in_releases.described(stage)) else {}),
        "rejected_answers": found.rejected,
        "workers": stage.worker_stats.filter(answers__gt=0).count(),
        "blocked_workers": Block.objects.standing().blocks().filter(stage=stage).count(),
        "median_seconds": median,
        **_pay(stage, median),
    }


def _asked(stage: Stage) -> int:
    """Items about which people were asked, here or where imported answers come from."""
    found = stage.summary
    if not found.imported:
        return found.published
    imported = Assignment.objects.filter(item=OuterRef("pk"), stage=stage)
    return found.published + left_out(stage.items.filter(Exists(imported))).count()


def _pay(stage: Stage, median: float | None) -> dict[str, Any]:
    """What an answer paid, and what that makes an hour.

    Where the reward changed from one batch to another, `reward` is the mean of the approved answers, and `rewards` has
    their number for each reward. The time is the one by which the stage's page reckons the wage
    (`hits.payments.rules.wages`); `wage_note` says where that is not the measured median. The answers are counted there
    alone: elsewhere pages cost the same with many answers.
    """
    mean, more = stage.reward, dict[str, Any]()
    if stage.earlier_hit_types:
        approved = stage.assignments.filter(state=Assignment.State.APPROVED).order_by().values_list("hit__reward")
        rewards: dict[Decimal, int] = dict(approved.annotate(n=Count("id")))
        paid = sum((reward * n for reward, n in rewards.items()), Decimal(0))
        mean = paid / sum(rewards.values()) if rewards else stage.reward
        more["rewards"] = {f"{reward:.2f}": rewards[reward] for reward in sorted(rewards)}
    time = wages.answer_time(stage) if median else None
    if time and time.told:
        # Told where there is anything: other releases stay what they are.
        more["wage_note"] = time.told
    return {"reward": f"{mean:.2f}", "wage_an_hour": str(time.hourly(mean)) if time else None, **more}


def _manifest(
    project: Project, content: ReleaseContent, files: Mapping[str, BinaryIO], worker_terms: Mapping[str, Any]
) -> dict[str, Any]:
    recipe = recipe_of(project)
    return {
        "project": project.name,
        "recipe": {"name": recipe.name, "version": recipe.version},
        **_stated(project),
        "code_version": settings.CODE_VERSION,
        "seed": project.seed,
        "options": options_of(project),
        "rules": {stage.key: stage.rule for stage in project.stages.filter(crowd=True)},
        "counts": content.counts,
        "left_out": content.left_out,
        **({"funnel": _written(content)} if content.funnel else {}),
        "notes": list(content.notes),
        "statistics": content.statistics,
        "scores": _scores(project),
        "collection": _collection(project),
        **({"agreement": agreed} if (agreed := _agreement(project)) else {}),
        **({"task_pages": list(content.pages)} if content.pages else {}),
        **({"aggregated": list(content.aggregated)} if content.aggregated else {}),
        "artefacts": content.check() if content.check else {},
        **({"media": found} if (found := media_of(project)) else {}),
        **({"worker_terms": worker_terms} if worker_terms else {}),
        "files": [_listed(name, file, name == release_folders.key_of(project)) for name, file in sorted(files.items())],
    }


def _written(content: ReleaseContent) -> dict[str, Any]:
    unit, written = content.written
    return {"unit": unit, "written": written, "lines": dict(content.funnel)}


def _listed(name: str, file: BinaryIO, is_secret: bool) -> dict[str, Any]:
    """Without the sum of a secret file: the manifest is published, and answers that somebody guessed could be checked
    by it.
    """
    size: dict[str, Any] = {"name": name, "bytes": file.seek(0, io.SEEK_END)}
    return {**size, "beside_the_folder": True} if is_secret else {**size, "sha256": _sum(file)}


def media_of(project: Project) -> list[dict[str, Any]]:
    """The uploaded files that published items show, which cannot be deleted. The manifest names them."""
    shown = used(project)
    return [
        {"name": file.name, "type": file.content_type, "bytes": file.blob.size, "sha256": file.blob.sha256}
        for file in project.media.ready().select_related("blob").order_by("name")
        if file.pk in shown
    ]


def _digest(project: Project, files: Mapping[str, BinaryIO]) -> str:
    """What tells one release from another: the sum of the manifest, and where answers are secret, theirs with a secret
    before it, for leads cite it.
    """
    if (key := release_folders.key_of(project)) not in files:
        return _sum(files[MANIFEST])
    return _sum(files[MANIFEST], io.BytesIO(project.pseudonym_key.encode()), files[key])


def _sum(*files: BinaryIO) -> str:
    """The SHA-256 of the files one after the other."""
    digest = hashlib.sha256()
    for file in files:
        file.seek(0)
        while part := file.read(PART_BYTES):
            digest.update(part)
    return digest.hexdigest()


@transaction.atomic
def _store(
    project: Project,
    manifest: dict[str, Any],
    digest: str,
    files: Mapping[str, BinaryIO],
    user: User | None,
    content: ReleaseContent,
    last: int,
) -> Release | None:
    """None where `last` is the newest release no more."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if _last_number(project) != last:
        return None
    if last and not project.released_items.exists():
        released_splits.copy(project, project)
    made = Release.objects.create(project=project, number=last + 1, digest=digest, manifest=manifest, created_by=user)
    for name, file in sorted(files.items()):
        file.seek(0)
        ReleaseFile.objects.create(release=made, name=name, blob=Blob.store_stream(file))
    released_splits.store(project, content.splits() if content.splits else ())
    record(project, user, "made a release", detail={"release": made.number})
    facts = {
        "number": made.number,
        "digest": digest,
        "counts": manifest["counts"],
        "see": api_address("release", project.slug, made.number),
    }
    WebhookDelivery.objects.announce(project.pk, Webhook.Event.RELEASE_MADE, lambda: [facts])
    return made


def _last_number(project: Project) -> int:
    return project.releases.aggregate(last=Max("number"))["last"] or 0
