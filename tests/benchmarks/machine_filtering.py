"""Machine filtering of real news and of as many synthetic queries as a large collection has.

Part of `make bench`; alone: `python -m tests.benchmarks.machine_filtering`. Each reader answers the queries of
../shared/data/news/bbc-news.jsonl in five folds, without the articles whose text came before; where the file is not
there, that is said. Then 10,000 and 100,000 synthetic queries in two folds, each in a process with a database of its
own: what counts as flat is what a run adds to the process at its most, through the whole of
`hits.judging.verbs.computing`.
FILTERING_TRIPLES makes the second number smaller. Times are of the processor.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from math import sqrt
from pathlib import Path
from typing import Any

from ops.surroundings import ROOT

TRIPLES = int(os.environ.get("FILTERING_TRIPLES", "100000"))
FEWER = 10
QUERIES_AN_ARTICLE = 5
NEWS = ROOT.parent / "shared" / "data" / "news" / "bbc-news.jsonl"
READERS = ("random", "most_frequent", "linear")
FOLDS = 5
SEED = 7
# What ten times as many queries may take at the most.
TIMES_THE_MEMORY = 1.5
SECONDS = 7200
Json = dict[str, Any]


def main() -> int:
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        if NEWS.exists():
            fine &= _news(Path(folder))
        else:
            print(f"{NEWS} is not there: no figures on real news.")
        fine &= _memory(Path(folder))
    return 0 if fine else 1


def _news(folder: Path) -> bool:
    made = _child(folder, "generate", str(folder / "items.jsonl"))
    print(
        f"\n{made['articles']:,} articles, {made['repeated']:,} of them repeat another, {made['items']:,} give queries"
    )
    found = _child(folder, "news", str(folder / "items.jsonl"))
    n = found["queries"]
    for name in READERS:
        right = sum(found["right"][name])
        low, high = _wilson(right, n)
        figures = found["cost"][name]
        print(
            f"  {name:14} {right:6,} of {n:,} right, {right / n:.1%} (95 %: {low:.1%} to {high:.1%}), "
            f"{figures['cpu'] / 60:.1f} minutes of the processor, {figures['peak']:.0f} MiB more at its most"
        )
    fine = True
    for other in READERS[:-1]:
        low, share, high = _paired(found["right"]["linear"], found["right"][other])
        fine &= low > 0
        print(
            f"  linear less {other}, query by query: {share:+.1%} (95 %: {low:+.1%} to {high:+.1%})   {_word(low > 0)}"
        )
    return fine


def _memory(folder: Path) -> bool:
    few, many = (_child(folder, "memory", str(count)) for count in (TRIPLES // FEWER, TRIPLES))
    for each in (few, many):
        told = f"{each['queries']:,} queries in two folds, {each['cpu'] / 60:.1f} minutes of the processor"
        print(f"  {told}: at its most {each['peak']:.1f} MiB more than before")
    times = many["peak"] / few["peak"]
    print(f"  {times:.2f} times the memory, wanted {TIMES_THE_MEMORY}   {_word(times <= TIMES_THE_MEMORY)}")
    return times <= TIMES_THE_MEMORY


def _word(fine: bool) -> str:
    return "ok" if fine else "MISSED"


def _wilson(right: int, n: int) -> tuple[float, float]:
    from hits.stats.intervals import wilson

    return wilson(right, n)


def _paired(one: list[int], other: list[int]) -> tuple[float, float, float]:
    """(low, difference of the shares, high): the normal interval of a difference of paired shares."""
    n = len(one)
    gained = sum(a > b for a, b in zip(one, other, strict=True))
    lost = sum(a < b for a, b in zip(one, other, strict=True))
    share = (gained - lost) / n
    half = 1.96 * sqrt(gained + lost - (gained - lost) ** 2 / n) / n
    return share - half, share, share + half


def _child(folder: Path, *arguments: str) -> Json:
    database = folder / f"{arguments[0]}-{Path(arguments[1]).name}.sqlite3"
    env = {**os.environ, "DATABASE_URL": f"sqlite:///{database}", "DJANGO_SETTINGS_MODULE": "tests.settings.annotate"}
    command = [sys.executable, "-m", "tests.benchmarks.machine_filtering", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    found: Json = json.loads(done.stdout.splitlines()[-1])
    return found


# In a process of its own


def tables() -> None:
    """An empty database as DATABASE_URL names it, made from the models at once."""
    import django
    from django.apps import apps
    from django.conf import settings
    from django.core.management import call_command

    django.setup()
    settings.MIGRATION_MODULES = {app.label: None for app in apps.get_app_configs()}
    call_command("migrate", run_syncdb=True, verbosity=0)


def project_of(items: Iterable[tuple[str, Json]], name: str) -> Any:
    """A project of the recipe `record` whose stage of generated queries holds these items."""
    from hits.models import Document, Item
    from tests.hits import factories

    project = factories.project(slug=name, name=name, seed=SEED)
    stage = factories.stage(project, key="generate")
    waiting = iter(items)
    while some := list(islice(waiting, 500)):
        documents = [Document(project=project, key=key, origin="public", data={}) for key, _ in some]
        made = Document.objects.bulk_create(documents)
        Item.objects.bulk_create(
            Item(stage=stage, document=document, key=key, data=data)
            for document, (key, data) in zip(made, some, strict=True)
        )
    return project


def filtered(project: Any, **params: Any) -> tuple[Any, Json]:
    """(the finished run, what it took)."""
    from hits.judging.verbs import computing

    run = computing.start(project, "filter", params, None)
    forget_peak()
    before, began = peak(), time.process_time()
    computing.run(run.pk)
    run.refresh_from_db()
    return run, {"cpu": time.process_time() - began, "peak": peak() - before}


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """The most memory that the process has had since `forget_peak`, in MiB."""
    (found,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found) / 1024


def right_by_query(run: Any) -> dict[str, int]:
    rows = run.concluded.values_list("item__key", "data").iterator(chunk_size=500)
    return {f"{key}/{query}": int(one["correct"]) for key, data in rows for query, one in data["queries"].items()}


def _measure_news(file: Path) -> Json:
    tables()
    with file.open() as lines:
        project = project_of((tuple(json.loads(line)) for line in lines), "news")
    _warm_up()
    right, cost = {}, {}
    for name in READERS:
        run, cost[name] = filtered(project, reader=name, folds=FOLDS)
        right[name] = [value for _, value in sorted(right_by_query(run).items())]
    return {"queries": len(right["linear"]), "right": right, "cost": cost}


def _measure_memory(count: int) -> Json:
    tables()
    project = project_of(synthetic(count // QUERIES_AN_ARTICLE), "synthetic")
    _warm_up()
    run, cost = filtered(project, reader="linear", folds=2)
    return {"queries": run.total, **cost}


def _warm_up() -> None:
    """Loading the libraries is no part of the growth, nor are the weights, which have one size."""
    filtered(project_of(synthetic(200), "warm-up"), reader="linear", folds=2)


def _generate(file: Path) -> Json:
    from hits.formats.inputs import articles
    from hits.text.originality.fingerprints import duplicates, fingerprint
    from hits.text.questions.passage_queries import generate_all

    with NEWS.open("rb") as stream:
        read = articles.read(stream, NEWS.name)
    repeated = duplicates((one.key, fingerprint(" ".join(one.paragraphs))) for one in read)
    own = [one for one in read if one.key not in repeated]
    items = 0
    with file.open("w") as out:
        for one, made in zip(own, generate_all(own), strict=True):
            if not made.too_little:
                items += 1
                out.write(json.dumps([one.key, made.data]) + "\n")
    return {"articles": len(read), "repeated": len(repeated), "items": items}


def synthetic(articles: int) -> Iterator[tuple[str, Json]]:
    """Items of ReCoRD's size, made of invented names and plain words, with `QUERIES_AN_ARTICLE` queries each."""
    from tests.benchmarks.synthetic import WORDS, examples

    for number, line in enumerate(examples(articles)):
        passage = json.loads(line)["passage"]
        text, numbers = passage["text"], dict[str, int]()
        mentions = []
        for span in passage["entities"]:
            start, end = span["start"], span["end"] + 1
            entity = numbers.setdefault(text[start:end], len(numbers))
            mentions.append({"start": start, "end": end, "type": "PERSON", "entity": entity})
        draw = random.Random(f"queries {number}")
        names = draw.sample(sorted(numbers), min(QUERIES_AN_ARTICLE, len(numbers)))
        names += draw.choices(names, k=QUERIES_AN_ARTICLE - len(names))
        sentences = [_sentence(name, numbers[name], draw.choices(WORDS, k=16)) for name in names]
        yield f"article-{number}", {"text": text, "mentions": mentions, "sentences": sentences, "removed": []}


def _sentence(name: str, entity: int, words: list[str]) -> Json:
    before = "Later that week "
    mention = {"start": len(before), "end": len(before) + len(name), "type": "PERSON", "entity": entity}
    return {"text": f"{before}{name} {' '.join(words)}.", "dropped": "", "mentions": [mention]}


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(main())
    what, given = sys.argv[1:]
    steps = {
        "generate": lambda: _generate(Path(given)),
        "news": lambda: _measure_news(Path(given)),
        "memory": lambda: _measure_memory(int(given)),
    }
    print(json.dumps(steps[what]()))
