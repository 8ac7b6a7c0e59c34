"""Adversarial filtering of as many questions as MCScript2.0 has, each with five incorrect candidates.

Part of `make bench`; alone: `python -m tests.benchmarks.filtering`. The questions are made of invented words, as often
as words of a language are; correct answers take more of the text than incorrect ones do and prefer words of their own,
so that there is something to filter. It runs in a process of its own with a quarter of the questions and with all, as
in a collection that grows. FILTERING_QUESTIONS makes it smaller.

The matrix of features grows with the candidates, and the peak with the matrix: it stands twice for a moment when it is
made, and a training copies two rows in six. What counts as flat is the memory per candidate, and that no iteration
needs more than the first one did.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

from hits.text.filtering.adversarial_filtering import Batch, Iteration, filter_answers
from hits.text.filtering.filtered_question import FilteredQuestion
from ops.surroundings import ROOT

QUESTIONS = int(os.environ.get("FILTERING_QUESTIONS", "20000"))
QUESTIONS_A_TEXT = 20_000 / 3_500
CANDIDATES = 5
VOCABULARY = 12_000
SECONDS = 600
# Of all candidates against of a quarter of them.
TIMES_A_CANDIDATE = 1.2
# At the end against after the first iteration.
TIMES_THE_FIRST = 1.05
SILENCE = 60
ASKED = ("what was the", "why did they", "who", "when did they", "how did the", "where was the")


def main() -> int:
    few, many = (_in_its_own_process(questions) for questions in (QUESTIONS // 4, QUESTIONS))
    print(f"\n{QUESTIONS:,} questions with {CANDIDATES} incorrect candidates each on {many['texts']:,} texts,", end=" ")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    told = f"{many['wall']:.0f} s ({many['cpu']:.0f} of the processor), {many['iterations']:.0f} iterations"
    fine = [_line("adversarial filtering", told, f"{SECONDS} s", many["wall"] <= SECONDS)]
    fine.append(_line("  longest silence", f"{many['silence']:.1f} s", f"{SILENCE} s", many["silence"] <= SILENCE))
    for name, found in (("a quarter", few), ("all", many)):
        told = f"matrix {found['matrix']:.0f} MiB, at its most {found['peak']:.0f} MiB more than before"
        print(f"  memory for {name:15} {told}, {_each(found):,.0f} bytes a candidate")
    times = _each(many) / _each(few)
    fine.append(_line("  growth a candidate", f"{times:.2f}", f"{TIMES_A_CANDIDATE}", times <= TIMES_A_CANDIDATE))
    times = many["peak"] / many["first_peak"]
    fine.append(_line("  growth over iterations", f"{times:.2f}", f"{TIMES_THE_FIRST}", times <= TIMES_THE_FIRST))
    for entry in many["entries"]:
        print(
            "  {iteration:>3}: {changed:>6,} changed, accuracy {accuracy:.3f}, after {accuracy_after:.3f}".format(
                **entry
            )
        )
    start, end = many["entries"][0]["accuracy"], many["entries"][-1]["accuracy"]
    told = f"{start:.3f} at random, {end:.3f} in the last iteration"
    fine.append(_line("  accuracy", told, "nearer 0.5", abs(end - 0.5) < abs(start - 0.5)))
    return 0 if all(fine) else 1


def _each(found: dict) -> float:
    return found["peak"] * 2**20 / (found["questions"] * (CANDIDATES + 1))


def _line(name: str, told: str, target: str, fine: bool) -> bool:
    print(f"{name:26} {told}   target {target}   {'ok' if fine else 'MISSED'}", flush=True)
    return fine


def _in_its_own_process(questions: int) -> dict:
    command = [sys.executable, "-m", "tests.benchmarks.filtering", str(questions)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3000)
    if done.returncode:
        raise SystemExit(f"filtering {questions} questions failed:\n{done.stdout}{done.stderr}")
    found: dict = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(count: int) -> dict:
    """Filter so many questions; `peak` is what that added to the memory of the process at its most, in MiB."""
    from hits.text.filtering import filtering_classifier

    questions = list(made(count))
    matrices = []

    def watched(fit: list[FilteredQuestion]) -> filtering_classifier.LogisticClassifier:
        classifier = filtering_classifier.LogisticClassifier(fit)
        matrices.append(classifier.matrix_bytes)
        return classifier

    _warm_up()
    before, wall, cpu = _peak(), time.perf_counter(), time.process_time()
    entries, peaks, silences, last = [], [], [], wall
    for said in filter_answers(questions, seed=1, classifier=watched):
        now = time.perf_counter()
        silences.append(now - last)
        last = now
        if isinstance(said, Iteration):
            entries.append(said.entry)
            peaks.append(_peak() - before)
        elif not isinstance(said, Batch):
            result = said
    return {
        "questions": count,
        "texts": len({one.text_key for one in questions}),
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": _peak() - before,
        "first_peak": peaks[1],
        "matrix": matrices[0] / 2**20,
        "silence": max(silences),
        "iterations": result.iterations,
        "ended": result.ended,
        "entries": entries,
    }


def _warm_up() -> None:
    """Loading the libraries is no part of the growth."""
    for _ in filter_answers(list(made(40)), seed=1, most_iterations=1):
        pass


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    """Invented words and the sums of their frequencies, the n-th of which is about 1/n."""
    draw = random.Random("words")
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    found = dict.fromkeys(
        "".join(draw.choices(syllables, k=draw.choice((1, 2, 2, 3, 3)))) for _ in range(VOCABULARY * 3)
    )
    words = list(found)[:VOCABULARY]
    return words, list(accumulate(1 / (n + 3) for n in range(len(words))))


def _some(draw: random.Random, count: int) -> list[str]:
    words, sums = _vocabulary()
    return draw.choices(words, cum_weights=sums, k=count)


def made(count: int) -> Iterator[FilteredQuestion]:
    """Questions of the recipe's usual lengths: 165 words a text, eight a question, about five an answer."""
    for number in range(count):
        text_key = int(number / QUESTIONS_A_TEXT)
        text = _some(random.Random(f"text {text_key}"), 165)
        draw = random.Random(f"question {number}")
        question = f"{draw.choice(ASKED)} {' '.join(draw.choices(text, k=3) + _some(draw, 2))}?"
        answers = [_answer(draw, text, share) for share in (0.7, *(draw.uniform(0.1, 0.7) for _ in range(CANDIDATES)))]
        if draw.random() < 0.4:
            answers[0] = f"so that {answers[0]}"
        yield FilteredQuestion(f"q{number}", f"t{text_key}", " ".join(text), question, answers[0], tuple(answers[1:]))


def _answer(draw: random.Random, text: list[str], share: float) -> str:
    words = [draw.choice(text) if draw.random() < share else _some(draw, 1)[0] for _ in range(draw.randint(2, 8))]
    return " ".join(words)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measured(int(sys.argv[1]))))
    else:
        sys.exit(main())
