"""The program `annotate`, as somebody types it, against a running Annotate."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from annotate_client import Client, Project
from ops.stack import Stack
from ops.surroundings import ROOT
from tests.client.scripted import Answer, refusal, serving

CHOICE = ROOT / "samples" / "choice.csv"
PROGRAM = [sys.executable, "-m", "annotate_client"]
SECONDS = 300


@dataclass(frozen=True)
class Said:
    """What a run printed: on a terminal all of it is `out`."""

    code: int
    out: str
    err: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """Runs the program in a folder and a home of its own."""

    env: dict[str, str]
    folder: Path

    def __call__(self, *words: object, said: str | None = None, **env: str) -> Said:
        """In a pipe; `said` is what comes in."""
        done = subprocess.run(
            [*PROGRAM, *map(str, words)],
            env=self.env | env,
            cwd=self.folder,
            input=said,
            stdin=subprocess.DEVNULL if said is None else None,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Said(done.returncode, done.stdout, done.stderr)

    def on_terminal(self, *words: object, typed: Sequence[tuple[str, str]] = (), **env: str) -> Said:
        """`typed` are prompts, each with what is typed when it has come."""
        here, there = pty.openpty()
        process = subprocess.Popen(
            [*PROGRAM, *map(str, words)],
            env=self.env | {"COLUMNS": "100"} | env,
            cwd=self.folder,
            start_new_session=True,
            # A password is read from the terminal that the process belongs to.
            preexec_fn=lambda: os.login_tty(there),
            pass_fds=[there],
        )
        os.close(there)
        answers, whole, seen = list(typed), b"", 0
        # Linux says by an error that the other end was closed.
        with contextlib.suppress(OSError):
            while piece := os.read(here, 65536):
                whole += piece
                if answers and answers[0][0].encode() in whole[seen:]:
                    seen = len(whole)
                    os.write(here, f"{answers.pop(0)[1]}\n".encode())
        os.close(here)
        said = whole.decode().replace("\r\n", "\n")
        assert not answers, f"These were not asked for: {answers}\n{said}"
        assert "Traceback" not in said, said
        return Said(process.wait(SECONDS), said)


@pytest.fixture
def shell(environment: dict[str, str], tmp_path: Path) -> Shell:
    return Shell(environment | {"HOME": str(tmp_path / "home")}, tmp_path)


@pytest.fixture
def stranger(shell: Shell) -> Shell:
    """Who has told the program nothing yet."""
    env = {name: value for name, value in shell.env.items() if not name.startswith("ANNOTATE_")}
    return Shell(env, shell.folder)


def login_file(shell: Shell) -> Path:
    return Path(shell.env["HOME"]) / ".config" / "annotate" / "login.json"


# A project from a file to its answers


def test_a_project_is_made_filled_priced_and_published(shell: Shell) -> None:
    made = shell(
        "projects", "create", "--name", "By hand", "--recipe", "choice", "--budget", 20, "--contact-email", "a@b.org"
    )
    assert made.code == 0, made.err
    slug = made.json["slug"]
    upload = shell("import", slug, CHOICE)
    assert (upload.code, upload.json["state"], upload.json["items"]) == (0, "done", 5), upload
    refused = shell("publish", slug, "choose")
    assert refused.code == 2 and "total: 0.90" in refused.err and "--yes" in refused.err
    assert shell("batches", "list", slug, "choose").json == []
    batch = shell("publish", slug, "choose", "--yes", "--items", 2)
    assert (batch.code, batch.json["state"], batch.json["done"]) == (0, "published", 2), batch
    assert "total: 0.36" in batch.err
    rows = shell("items", "list", slug, "choose", "--all").json
    assert [row["state"] for row in rows] == ["open", "open", "new", "new", "new"]


def test_the_commands_of_the_readme_make_fill_and_publish_a_project(shell: Shell) -> None:
    """As they are written, but for the slug: another test may have taken that name. Those of releases need answers."""
    here = Shell(shell.env, ROOT)
    written = re.findall(r"^annotate (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    create, *others = [shlex.split(line, comments=True) for line in written]
    slug = here(*create).json["slug"]
    done = []
    for words in others:
        if words[0] != "releases":
            asked = [("[y/N]", "y")] if words[0] == "publish" else []
            said = here.on_terminal(*(slug if word == "short-news" else word for word in words), typed=asked)
            assert said.code == 0, said.out
            done.append(words[0])
    assert done == ["import", "publish", "stages"]
    assert here("stages", "list", slug).json[0]["published"]


def test_on_a_terminal_the_price_is_shown_and_asked_about(shell: Shell, project: Project) -> None:
    sent = shell.on_terminal("import", project.slug, CHOICE)
    assert sent.code == 0 and "Sending choice.csv" in sent.out and "100%" in sent.out, sent.out
    declined = shell.on_terminal("publish", project.slug, "choose", typed=[("Go ahead?", "n")])
    assert declined.code == 1 and "total: 0.90" in declined.out and "Go ahead? [y/N]" in declined.out
    assert "Nothing was sent." in declined.out
    agreed = shell.on_terminal("publish", project.slug, "choose", typed=[("Go ahead?", "y")])
    assert agreed.code == 0 and "state: published" in agreed.out
    again = shell.on_terminal("publish", project.slug, "choose")
    assert again.code == 1 and "Nothing waits to be published" in again.out and "Go ahead" not in again.out


def test_a_refused_file_is_told_with_its_lines(shell: Shell, project: Project) -> None:
    file = shell.folder / "wrong.csv"
    file.write_text("id,text,question,choices\na,One,What?,x|y\na,Two,What?,x|y\n")
    said = shell("import", project.slug, file)
    assert said.code == 1 and said.out == ""
    assert said.err.startswith("Error: wrong.csv: refused.") and "line 3" in said.err, said.err


def test_a_job_that_is_not_waited_for_says_where_to_look(shell: Shell, project: Project) -> None:
    said = shell("import", project.slug, CHOICE, "--no-wait")
    assert said.code == 0 and said.json["state"] != "refused"
    assert f"Look with: annotate uploads show {project.slug} {said.json['id']}" in said.err
    fetched = shell("harvest", project.slug, "choose")
    assert fetched.code == 0 and f"annotate stages show {project.slug} choose" in fetched.err


ROW = {"id": 7, "state": "reading", "done": 1, "total": 9, "finished_at": None}


def test_ctrl_c_leaves_the_job_running_and_says_where_to_look(shell: Shell, document: dict[str, Any]) -> None:
    # A job that never ends.
    with serving(Answer(body=document), Answer(202, ROW), Answer(200, ROW)) as server:
        process = subprocess.Popen(
            [*PROGRAM, "import", "news", str(CHOICE)],
            env=shell.env | {"ANNOTATE_URL": server.address},
            stderr=subprocess.PIPE,
            text=True,
            # Whoever runs the tests may ignore it, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        end = time.monotonic() + SECONDS
        while len(server.asked) < 4 and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert err == "Error: It goes on at the server. Look with: annotate uploads show news 7\n"


def test_a_rule_is_waited_for_until_nothing_is_left_to_judge(shell: Shell, document: dict[str, Any]) -> None:
    see = "http://elsewhere.example.org/api/projects/news/stages/choose/rule/"
    started = Answer(202, {"message": "2 items are being judged again.", "see": see})
    left = [Answer(200, {"edition": 1, "left_to_judge": count}) for count in (2, 1, 0)]
    with serving(Answer(body=document), started, *left) as server:
        said = shell("rule", "judge-again", "news", "choose", ANNOTATE_URL=server.address)
    assert (said.code, said.json["left_to_judge"], len(server.asked)) == (0, 0, 5), said
    with serving(Answer(body=document), started) as server:
        said = shell("rule", "judge-again", "news", "choose", "--no-wait", ANNOTATE_URL=server.address)
    assert said.code == 0 and "Look with: annotate rule show news choose" in said.err


def test_a_computation_is_waited_for_until_it_has_finished(shell: Shell, document: dict[str, Any]) -> None:
    states = [
        Answer(200, {**ROW, "state": "running"}),
        Answer(200, {**ROW, "state": "done", "finished_at": "2026-01-02"}),
    ]
    with serving(Answer(body=document), Answer(202, ROW), *states) as server:
        run = ("computation-runs", "create", "news", "--computation", "ask-agreement")
        said = shell(*run, ANNOTATE_URL=server.address)
    assert (said.code, said.json["state"], len(server.asked)) == (0, "done", 4), said


def test_a_batch_that_an_owner_is_asked_about_is_no_success(shell: Shell, document: dict[str, Any]) -> None:
    quote = Answer(200, {"items": 5, "total": "0.90", "confirmation": "word-of-the-quote", "problems": []})
    with serving(Answer(body=document), quote, Answer(200, {"id": 7, "state": "waiting"})) as server:
        said = shell("publish", "news", "choose", "--yes", ANNOTATE_URL=server.address)
    assert (said.code, said.json["id"]) == (1, 7) and "Error: Asked, not published" in said.err


def test_webhooks_are_added_listed_and_ended(shell: Shell, project: Project) -> None:
    events = ["--event", "stage.finished", "--event", "budget.low"]
    made = shell("webhooks", "add", project.slug, "--address", "http://127.0.0.1:9/hook", *events)
    assert made.code == 0, made.err
    assert made.json["events"] == ["stage.finished", "budget.low"] and made.json["secret"]
    assert [row["id"] for row in shell("webhooks", "list", project.slug).json] == [made.json["id"]]
    off = shell("webhooks", "change", project.slug, made.json["id"], "--no-active")
    assert off.json["state"] == "off"
    assert shell("webhooks", "end", project.slug, made.json["id"]).code == 2
    ended = shell("webhooks", "end", project.slug, made.json["id"], "--yes")
    assert (ended.code, ended.out) == (0, "")


def test_files_come_whole_or_not_at_all(shell: Shell, project: Project, document: dict[str, Any]) -> None:
    assert shell("import", project.slug, CHOICE).code == 0
    file = shell.folder / "sample.csv"
    assert shell("uploads", "sample", project.slug, "--output", file).code == 0
    assert file.read_text() == shell("uploads", "sample", project.slug).out != ""
    asked = shell.on_terminal("uploads", "sample", project.slug)
    assert asked.code == 2 and "--output" in asked.out
    toml = shell.on_terminal("projects", "recipe-file", project.slug)
    assert toml.code == 0 and 'recipe = "choice"' in toml.out
    broken = Answer(body=b"x" * 1000, cut=400, headers={"Content-Type": "text/csv"})
    with serving(Answer(body=document), broken) as server:
        said = shell("uploads", "sample", "news", "--output", "other.csv", ANNOTATE_URL=server.address)
    assert said.code == 1 and "broke off" in said.err
    assert not list(shell.folder.glob("other.csv*"))


def test_texts_and_values_may_come_from_files(shell: Shell, project: Project) -> None:
    (shell.folder / "terms.md").write_text("Be *kind*.\n")
    assert shell("terms", "save", project.slug, "--text", "@terms.md").code == 0
    assert shell("terms", "show", project.slug).json["results"][-1]["text"].strip() == "Be *kind*."
    tags = shell("projects", "tags", project.slug, "--tag", "river", "--tag", "boats")
    assert tags.json["tags"] == ["boats", "river"]
    assert shell("projects", "tags", project.slug, "--tag", "[]").json["tags"] == []
    settings = '{"question": "What is it about?"}'
    changed = shell("task", "change", project.slug, "choose", "--settings", "@-", said=settings)
    assert changed.code == 0, changed.err
    wrong = shell("task", "change", project.slug, "choose", "--settings", "{question}")
    assert wrong.code == 2 and "no JSON" in wrong.err


# What is printed


def test_a_list_is_a_table_on_a_terminal_json_in_a_pipe_and_csv_on_request(shell: Shell, project: Project) -> None:
    piped = shell("projects", "list", "--find", project.slug)
    (row,) = piped.json
    assert row["slug"] == project.slug
    head, line = shell.on_terminal("projects", "list", "--find", project.slug).out.splitlines()
    assert head.split()[:3] == ["id", "slug", "name"] and project.slug in line and "{" not in line
    assert json.loads(shell.on_terminal("projects", "list", "--find", project.slug, "--json").out) == [row]
    csv_head, csv_line = shell("projects", "list", "--find", project.slug, "--csv").out.splitlines()
    assert csv_head.startswith("id,slug,name,") and csv_line.startswith(f"{row['id']},{project.slug},")
    shown = shell.on_terminal("projects", "show", project.slug).out
    assert f"slug: {project.slug}\n" in shown and "account:\n  budget: 20.00\n" in shown


def test_a_list_is_followed_as_far_as_is_asked_for(shell: Shell, document: dict[str, Any]) -> None:
    def page(first: int, last: int, more: bool) -> Answer:
        after = f"http://elsewhere.example.org/api/projects/?limit=500&after={last}" if more else None
        return Answer(body={"results": [{"id": number} for number in range(first, last + 1)], "next": after})

    pages = [page(1, 500, True), page(501, 900, True), page(901, 1200, False)]
    for words, count, said in [
        (["--all"], 1200, ""),
        (["--limit", "700"], 700, "the first 700"),
        (["--limit", "1200"], 1200, ""),
        ([], 100, "the first 100"),
    ]:
        with serving(Answer(body=document), *pages) as server:
            answer = shell("projects", "list", *words, ANNOTATE_URL=server.address)
        assert [row["id"] for row in answer.json] == list(range(1, count + 1))
        assert (said in answer.err) if said else answer.err == ""


def test_what_a_worker_wrote_cannot_steer_the_terminal(shell: Shell, document: dict[str, Any]) -> None:
    body = {"results": [{"id": 1, "name": "\x1b[2Jgone\x9b31m"}], "next": None}
    with serving(Answer(body=document), Answer(body=body)) as server:
        said = shell.on_terminal("projects", "list", ANNOTATE_URL=server.address)
    assert "gone" in said.out and "\x1b" not in said.out and "\x9b" not in said.out


# Errors


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        (refusal(404, "not_found", "It is not there."), 1, "Error: It is not there.\n"),
        (refusal(401, "not_authenticated", "Make a new token."), 3, "Error: Make a new token.\n"),
        (refusal(403, "role", "Only an owner may."), 3, "Error: Only an owner may.\n"),
        (refusal(409, "conflict", "Not now."), 1, "Error: Not now.\n"),
        (
            refusal(400, "invalid", "Not accepted: name.", {"name": ["Too long.", "Taken."]}),
            1,
            "Error: Not accepted: name.\n  name: Too long. Taken.\n",
        ),
        (Answer(500, b"<h1>no</h1>"), 1, "Error: The server answered with status 500 and no reason.\n"),
    ],
)
def test_a_refusal_is_a_sentence_and_an_exit_code(
    shell: Shell, document: dict[str, Any], answer: Answer, code: int, told: str
) -> None:
    with serving(Answer(body=document), answer) as server:
        said = shell("projects", "archive", "news", ANNOTATE_URL=server.address)
    assert (said.code, said.out, said.err) == (code, "", told)


def test_a_server_that_is_not_there_is_a_sentence(shell: Shell) -> None:
    with serving(Answer()) as server:
        pass
    said = shell("projects", "list", ANNOTATE_URL=server.address)
    assert said.code == 1 and said.err.startswith(f"Error: No answer from {server.address}/api/:")


def test_wrong_usage_says_what_is_missing(shell: Shell) -> None:
    for words, told in [
        (["webhooks", "add", "news"], "Missing option '--address'"),
        (["members", "add", "news", "--username", "x", "--role", "king"], "'king' is not one of"),
        (["webhooks", "show", "news", "first"], "'first' is not a valid integer"),
        (["webhooks", "shout"], "No such command 'shout'"),
        (["import", "news", "nowhere.csv"], "does not exist"),
    ]:
        said = shell(*words)
        assert (said.code, said.out) == (2, "") and told in said.err, said


def test_a_part_of_an_address_leads_nowhere_else(shell: Shell) -> None:
    said = shell("projects", "show", "..")
    assert (said.code, said.out) == (1, "") and "names nothing" in said.err


# Which server, as whom, and what it can do


def test_without_a_server_it_is_said_how_to_sign_in(stranger: Shell) -> None:
    said = stranger("projects", "list")
    assert said.code == 3 and "annotate login" in said.err
    assert "annotate login" in stranger("--help").out


def test_a_login_by_token_is_kept_for_its_owner_alone_and_forgotten(
    stranger: Shell, stack: Stack, token_of: Callable[[str], str]
) -> None:
    token = token_of("lena")
    said = stranger.on_terminal("login", "--url", stack.web_url, typed=[("Token", token)])
    assert said.code == 0 and token not in said.out, said.out
    file = login_file(stranger)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stranger("account", "show").json["username"] == "lena"
    assert stranger("logout").code == 0
    assert not file.exists() and stranger("account", "show").code == 3
    # It was made elsewhere and may be used there.
    with Client(stack.web_url, token) as client:
        assert client.api.get("token/")["scope"] == "pay"


def test_a_login_by_password_makes_a_token_that_logging_out_ends(stranger: Shell, stack: Stack) -> None:
    env = stack.env | {"LEAD_PASSWORD": "a-long-pass-phrase-7"}
    subprocess.run([sys.executable, "manage.py", "create_lead", "paul"], env=env, cwd=ROOT, check=True)
    typed = [("Token", ""), ("Name", "paul"), ("Password", "a-long-pass-phrase-7")]
    said = stranger.on_terminal("login", "--url", stack.web_url, "--scope", "read", typed=typed)
    assert said.code == 0 and "a-long-pass-phrase-7" not in said.out, said.out
    token = json.loads(login_file(stranger).read_text())["token"]
    refused = stranger("projects", "create", "--name", "x", "--budget", 1, "--contact-email", "a@b.org")
    assert refused.code == 3, refused
    assert stranger("logout").code == 0
    assert stranger("account", "show", ANNOTATE_URL=stack.web_url, ANNOTATE_TOKEN=token).code == 3


def test_a_wrong_token_is_not_kept(stranger: Shell, stack: Stack) -> None:
    said = stranger.on_terminal("login", "--url", stack.web_url, typed=[("Token", "annotate_wrong")])
    assert said.code == 3 and not login_file(stranger).exists()


def test_the_environment_wins_and_a_token_is_sent_to_no_server_but_its_own(
    stranger: Shell, stack: Stack, token: str, document: dict[str, Any]
) -> None:
    assert stranger.on_terminal("login", "--url", stack.web_url, typed=[("Token", token)]).code == 0
    with serving(Answer(body=document), Answer(body=[])) as other:
        assert stranger("tokens", "list", ANNOTATE_URL=other.address).code == 0
        assert all("Authorization" not in asked.headers for asked in other.asked)
        assert stranger("tokens", "list", ANNOTATE_URL=other.address, ANNOTATE_TOKEN="annotate_of-there").code == 0
        assert other.asked[-1].headers["Authorization"] == "Token annotate_of-there"


def test_the_server_of_this_machine_is_found_by_its_file(stranger: Shell, stack: Stack, token: str) -> None:
    folder = stranger.folder / "data"
    folder.mkdir()
    file = folder / "command-line.json"
    file.write_text(json.dumps({"address": stack.web_url, "token": token}))
    # A file that others could have written or read is not believed.
    file.chmod(0o644)
    assert stranger("account", "show").code == 3
    file.chmod(0o600)
    assert stranger("account", "show").json["username"] == "clara"
    assert stranger("account", "show", DATA_DIR=str(stranger.folder / "elsewhere")).code == 3
    file.write_text(json.dumps({"address": "http://annotate.example.org", "token": token}))
    assert stranger("account", "show").code == 3


def test_the_sample_leaves_a_token_for_its_lead(stranger: Shell, stack: Stack) -> None:
    stack.manage("load_sample")
    assert stranger("account", "show", DATA_DIR=str(stack.data_dir)).json["username"] == "lead"


def test_the_description_is_fetched_once_and_again_when_a_command_is_unknown(
    shell: Shell, document: dict[str, Any]
) -> None:
    older = json.loads(json.dumps(document))
    del older["paths"]["/api/recipes/"]
    first, again = Answer(body=older, headers={"ETag": '"1"'}), Answer(body=[])
    with serving(first, again) as server:
        assert shell("tokens", "list", ANNOTATE_URL=server.address).code == 0
        assert shell("tokens", "list", ANNOTATE_URL=server.address).code == 0
        assert [asked.path for asked in server.asked] == ["/api/schema/", "/api/tokens/", "/api/tokens/"]
        server.answers = [Answer(304, b"")]
        assert shell("recipes", "list", ANNOTATE_URL=server.address).code == 2
        assert server.asked[-1].headers["If-None-Match"] == '"1"'
        server.answers = [Answer(body=document, headers={"ETag": '"2"'}), Answer(body=[])]
        assert shell("recipes", "list", ANNOTATE_URL=server.address).code == 0


def test_what_answers_and_is_no_annotate_is_said(shell: Shell) -> None:
    with serving(Answer(body={"hello": "world"})) as server:
        said = shell("projects", "list", ANNOTATE_URL=server.address)
    assert said.code == 1 and "is the address right?" in said.err


def test_what_is_for_models_takes_a_models_token(shell: Shell, project: Project) -> None:
    assert shell("model", "home").code == 3
    made = shell("models", "register", project.slug, "--name", "reader", "--version", "1")
    home = shell("model", "home", ANNOTATE_MODEL_TOKEN=made.json["token"])
    assert home.code == 0 and home.json["model"]["name"] == "reader", home


def test_words_are_completed(shell: Shell) -> None:
    asked = {"_ANNOTATE_COMPLETE": "bash_complete", "COMP_WORDS": "annotate webhooks s", "COMP_CWORD": "2"}
    assert shell(**asked).out.split() == ["plain,send-again", "plain,show"]
