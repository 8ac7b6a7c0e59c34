"""Uploaded media on a worker's page, in a browser: seen, heard, sought in, and unable to do anything else."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from hits.items.rules.media import address_of
from hits.items.verbs import importing
from hits.models import Hit, Stage
from tests.axe import violations
from tests.hits import factories as make
from tests.hits import samples_of_media as sample

pytestmark = pytest.mark.django_db(transaction=True)
SHOW = [
    {"kind": "image", "column": "picture", "description": "The quay"},
    {"kind": "audio", "column": "sound", "description": "Rain on a roof"},
    {"kind": "video", "column": "film", "description": "A ferry that leaves"},
    {"kind": "link", "column": "picture", "text": "The picture by itself"},
]
ASK = [{"kind": "one", "key": "wet", "question": "Is it wet?", "choices": ["Yes", "No"]}]
ROW = {"picture": "quay.png", "sound": "rain.wav", "film": "ferry.webm"}
# Half a second of a moving square, recorded by the browser itself.
RECORD = """async () => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 64, height: 48});
  const pen = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(25), {mimeType: "video/webm"});
  const parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const stopped = new Promise((done) => { recorder.onstop = done; });
  recorder.start();
  for (let n = 0; n < 20; n++) {
    pen.fillStyle = n % 2 ? "teal" : "white";
    pen.fillRect(n, n, 20, 20);
    await new Promise((done) => setTimeout(done, 30));
  }
  recorder.stop();
  await stopped;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}"""

# Done when the picture is there.
COME = """(name) => {
  const picture = document.querySelector(name);
  return picture.complete ? null : new Promise((done) => picture.addEventListener("load", () => done(null)));
}"""


@pytest.fixture
def stage(db: None) -> Stage:
    form = {"show": SHOW, "ask": ASK, "layout": "below"}
    return make.stage(make.project(recipe="form"), protocol="form", settings={"form": form, "min_seconds": 0})


def shown(stage: Stage, files: dict[str, bytes]) -> Hit:
    """The HIT of a row about these files."""
    upload = importing.create_media_upload(stage.project, [("m.zip", io.BytesIO(sample.zipped(files)))], None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "done", upload.faults
    document = make.document(stage.project, data={"columns": ROW})
    return make.hit(make.item(stage, document=document, data={}))


def film(page: Page) -> bytes:
    page.goto("about:blank")
    return base64.b64decode(page.evaluate(RECORD))


def playing(page: Page, tag: str) -> Any:
    """Plays it until time goes on; returns its length in seconds."""
    return page.evaluate(
        """async (tag) => {
          const medium = document.querySelector(tag);
          medium.muted = true;
          await medium.play();
          const start = medium.currentTime;
          while (medium.currentTime <= start) await new Promise((done) => setTimeout(done, 20));
          medium.pause();
          return medium.duration;
        }""",
        tag,
    )


def test_a_picture_a_sound_and_a_video_are_seen_and_played(stage: Stage, new_page: Any, task_address: Any) -> None:
    page = new_page()
    hit = shown(stage, {"a/quay.png": sample.png(40, 30), "rain.wav": sample.wav(3), "ferry.webm": film(page)})
    page.goto(task_address(hit))
    page.evaluate(COME, "img.medium")
    assert page.evaluate("document.querySelector('img.medium').naturalWidth") == 40
    assert playing(page, "audio") == pytest.approx(3, abs=0.1)
    playing(page, "video")
    for tag in ("audio", "video"):
        box = page.locator(tag).bounding_box()
        assert box["width"] >= 300 and box["height"] >= 40, "its buttons can be pressed"
    assert page.evaluate("document.querySelector('video').videoWidth") == 64
    assert violations(page) == []


def test_a_long_sound_is_sought_in_by_asking_for_what_is_there(stage: Stage, new_page: Any, task_address: Any) -> None:
    """20 MB: the player asks for pieces, and for no more than it needs."""
    page = new_page()
    ranges: list[str] = []
    page.on(
        "response",
        lambda response: (
            ranges.append(response.headers.get("content-range", "")) if "rain.wav" in response.url else None
        ),
    )
    files = {"quay.png": sample.png(), "rain.wav": sample.wav(2500), "ferry.webm": film(page)}
    page.goto(task_address(shown(stage, files)))
    assert playing(page, "audio") == pytest.approx(2500, abs=1)
    place = page.evaluate(
        """() => new Promise((done) => {
          const sound = document.querySelector("audio");
          sound.onseeked = () => done(sound.currentTime);
          sound.currentTime = 2400;
        })"""
    )
    assert place == pytest.approx(2400, abs=1)
    playing(page, "audio")
    assert all(one.startswith("bytes ") for one in ranges)
    assert any(int(one.split()[1].partition("-")[0]) > 10_000_000 for one in ranges)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("size", [(8000, 6000), (8000, 60), (60, 8000)])
def test_a_picture_of_8000_pixels_keeps_within_the_page(
    stage: Stage, new_page: Any, task_address: Any, width: int, size: tuple[int, int]
) -> None:
    files = {"quay.png": sample.png(*size), "rain.wav": sample.wav(), "ferry.webm": b"\x1aE\xdf\xa3B\x86B\x82\x84webm"}
    page = new_page(width)
    held: list[Route] = []
    page.route("**/quay.png", lambda route: held.append(route))
    page.goto(task_address(shown(stage, files)), wait_until="domcontentloaded")
    box = page.locator("img.medium").bounding_box()
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    page.evaluate(COME, "img.medium")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    loaded = page.locator("img.medium").bounding_box()
    assert loaded["width"] <= width
    assert loaded["height"] <= 0.7 * 800 + 1
    assert loaded == box, "what stands below moved when the picture came"


SLY = b"""<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" onload="document.title = 'ran'">
  <title>still</title><script>document.title = 'ran'; fetch('/ran');</script><image href="/ran.png"/></svg>"""


def test_an_svg_with_a_script_is_refused_at_the_door(stage: Stage) -> None:
    upload = importing.create_media_upload(stage.project, [("sly.svg", io.BytesIO(SLY))], None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.faults[0]["message"] == "is an SVG picture with the event handler onload: remove it"


def test_an_svg_with_a_script_does_nothing_even_where_it_came_in(stage: Stage, new_page: Any, live_server: Any) -> None:
    file = make.media_file(stage.project, SLY, name="sly.svg", base="sly.svg", content_type="image/svg+xml")
    page = new_page(strict=False)
    asked: list[str] = []
    page.on("response", lambda response: asked.append(response.url))
    page.goto(f"{live_server.url}{address_of(file)}")
    page.wait_for_timeout(300)
    assert page.title() == "still"
    assert page.evaluate("self.origin") == "null"
    page.goto(f"{live_server.url}/sign-in/")
    page.evaluate(
        "(address) => { document.body.append(Object.assign(new Image(), {src: address, id: 'sly'})); }",
        address_of(file),
    )
    page.evaluate(COME, "#sly")
    assert page.evaluate("document.querySelector('#sly').naturalWidth") == 40
    assert page.title() != "ran"
    assert not [address for address in asked if "/ran" in address]
