"""The variables of the marketplace, beside those that both projects read: see common/env.py."""

from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

from common import env
from marketplace.rules.throttling import Rate
from marketplace.rules.throttling import parse as parse_rate


def money(default: str, meaning: str) -> env.Variable[Decimal]:
    def read(value: str) -> Decimal:
        try:
            amount = Decimal(value)
            exact = amount.is_finite() and amount >= 0 and amount == amount.quantize(Decimal("0.01"))
        except InvalidOperation:
            exact = False
        if not exact:
            raise ValueError("an amount of at least 0 with at most two decimals, such as 10000.00")
        return amount

    return env.Variable("amount", read, default, meaning, unit="US dollars")


def origin(default: str, meaning: str, shown: str = "") -> env.Variable[str]:
    """Scheme, host and port, without a trailing slash; empty where none is set and there is no default."""

    def read(value: str) -> str:
        parts = urlsplit(value.rstrip("/"))
        if value and (parts.scheme not in env.HTTP or not parts.hostname or parts.path or parts.query):
            raise ValueError("an origin such as https://crowd.example.org")
        return value.rstrip("/")

    return env.Variable("origin", read, default, meaning, shown=shown)


def _rate(value: str) -> Rate | None:
    try:
        return parse_rate(value)
    except ValueError:
        raise ValueError("capacity and calls a second, such as 20,5/s") from None


class Marketplace(env.Shared):
    MARKETPLACE_SECRET_KEY = env.text(
        "",
        "Signs sessions and links in letters. At least 32 random characters, as for the other side.",
        secret=True,
        shown="needed",
    )
    MARKETPLACE_PUBLIC_URL = origin(
        "http://127.0.0.1:8001", "The address of the worker site, the operator's site and the API; https on a server."
    )
    MARKETPLACE_FRAMES_URL = origin(
        "",
        "The same service under another host name, for pages that requesters wrote (HTMLQuestion, QuestionForm, "
        "layouts). Without it such pages are refused.",
        shown="none; on loopback the machine's other name",
    )
    MARKETPLACE_ALLOWED_HOSTS = env.words(
        "Further host names to which it answers, beside those of its addresses and loopback."
    )
    MARKETPLACE_DATABASE_URL = env.url(
        "", "The database.", schemes=env.DATABASES, secret=True, shown="SQLite in `DATA_DIR`"
    )
    MARKETPLACE_SIGN_UP = env.choice(
        ("open", "invitation"),
        "",
        "Who may sign up as a worker: anybody, or who has an invitation.",
        shown="`open` on loopback, else `invitation`",
    )
    MARKETPLACE_POOL_LINKS = env.switch(
        "Whether requesters may let people in by links of their pools, also where others need an invitation.", True
    )
    MARKETPLACE_CONTACT = env.text("", "Whom workers ask when the site cannot help, as Dana Doe (dana@example.org).")
    MARKETPLACE_STARTING_BALANCE = money("10000.00", "What a requester has whom a command or an unknown key made.")
    MARKETPLACE_THROTTLE = env.Variable(
        "rate", _rate, "", "Calls that one requester may make: `20,5/s` is 20 at once, 5 a second in the long run."
    )
    MARKETPLACE_SQS_ENDPOINT_URL = origin("", "Where notifications to queues go; without it they are undeliverable.")
    MARKETPLACE_SNS_ENDPOINT_URL = origin("", "Where notifications to topics go; without it they are undeliverable.")
    MARKETPLACE_AWS_ACCESS_KEY_ID = env.text("", "A key pair with the right to send to these queues and topics alone.")
    MARKETPLACE_AWS_SECRET_ACCESS_KEY = env.text("", "Its secret half.", secret=True)
    MARKETPLACE_AWS_REGION = env.text("us-east-1", "The region of queues and topics.")
    MARKETPLACE_SANDBOX = env.switch("Sample log-ins (`seed_sandbox`), and workers who set their own standing.")
    MARKETPLACE_ACCEPT_ANY_KEY = env.switch("An unknown key makes a requester. Taken on loopback only.")
    MARKETPLACE_TEST_CONTROLS = env.switch("Faults on demand and a clock that tests move. Taken on loopback only.")
