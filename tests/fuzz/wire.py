"""Calls of the requester API, most of them wrong."""

from __future__ import annotations

import json
import random
from typing import Any

import requests
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from marketplace.wire import contract
from ops.waiting import PATIENCE_SECONDS
from tests.fuzz.report import Report
from tests.fuzz.values import Pool, make
from tests.marketplace.wire.model import mismatches

OPERATIONS = sorted(contract.service_model().operation_names)
# What makes things to work on comes more often than what looks at them, and deletes less often.
OFTEN = ("CreateHIT", "CreateHITWithHITType", "CreateHITType", "CreateQualificationType")
OFTEN += ("ListAssignmentsForHIT", "ApproveAssignment", "RejectAssignment", "SendBonus", "ListHITs")
WEIGHTS = [4 if name in OFTEN else 1 for name in OPERATIONS]
BODIES = (b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 50_000, b'{"a":' * 20_000, b'"x"', b"0" * 100_000, b"{}" * 2)
TARGETS = ("", "MTurkRequesterServiceV20170117.", "MTurkRequesterServiceV20170117.Nothing", "x" * 5000, "\u00e9")


class Caller:
    """One requester's program. `keys` are (access key id, secret), tried at random."""

    def __init__(self, url: str, keys: list[tuple[str, str]], draw: random.Random, pool: Pool, report: Report) -> None:
        self.url, self.keys, self.draw, self.pool, self.report = url, keys, draw, pool, report
        self.session = requests.Session()
        self.session.trust_env = False

    def step(self) -> None:
        name = self.draw.choices(OPERATIONS, WEIGHTS)[0]
        shape = contract.service_model().operation_model(name).input_shape
        spite = self.draw.choice((0, 0, 0, 0.05, 0.3))
        body = json.dumps(make(shape, "", self.draw, self.pool, 0) if not spite else self._spiteful(shape, spite))
        if "WorkerId" in shape.members and "AssignmentId" in shape.members and self.draw.random() < 0.7:
            body = json.dumps(json.loads(body) | self.pool.pair(self.draw))
        target, raw = f"MTurkRequesterServiceV20170117.{name}", body.encode()
        roll = self.draw.random()
        if roll < 0.01:
            raw, name = self.draw.choice(BODIES), "(odd body)"
        elif roll < 0.02:
            target, name = self.draw.choice(TARGETS), "(odd target)"
        self._send(name, target, raw)

    def _spiteful(self, shape: Any, spite: float) -> Any:
        return {
            member: make(inner, member, self.draw, self.pool, spite)
            for member, inner in shape.members.items()
            if member in shape.required_members or self.draw.random() < 0.5
        }

    def _send(self, name: str, target: str, raw: bytes) -> None:
        headers = self._signed(target, raw)
        if self.draw.random() < 0.01:
            name = "(odd signature)"
            headers["Authorization"] = self.draw.choice(
                ("", "AWS4-HMAC-SHA256", headers["Authorization"][:-1], "é" * 9)
            )
        headers = {key: value.encode("utf-8", "replace") for key, value in headers.items()}
        try:
            response = self.session.post(f"{self.url}/", raw, headers=headers, timeout=PATIENCE_SECONDS)
        except requests.ConnectionError:
            # Seen as a client sees it: the server may close a kept connection at any time.
            self.report.count("wire", "(connection dropped)", 0)
            return
        except requests.RequestException as error:
            self.report.fail(name, f"{error!r} to {raw[:2000]!r}")
            return
        self.report.count("wire", name, response.status_code)
        problem = self._problem(name, response)
        if problem:
            self.report.fail(name, f"{problem}\n  sent {raw[:2000]!r}\n  got {response.content[:600]!r}")

    def _signed(self, target: str, raw: bytes) -> dict[str, str]:
        key, secret = self.draw.choice(self.keys)
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": target}
        request = AWSRequest("POST", f"{self.url}/", headers=headers, data=raw)
        try:
            SigV4Auth(Credentials(key, secret), "mturk-requester", "us-east-1").add_auth(request)
        except UnicodeError:
            return headers | {"Authorization": "x"}
        return dict(request.headers.items())

    def _problem(self, name: str, response: requests.Response) -> str:
        if response.status_code >= 500:
            return f"status {response.status_code}"
        try:
            body = response.json()
        except ValueError:
            return "the answer is not JSON"
        if response.status_code == 200:
            if name.startswith("("):
                return ""
            self.pool.learn(body)
            wrong = mismatches(body, contract.service_model().operation_model(name).output_shape)
            return f"outside of the model: {wrong}" if wrong else ""
        known = body.keys() <= {"__type", "Message", "TurkErrorCode"} and {"__type", "Message"} <= body.keys()
        return "" if known and response.status_code in (400, 403) else "an error of another form"
