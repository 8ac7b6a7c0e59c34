"""What a panel's link brings along, and the address that takes its people back."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from common.addresses import is_loopback
from marketplace.rules.errors import ParameterValidationError

SIGNATURE = "sig"
_FIELD = re.compile(r"\{(\w+)\}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,49}")
_MOST_PARAMETERS = 20
_LONGEST_VALUE = 200


def check_return_address(what: str, address: str) -> str:
    """An https address, or http on the worker's own machine; fields in braces may stand behind its host only."""
    address = address.strip()
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        raise ParameterValidationError(f"{what} is no address.") from None
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not secure or not host or re.search(r"[\s{}<>\"';,\\]", parts.netloc):
        raise ParameterValidationError(f"{what} has to be an address that starts with https://.")
    if re.search(r"[{}\s]", _FIELD.sub("", address)):
        raise ParameterValidationError(f"{what}: write fields as {{outside_id}}, with both braces and no spaces.")
    return address


def fill(template: str, values: Mapping[str, str]) -> str:
    """The address with its fields filled in, quoted; a field without a value is left empty."""
    return _FIELD.sub(lambda match: quote(values.get(match[1], ""), safe=""), template)


def origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def check_parameter(name: str) -> str:
    if not _NAME.fullmatch(name) or name == SIGNATURE:
        raise ParameterValidationError("The parameter's name takes letters, digits and _, such as PARTICIPANT_ID.")
    return name


def kept_parameters(query: Mapping[str, str], but: str) -> dict[str, str]:
    """What else the link carried, bounded: anybody can write a link."""
    kept = {
        name: value[:_LONGEST_VALUE]
        for name, value in query.items()
        if name not in (but, SIGNATURE) and _NAME.fullmatch(name) and value.isprintable()
    }
    return dict(list(kept.items())[:_MOST_PARAMETERS])


def sign(secret: str, outside_id: str, visit: str = "") -> str:
    """HMAC-SHA256, in hex, of the outside id; of id, a line feed and visit where the link carries a visit's id.

    Neither holds a line feed, so that no link can pass for another one.
    """
    signed = f"{outside_id}\n{visit}" if visit else outside_id
    return hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()


def is_signed(secret: str, outside_id: str, signature: str, visit: str = "") -> bool:
    return hmac.compare_digest(sign(secret, outside_id, visit).encode(), signature.lower().encode())
