"""What a panel's link brings along, and the address that takes its people back."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlsplit

from marketplace.rules.errors import ParameterValidationError

SIGNATURE = "sig"
_FIELD = re.compile(r"\{(\w+)\}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,49}")
_MOST_PARAMETERS = 20
_LONGEST_VALUE = 200


def check_return_address(what: str, address: str, plain_hosts: Sequence[str]) -> str:
    """An https address, or http on one of `plain_hosts`; fields in braces may stand behind its host only."""
    address = address.strip()
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        raise ParameterValidationError(f"{what} is no address.") from None
    secure = parts.scheme == "https" or (parts.scheme == "http" and host in plain_hosts)
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


def sign(secret: str, outside_id: str) -> str:
    return hmac.new(secret.encode(), outside_id.encode(), hashlib.sha256).hexdigest()


def is_signed(secret: str, outside_id: str, signature: str) -> bool:
    return hmac.compare_digest(sign(secret, outside_id).encode(), signature.lower().encode())
