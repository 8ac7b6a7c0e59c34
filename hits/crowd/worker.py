"""One simulated worker at the marketplace's site: signs up, takes HITs, answers in the frame, goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urljoin, urlsplit

from hits.crowd import answering, qualification
from hits.crowd.browser import TIMEOUT_SECONDS, Allowance, Browser, Reply, UnreachableError, origin_of
from hits.crowd.html import Form, Node, read_form
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, gives_back
from hits.crowd.task_page import NotATaskError, Screen, read_screen

REST = 1.0  # seconds until somebody who found nothing looks again; longer with every time
LONGEST_REST = 4.0
MOST_SCREENS = 50
SIGN_UP = "/accounts/signup/"
# What the published collections ask of workers at most.
PROFILE = {
    "country": "US",
    "subdivision": "CA",
    "percent_approved_override": "99",
    "number_approved_override": "6000",
}


NO_ACCOUNTS = (
    "The marketplace has a mail server, so whoever signs up there confirms an e-mail address, and simulated people "
    "have none. Start the marketplace without EMAIL_URL, then start the crowd again."
)


def takes_no_simulated_people(marketplace: str, patience: float = TIMEOUT_SECONDS) -> bool:
    """Whether its form to sign up wants an e-mail address. False where it does not answer: that shows by itself."""
    try:
        site = Browser(Allowance(1), cookies=False, patience=patience)
        return _wants_email(site.get(marketplace.rstrip("/") + SIGN_UP))
    except UnreachableError:
        return False


def _wants_email(page: Reply) -> bool:
    return page.page.first("input", "required", name="email") is not None


class SiteError(Exception):
    """The site answered something that a worker cannot go on from; the message quotes it."""


@dataclass
class Tally:
    """What a worker did.

    `refused` counts task pages that turned the worker away, `unknown` tasks that the answer key does not hold, `lost`
    answers that came too late or after another one, and `sent_back` those that the page refused, so that the worker
    changed them. `tests` are qualification tests handed in.
    """

    answers: int = 0
    returns: int = 0
    refused: int = 0
    unknown: int = 0
    lost: int = 0
    sent_back: int = 0
    tests: int = 0


@dataclass(frozen=True)
class _Open:
    """A HIT in hand with the answer that will be given to its screen."""

    work_url: str
    page: Node
    frame_url: str
    screen: Screen
    answer: answering.Answer


class Worker:
    """`step` does the next thing and says after how many seconds the one after it is due.

    So a few threads can serve many workers: nobody blocks a thread while reading.
    """

    def __init__(
        self,
        person: Person,
        marketplace: str,
        key: AnswerKey,
        allowance: Allowance,
        password: str,
        ways_to_answer: answering.Answering,
        *,
        time_scale: float = 1.0,
        allow_remote: bool = False,
        patience: float = TIMEOUT_SECONDS,
    ) -> None:
        self.person = person
        self.worker_id = ""
        self.tally = Tally()
        self._site = Browser(allowance, cookies=True, allow_remote=allow_remote, patience=patience)
        self._frame = Browser(allowance, cookies=False, allow_remote=allow_remote, patience=patience)
        self._home = marketplace.rstrip("/") + "/"
        self._key = key
        self._password = password
        self._answering = ways_to_answer
        self._time_scale = time_scale
        self._in_hand: _Open | None = None
        self._next: Reply | None = None
        self._reply_lost = False
        self._returned: set[str] = set()
        self._closed_to_me: set[str] = set()
        self._strange_groups: set[str] = set()
        self._tests_seen: set[str] = set()
        self._rests = 0

    def step(self) -> float:
        """Raises SiteError, OutOfRequestsError, RemoteRefusedError. A site that does not answer is asked again."""
        doing: Callable[[], float] = self._take if self._in_hand is None else self._submit
        try:
            return self._arrive() if not self.worker_id else doing()
        except UnreachableError:
            self._reply_lost = True
            return self._rest()

    def put_down(self) -> None:
        """Return what is held, so that others can take it: the HIT in hand, and one that came after the last answer."""
        held = [(self._in_hand.page, self._in_hand.work_url)] if self._in_hand else []
        held += [(self._next.page, self._next.url)] if self._next else []
        self._in_hand = self._next = None
        for page, url in held:
            if page.first("form", id="give-back"):
                self._give_back(page, url)

    # Arriving

    def _arrive(self) -> float:
        here = signed_up = self._sign_up()
        if here.status >= 400:
            here = self._sign_in()
        if here.status >= 400 and _wants_email(signed_up):
            raise SiteError(NO_ACCOUNTS)
        if here.status >= 400:
            raise SiteError(f"{self.person.name} could neither sign up nor in: {_banner(here)}")
        self.worker_id = self._set_profile()
        return 0.0

    def _sign_up(self) -> Reply:
        page = self._site.get(self._home + "accounts/signup/")
        if page.page.first("form", action="/accounts/signup/") is None and page.status < 400:
            return page  # in already: the answer to an earlier try was lost
        form = _form(page, "/accounts/signup/")
        return self._site.send(
            form, page.url, username=self.person.name, password=self._password, country=PROFILE["country"]
        )

    def _sign_in(self) -> Reply:
        page = self._site.get(self._home + "accounts/login/")
        form = _form(page, "/accounts/login/")
        return self._site.send(form, page.url, username=self.person.name, password=self._password)

    def _set_profile(self) -> str:
        """The sandbox's own form; a marketplace that is none has none. Returns the worker id."""
        page = self._site.get(self._home + "worker/profile/")
        form = page.page.first("form", action="/worker/profile/", method="post")
        if form is not None:
            page = self._site.send(read_form(form), page.url, **PROFILE)
            if page.status >= 400:
                raise SiteError(f"{self.person.name} could not set the profile: {_banner(page)}")
        terms = {
            term.text().strip(): value.text().strip()
            for tile in page.page.all("dl")
            for term, value in zip(tile.all("dt"), tile.all("dd"), strict=True)
        }
        if "Worker ID" not in terms:
            raise SiteError(f"The profile of {self.person.name} shows no worker id: {_banner(page)}")
        return terms["Worker ID"]

    # Taking a HIT and reading it

    def _take(self) -> float:
        here = self._next or self._still_in_hand() or self._from_the_list()
        self._next = None
        if here is None:
            return 0.0 if self._take_a_test() else self._rest()
        page = here.page
        frame = page.first("iframe", "src")
        return self._read(here, page, frame.attributes["src"]) if frame else self._rest()

    def _still_in_hand(self) -> Reply | None:
        """A HIT that was accepted while a reply was lost. Until its time runs out, nobody else can take it."""
        if not self._reply_lost:
            return None
        work = self._site.get(self._home + "worker/")
        held = work.page.first("li", "data-seconds-left")
        link = held.first("a", "href") if held else None
        self._reply_lost = link is not None
        return self._site.get(urljoin(work.url, link.attributes["href"])) if link else None

    def _from_the_list(self) -> Reply | None:
        # What the person returned is listed among all work only, and may be done after all.
        for address in (self._home, f"{self._home}?filtered=1"):
            home = self._site.get(address)
            offers = [read_form(node) for node in home.page.all("form", action="/mturk/accept", method="post")]
            known = [offer for offer in offers if offer.fields.get("groupId") not in self._strange_groups]
            if known:
                return self._site.send(known[0], home.url)
        return None

    def _take_a_test(self) -> bool:
        """Earn a qualification that is on offer and that the key has the answers to; whether one was handed in.

        Everybody takes their time for a test, also who does not for the tasks behind it.
        """
        if not self._key.knows_tests:
            return False
        offered = self._site.get(self._home + qualification.OFFERED)
        for address in qualification.offers(offered.page):
            if address not in self._tests_seen:
                self._tests_seen.add(address)
                if self._pass_test(self._site.get(urljoin(offered.url, address))):
                    return True
        return False

    def _pass_test(self, card: Reply) -> bool:
        asked = qualification.ask_form(card.page)
        if asked is None:
            return False
        sheet = self._site.send(read_form(asked), card.url)
        form = qualification.test_form(sheet.page)
        answers = qualification.answers(form, self._key) if form else None
        if form is None or answers is None:
            return False
        done = self._site.send(read_form(form), sheet.url, **answers)
        if done.status >= 400:
            raise SiteError(f"The test at {sheet.url} was not taken: {_banner(done)}")
        self.tally.tests += 1
        return True

    def _read(self, here: Reply, page: Node, frame_url: str) -> float:
        """Open the frame, decide; returns how long the person takes."""
        hit = parse_qs(urlsplit(frame_url).query).get("hitId", [""])[0]
        if hit in self._closed_to_me:
            self._give_back(page, here.url)
            return self._rest()
        reply = self._frame.get(frame_url)
        if reply.status >= 400:
            self._closed_to_me.add(hit)
            self.tally.refused += 1
            self._give_back(page, here.url)
            return 0.0
        read = self._read_screen(reply)
        if read is None:
            return self._leave_group(page, here.url)
        screen, answer = read
        if gives_back(self.person, answer.item) and hit not in self._returned:
            self._returned.add(hit)
            self.tally.returns += 1
            self._give_back(page, here.url)
            return 0.0
        self._in_hand = _Open(here.url, page, reply.url, screen, answer)
        self._rests = 0
        return self.person.seconds * self._time_scale

    def _read_screen(self, reply: Reply) -> tuple[Screen, answering.Answer] | None:
        """With what goes into its form; None for a task that is strange to this crowd or to its key."""
        try:
            screen = read_screen(reply.page, reply.url)
            answer = answering.answer(self.person, screen, self._key, self._answering)
        except NotATaskError:
            return None
        return (screen, answer) if answer else None

    def _leave_group(self, page: Node, url: str) -> float:
        """Tasks of another kind or of another file are for other people."""
        onward = page.first("form", id="accept-next")
        if onward is not None:
            self._strange_groups.add(read_form(onward).fields.get("groupId", ""))
        self.tally.unknown += 1
        self._give_back(page, url)
        return 0.0

    def _give_back(self, page: Node, url: str) -> None:
        form = page.first("form", id="give-back")
        if form is None:
            raise SiteError(f"There is no button to return a HIT at {url}.")
        self._site.send(read_form(form), url)

    def _rest(self) -> float:
        """Nothing to do for now: the more often, the longer until the next look."""
        self._rests += 1
        return min(LONGEST_REST, REST * self._rests)

    # Answering

    def _submit(self) -> float:
        assert self._in_hand is not None
        held, self._in_hand = self._in_hand, None
        for _ in range(MOST_SCREENS):
            if held.screen.onward is None:
                return self._send(held)
            onward = held.screen.onward
            reply = self._post(held, onward.url, onward.fields)
            if reply.status == 403:
                return self._turned_away(held)
            if reply.status >= 400:
                raise SiteError(f"The task page refused {held.answer.fields} at {reply.url}: {_banner(reply)}")
            if (read := self._read_screen(reply)) is None:
                return self._leave_group(held.page, held.work_url)
            held = replace(held, screen=read[0], answer=read[1])
            if onward.another_item:
                self._in_hand = held
                return self.person.seconds * self._time_scale
        raise SiteError(f"The task at {held.frame_url} does not end.")

    def _send(self, held: _Open) -> float:
        """Check the answer as the page's script does, where it does, and send it to the marketplace."""
        for fields in (*held.answer.tries, held.answer.fields):
            held = replace(held, answer=replace(held.answer, fields=fields))
            if not held.screen.check_url:
                break
            checked = self._post(held, held.screen.check_url, {"page": held.screen.page_token})
            if checked.status == 403:
                return self._turned_away(held)
            if checked.status < 400:
                break
            self.tally.sent_back += 1
        else:
            raise SiteError(f"The task page refused {held.answer.fields} to {held.answer.item}: {checked.body[:300]}")
        self._note(self._post(held, held.screen.submit_url, {}), held)
        return 0.0

    def _post(self, held: _Open, url: str, more: dict[str, str]) -> Reply:
        """The form as it stands, filled in, to this address."""
        seconds = {"seconds_open": str(round(self.person.seconds))} if held.screen.page_token else {}
        fields = {**held.screen.form.fields, **held.answer.fields, **seconds, **more}
        return self._frame.post(url, fields, origin=origin_of(held.frame_url))

    def _turned_away(self, held: _Open) -> float:
        self.tally.refused += 1
        self._give_back(held.page, held.work_url)
        return 0.0

    def _note(self, sent: Reply, held: _Open) -> None:
        outcome = sent.page.first("body", "data-outcome")
        said = outcome.attributes["data-outcome"] if outcome else "nothing"
        # Repeated: the answer was kept before, by a try of which no reply came back.
        if said in ("submitted", "repeated"):
            self.tally.answers += 1
        elif said in ("expired", "returned", "not-recorded"):
            self.tally.lost += 1
        else:
            raise SiteError(f"The marketplace took no answer to {held.answer.item}: {said}. {_banner(sent)}")
        # The page around the frame takes the next HIT by itself, with this form of its own.
        onward = held.page.first("form", id="accept-next")
        self._next = self._site.send(read_form(onward), held.work_url) if onward else None


def _form(reply: Reply, action: str) -> Form:
    node = reply.page.first("form", action=action, method="post")
    if node is None:
        raise SiteError(f"There is no form for {action} at {reply.url}: {_banner(reply)}")
    return read_form(node)


def _banner(reply: Reply) -> str:
    words = " ".join(reply.page.text().split())
    return f"{reply.status} {words[:300]}"
