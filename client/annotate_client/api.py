"""Calls of the REST API: errors as exceptions, bounded retries where a second call does no harm, pages, streams.

`Client` and what it returns are made of these. Routes that they do not cover can be called with `client.api`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote

import httpx

from annotate_client.errors import ApiError, ConnectionFailedError, UnexpectedAnswerError, api_error

Result = TypeVar("Result")
Own = TypeVar("Own", bound="SignedIn")

#: Name in the environment.
URL = "ANNOTATE_URL"

USER_AGENT = "annotate-client/0.1.0"
#: Answers that say that the call was not carried out and may be sent again: too many calls, or a server that is away.
PASSING = frozenset({429, 502, 503, 504})
#: The pause before the first repetition in seconds; it doubles. A server that asks for a longer one is not waited for.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
#: Bytes of an answer that is read as a whole, of a refusal, and of a line of a stream.
LARGEST_ANSWER, LARGEST_REFUSAL, LONGEST_LINE = 256 << 20, 1 << 20, 64 << 20
#: Seconds until a connection is made.
CONNECT_SECONDS = 10.0


class Api:
    """The API of one address, as one lead or model.

    A GET is sent again, `retries` times at most, when no answer came or one of `PASSING`; so is a POST that says that
    it is `repeatable`, because the API gives the same result twice. Nothing else is sent twice.
    """

    def __init__(
        self, address: str, token: str | None, *, scheme: str = "Token", timeout: float = 60.0, retries: int = 3
    ) -> None:
        """`timeout` is how many seconds the server may be silent; `scheme` is `Token` for a lead, `Model` for a model.
        Without a token only what everybody may read is answered.

        Raises ValueError for what is no address, or no token.
        """
        self.address = _base(address)
        self.retries = retries
        headers = {"Accept": "application/json", "User-Agent": USER_AGENT}
        if token is not None:
            headers["Authorization"] = f"{scheme} {_plain(token)}"
        self._http = httpx.Client(
            base_url=self.address, headers=headers, timeout=httpx.Timeout(timeout, connect=CONNECT_SECONDS)
        )

    def close(self) -> None:
        self._http.close()

    # Calls. Paths are relative to /api/, such as path("projects", slug).

    def get(self, path: str, **params: Any) -> Any:
        """The JSON of an answer. Raises ApiError, ConnectionFailedError and UnexpectedAnswerError, as all calls do."""
        return self.call("GET", path, params=params)[1]

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, repeatable: bool = False) -> Any:
        return self.call("POST", path, body=body or {}, repeatable=repeatable)[1]

    def send_file(self, path: str, name: str, file: BinaryIO, fields: Mapping[str, str]) -> Any:
        """The file as a form. It is read while it is sent."""
        return self.send_form(path, {"file": (name, file)}, fields)[1]

    def send_form(
        self, path: str, files: Mapping[str, tuple[str, BinaryIO]], fields: Mapping[str, Any]
    ) -> tuple[int, Any]:
        """Status and JSON of the answer to a form: of each file its name and content, of each field a text or texts."""
        parts = {field: (name, file, "application/octet-stream") for field, (name, file) in files.items()}
        return self._call("POST", path, repeatable=False, files=parts, data=_given(fields))

    def changed(self, path: str, etag: str) -> tuple[str, bytes] | None:
        """The ETag and the content of an answer; None where it is still the one with this ETag."""
        answer = self._tried(True, lambda: self._opened("GET", path, headers={"If-None-Match": etag} if etag else {}))
        try:
            content = _whole(answer, LARGEST_ANSWER)
        finally:
            answer.close()
        return None if answer.status_code == httpx.codes.NOT_MODIFIED else (answer.headers.get("etag", ""), content)

    def pages(self, path: str, **params: Any) -> Iterator[Any]:
        """The rows of a list, page after page; a page is asked for when its first row is wanted."""
        asked = _given(params)
        while True:
            page = self.call("GET", path, params=asked)[1]
            if not isinstance(page, dict) or not isinstance(page.get("results"), list):
                raise UnexpectedAnswerError(f"{self.address}{path} did not answer with a list.")
            yield from page["results"]
            if not page.get("next"):
                return
            # Of the address its parameters alone: the token goes nowhere but to where it was meant for.
            following = dict(httpx.URL(page["next"]).params)
            if following == asked:
                raise UnexpectedAnswerError(f"{self.address}{path} names the same page as the next one.")
            asked = following

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        repeatable: bool | None = None,
    ) -> tuple[int, Any]:
        """Status and JSON of an answer; None where it has no content. A GET is repeatable unless you say otherwise."""
        wanted = method == "GET" if repeatable is None else repeatable
        return self._call(method, path, repeatable=wanted, params=_given(params or {}), json=body)

    @contextmanager
    def stream(self, path: str, **params: Any) -> Iterator[Iterator[bytes]]:
        """The content of an answer, piece by piece. One that breaks off raises ConnectionFailedError."""
        answer = self._tried(True, lambda: self._opened("GET", path, params=_given(params)))
        try:
            yield _pieces(answer)
        finally:
            answer.close()

    def lines(self, path: str, **params: Any) -> Iterator[Any]:
        """The values of JSON Lines, one after another."""
        with self.stream(path, **params) as pieces:
            for line in _lines(pieces):
                yield _json(line, path)

    # How they are made

    def _call(self, method: str, path: str, *, repeatable: bool, **parts: Any) -> tuple[int, Any]:
        return self._tried(repeatable, lambda: self._once(method, path, **parts))

    def _once(self, method: str, path: str, **parts: Any) -> tuple[int, Any]:
        answer = self._opened(method, path, **parts)
        try:
            content = _whole(answer, LARGEST_ANSWER)
        finally:
            answer.close()
        return answer.status_code, _json(content, path) if content else None

    def _opened(self, method: str, path: str, **parts: Any) -> httpx.Response:
        """An answer below 300 whose content is still to be read; whoever has it closes it."""
        if not httpx.URL(path).is_relative_url:
            raise ValueError(f"{path!r} leads elsewhere: a path begins behind /api/.")
        try:
            answer = self._http.send(self._http.build_request(method, path, **parts), stream=True)
        except httpx.TransportError as error:
            raise ConnectionFailedError(f"No answer from {self.address}: {_why(error)}. Does it run there?") from error
        if answer.status_code < 300 or answer.status_code == httpx.codes.NOT_MODIFIED:
            return answer
        try:
            raise _refusal(answer, self.address)
        finally:
            answer.close()

    def _tried(self, repeatable: bool, attempt: Callable[[], Result]) -> Result:
        """What the attempt returns, made again as long as that may help and does no harm."""
        pause, left = FIRST_PAUSE, self.retries if repeatable else 0
        while True:
            try:
                return attempt()
            except ConnectionFailedError:
                wait = pause
                if not left:
                    raise
            except ApiError as error:
                wait = max(pause, error.retry_after or 0)
                if not left or error.status not in PASSING or wait > LONGEST_PAUSE:
                    raise
            time.sleep(wait)
            pause, left = 2 * pause, left - 1


class SignedIn:
    """What a client is made of: `api`, closed at the end of a `with`. `names` are those of address and token in the
    environment.
    """

    scheme = "Token"
    names: tuple[str, str]

    def __init__(self, address: str, token: str, *, timeout: float = 60.0, retries: int = 3) -> None:
        """`timeout` is how many seconds the server may be silent. Raises ValueError for what is no address or token."""
        self.api = Api(address, token, scheme=self.scheme, timeout=timeout, retries=retries)

    @classmethod
    def from_environment(cls: type[Own], **options: Any) -> Own:
        """By address and token in the environment, so that no token is written into a script. Raises ValueError."""
        if missing := [name for name in cls.names if not os.environ.get(name)]:
            raise ValueError(f"Set {' and '.join(missing)} in the environment.")
        address, token = (os.environ[name] for name in cls.names)
        return cls(address, token, **options)

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.api.address!r})"

    def close(self) -> None:
        self.api.close()


def path(*parts: object) -> str:
    """The address of a route, each part quoted: path("projects", "news", "stages") is `projects/news/stages/`.

    Raises ValueError for a part that would lead elsewhere.
    """
    texts = [str(part) for part in parts]
    if any(text in ("", ".", "..") for text in texts):
        raise ValueError(f"{'/'.join(texts)!r} names nothing: a part of it is empty or dots.")
    return "".join(f"{quote(text, safe='')}/" for text in texts)


def _base(address: str) -> str:
    """With /api/ at the end, whether it was given or not."""
    url = httpx.URL(address.strip().rstrip("/"))
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"{address!r} is no address. Write one such as http://localhost:8000.")
    whole = str(url.copy_with(query=None, fragment=None)).rstrip("/")
    return f"{whole.removesuffix('/api')}/api/"


def _plain(token: str) -> str:
    plain = token.strip()
    if not plain or not plain.isascii() or not plain.isprintable() or " " in plain:
        raise ValueError("The token is empty or has characters that no token has. Copy it once more.")
    return plain


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    """As texts, without what is None; a list has a text for each value."""
    return {
        name: [_spelled(one) for one in value] if isinstance(value, list) else _spelled(value)
        for name, value in params.items()
        if value is not None
    }


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refusal(answer: httpx.Response, address: str) -> ApiError | UnexpectedAnswerError:
    if answer.is_redirect:
        to = answer.headers.get("location", "")
        return UnexpectedAnswerError(f"{address} sends on to {to}: give the address that it names.")
    try:
        body = json.loads(_whole(answer, LARGEST_REFUSAL))
    except (ValueError, RecursionError, UnexpectedAnswerError):
        body = None
    wait = answer.headers.get("retry-after", "")
    return api_error(answer.status_code, body, float(wait) if wait.isascii() and wait.isdigit() else None)


def _pieces(answer: httpx.Response) -> Iterator[bytes]:
    host = answer.url.host
    try:
        yield from answer.iter_bytes()
    except httpx.TransportError as error:
        raise ConnectionFailedError(f"The answer of {host} broke off: {_why(error)}. Try again.") from error
    except httpx.DecodingError as error:
        raise UnexpectedAnswerError(f"The answer of {host} cannot be unpacked: {error}.") from error


def _why(error: httpx.TransportError) -> str:
    """Some come without words."""
    return str(error) or type(error).__name__


def _whole(answer: httpx.Response, most: int) -> bytes:
    content = bytearray()
    for piece in _pieces(answer):
        content += piece
        if len(content) > most:
            raise UnexpectedAnswerError(f"The answer of {answer.url.host} has more than {most:,} bytes.")
    return bytes(content)


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Lines end with a line feed alone: a text may hold what other readers take for the end of a line."""
    begun: list[bytes] = []
    size = 0
    for piece in pieces:
        *ended, rest = piece.split(b"\n")
        if ended:
            yield from filter(None, [b"".join([*begun, ended[0]]), *ended[1:]])
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > LONGEST_LINE:
            raise UnexpectedAnswerError(f"A line of the answer has more than {LONGEST_LINE:,} bytes.")
    yield from filter(None, [b"".join(begun)])


def _json(content: bytes, where: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnexpectedAnswerError(
            f"What answered at {where} is no JSON, so it is no Annotate: is the address right?"
        ) from error
