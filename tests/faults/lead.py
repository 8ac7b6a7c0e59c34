"""A lead at work: through the API as a script of a research group would, whatever breaks underneath.

The lead publishes in two parts, reviews, rejects some and takes some of that back, pays bonuses and compensations,
undoes a block, offers and withdraws a qualification test, keeps HITs open longer, closes them early, publishes what
that left and clears away. Every request may fail; a lead repeats it, with the same confirmation.
"""

from __future__ import annotations

import time
from typing import Any

import requests

from tests.faults.installation import Installation

QUALIFICATION_TEST = {
    "key": "reading-test",
    "title": "Reading",
    "description": "Two questions about a short text.",
    "questions": [
        {"text": "The ferry left at noon.", "question": "What left?", "choices": ["The ferry", "The quay"], "right": 0},
        {"text": "", "question": "When did it leave?", "choices": ["In the evening", "At noon"], "right": 1},
    ],
}
PATIENCE = 300
REJECT_EVERY = 14


class LeadError(Exception):
    """The API refused what it should have taken; the message quotes it."""


class Lead:
    def __init__(self, it: Installation) -> None:
        self.it = it
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.verify = it.trusted
        self._session.headers["Authorization"] = f"Token {it.project['token']}"
        self._root = f"{it.stack.web_url}/api/projects/{it.project['slug']}/"

    def get(self, path: str, **query: Any) -> Any:
        return self._ask("GET", path, params=query)

    def post(self, path: str, body: Any = None, *, fine: tuple[int, ...] = ()) -> Any:
        """`fine` are refusals that the lead takes for an answer, which is then None."""
        return self._ask("POST", path, json=body or {}, fine=fine)

    def send(self, path: str, content: str, **fields: Any) -> Any:
        """Post a file in a form."""
        return self._ask("POST", path, data=fields, files={"file": ("bonuses.csv", content, "text/csv")})

    def _ask(self, verb: str, path: str, *, fine: tuple[int, ...] = (), **how: Any) -> Any:
        end = time.monotonic() + PATIENCE
        said = "nothing"
        while time.monotonic() < end:
            try:
                reply = self._session.request(verb, self._root + path, timeout=120, **how)
            except requests.RequestException as error:
                said = str(error)
            else:
                if reply.ok:
                    return reply.json() if reply.content else None
                if confirmed := _named_blocked(reply):
                    # A lead reads the question and says yes: the work was done.
                    how["json"] = {**how["json"], **confirmed}
                    continue
                if reply.status_code in fine:
                    return None
                said = f"{reply.status_code} {reply.text[:500]}"
                if reply.status_code < 500 and reply.status_code != 429:
                    break
            time.sleep(0.5)
        raise LeadError(f"{verb} {path}: {said}")

    # What a lead does

    def publish(self, stage: str, items: int | None = None) -> None:
        """Confirms the quote as shown, again when it changed meanwhile; nothing when nothing waits."""
        for _ in range(5):
            quote = self.get(f"stages/{stage}/quote/", **({"items": items} if items else {}))
            if not quote["items"]:
                return
            wanted = {name: quote[name] for name in ("items", "total", "confirmation")}
            if self.post(f"stages/{stage}/publish/", wanted, fine=(409,)) is not None:
                return

    def review(self, stage: str, reject: bool = True) -> int:
        """Decide what waits: one in REJECT_EVERY is refused, the others are approved."""
        waiting = self.get(f"stages/{stage}/answers/", show="to_review", limit=200)["results"]
        ids = [row["id"] for row in waiting]
        refused = [pk for pk in ids if reject and pk % REJECT_EVERY == 0]
        if refused:
            body = {"answers": refused, "feedback": "The name does not fit the blank."}
            self.post(f"stages/{stage}/answers/reject/", body)
        fine = sorted(set(ids) - set(refused))
        if fine:
            self.post(f"stages/{stage}/answers/approve/", {"answers": fine})
        return len(ids)

    def extend(self, stage: str, seconds: int) -> None:
        """Nothing where no HIT is open any more, as with few items."""
        self.post(f"stages/{stage}/extend/", {"seconds": seconds}, fine=(409,))

    def expire(self, stage: str) -> None:
        self.post(f"stages/{stage}/expire/", fine=(409,))

    def resume(self, stage: str) -> None:
        self.post(f"stages/{stage}/resume/")

    def harvest(self, stage: str) -> None:
        self.post(f"stages/{stage}/harvest/", fine=(503,))

    def undo_a_block(self) -> bool:
        """The first standing block; False when there is none."""
        standing = [row for row in self.get("blocks/")["results"] if row["state"] == "granted"]
        if standing:
            self.post(f"blocks/{standing[0]['id']}/undo/", fine=(503,))
        return bool(standing)

    def take_back(self, stage: str, most: int) -> bool:
        """Approve after all what was rejected first; False when nothing is rejected."""
        rows = self.get(f"stages/{stage}/answers/", show="rejected")["results"]
        ids = [row["id"] for row in rows if row["state"] == "Rejected" and not row["decision"]][:most]
        if ids:
            self.post(f"stages/{stage}/answers/take-back/", {"answers": ids}, fine=(409,))
        return bool(ids)

    def pay_bonus(self, stage: str, number: int) -> None:
        """One, for the answer of that number, from 1."""
        row = self.get(f"stages/{stage}/answers/", limit=number)["results"][-1]
        one = {"assignment_id": row["assignment_id"], "amount": "0.25", "reason": "Thank you for your careful work."}
        quote = self.post("bonuses/quote/", {"bonuses": [one]})
        self.post("bonuses/", {"bonuses": [one], **_confirmed(quote)})

    def pay_bonuses_by_file(self, stage: str, count: int) -> None:
        rows = self.get(f"stages/{stage}/answers/", limit=count)["results"]
        lines = [f"{row['assignment_id']},0.{5 + n:02},Bonus {n} of the file" for n, row in enumerate(rows)]
        content = "\n".join(["assignment_id,amount,reason", *lines])
        kept = self.send("bonus-files/", content)
        end = time.monotonic() + PATIENCE
        while (row := self.get(f"bonus-files/{kept['id']}/"))["state"] != "ready":
            assert row["state"] == "queued" and time.monotonic() < end, row
            time.sleep(0.2)
        self.post(f"bonus-files/{kept['id']}/order/", _confirmed({**row, "confirmation": f"file-{kept['id']:05}"}))

    def compensate(self, worker_id: str, amount: str) -> None:
        """Somebody who says that an answer could not be sent."""
        asked = {"worker_id": worker_id, "amount": amount, "reason": "Your answer did not reach us."}
        quote = self.post("compensations/quote/", asked)
        self.post("compensations/", {**asked, **_confirmed(quote)})

    def offers(self) -> list[dict[str, Any]]:
        """Compensations that wait for their worker."""
        return [row for row in self.get("compensations/")["results"] if row["state"] == "offered"]

    def withdraw(self, compensation: int) -> None:
        self.post(f"compensations/{compensation}/withdraw/", fine=(409,))

    def turn_the_test(self) -> None:
        """The one qualification test goes on offer, or is withdrawn when it is there; who holds it is read."""
        rows = self.get("qualification-tests/")["results"]
        row = rows[0] if rows else self.post("qualification-tests/", QUALIFICATION_TEST, fine=(400, 409))
        if row is None:
            return
        address = f"qualification-tests/{row['key']}/"
        if row["state"] == "offered":
            self.post(f"{address}withdraw/", fine=(409,))
        elif row["state"] in ("draft", "withdrawn"):
            self.post(f"{address}offer/", {"fingerprint": row["fingerprint"]}, fine=(409,))
        if row["qualification_type_id"]:
            self.post(f"{address}results/fetch/", fine=(503,))

    def compare_the_books(self) -> None:
        self.post("ledger/checks/", {"deep": True}, fine=(503,))

    def delete_hits(self, stage: str) -> None:
        self.post(f"stages/{stage}/delete-hits/", fine=(409,))


def _named_blocked(reply: requests.Response) -> dict[str, int]:
    """What to say besides when answers of blocked workers are approved; empty where nothing asks for it."""
    if reply.status_code != requests.codes.conflict:
        return {}
    error = reply.json()["error"]
    return dict(error["details"]) if error["code"] == "from_blocked_workers" else {}


def _confirmed(quote: dict[str, Any]) -> dict[str, Any]:
    return {"total": quote["total"], "confirmation": quote["confirmation"]}
