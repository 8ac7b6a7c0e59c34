"""Which network address a visitor comes from, which addresses are of the internet at large, and which may be called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

# Providers hand a household a whole network of this size.
_IPV6_NETWORK = 64
# Addresses behind which another, possibly internal, IPv4 address hides: NAT64, 6to4, Teredo, and translated ones.
_TUNNELS = tuple(
    IPv6Network(text) for text in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::ffff:0:0:0/96")
)
# The only IPv6 networks that are given to anybody on the internet (RFC 4291); the others are reserved.
_UNICAST = IPv6Network("2000::/3")
# IETF protocol assignments, AS112 relays, and the relays of 6to4 (RFC 6890, 7534, 7535, 7526). `is_global` knows the
# first only in part, and not the addresses of RFC 9637 for documents. Cloud providers serve the metadata of a machine
# at 192.0.0.192 and 168.63.129.16.
_SPECIAL = tuple(
    ip_network(text)
    for text in (
        "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24", "168.63.129.16/32",
        "3fff::/20",
    )
)  # fmt: skip
# What is written for the machine itself, where a list is wanted; `is_loopback` knows the other names too.
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
# Of what somebody may have called, such as a webhook.
LONGEST_ADDRESS = 500
Network = IPv4Network | IPv6Network
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")


def network(address: str) -> str:
    """What counts as one place: an IPv4 address, or the network of an IPv6 address."""
    try:
        parsed = ip_address(address.strip())
    except ValueError:
        return address.strip()
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    kept = int(parsed) >> (128 - _IPV6_NETWORK) << (128 - _IPV6_NETWORK)
    return f"{IPv6Address(kept)}/{_IPV6_NETWORK}"


def client_address(peer: str, forwarded: Sequence[str], proxies: int) -> str:
    """Who connected, behind `proxies` proxies of ours, each of which adds its peer to `forwarded`.

    What stands further left was written by the visitor and counts for nothing.
    """
    seen = [*(part.strip() for part in forwarded if part.strip()), peer]
    return seen[-1 - min(proxies, len(seen) - 1)]


def is_loopback(host: str) -> bool:
    """Whether a host name or an IP address, without brackets, names the machine itself."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ip = ip_address(name)
    except ValueError:
        return False
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    # Connecting to 0.0.0.0 or :: reaches the machine itself, too.
    return (mapped or ip).is_loopback or (mapped or ip).is_unspecified


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet at large: neither of this machine nor of its network.

    Raises ValueError when `address` is no IP address.
    """
    ip = ip_address(address.split("%")[0])
    if isinstance(ip, IPv6Address):
        if any(ip in tunnel for tunnel in _TUNNELS):
            return False
        if not ip.ipv4_mapped and ip not in _UNICAST:
            return False
        ip = ip.ipv4_mapped or ip
    if any(ip in special for special in _SPECIAL):
        return False
    return ip.is_global and not ip.is_multicast


# What somebody may have called. `common.outgoing` makes the calls.


class AddressError(Exception):
    """This address may not be called. The message goes on after "The webhook's address".

    `lacks` says which permission of Reach would allow it: http, networks, or none.
    """

    def __init__(self, message: str, lacks: str = "") -> None:
        super().__init__(message)
        self.lacks = lacks


@dataclass(frozen=True)
class Reach:
    """What may be called besides https on the internet at large.

    `loopback`: this machine under its own names, by http too. `http`: any host by http. `networks`: internal addresses.
    """

    loopback: bool = False
    http: bool = False
    networks: tuple[Network, ...] = ()

    def names_itself(self, host: str) -> bool:
        return self.loopback and is_loopback(host)

    def permits(self, address: str) -> bool:
        """Of an IP address. Raises ValueError when it is none."""
        ip = ip_address(address.split("%")[0])
        mapped = getattr(ip, "ipv4_mapped", None) or ip
        return is_public(address) or any(mapped in network for network in self.networks)


def checked(url: str, reach: Reach) -> SplitResult:
    """The parts of an address that may be called, as far as its spelling says. Raises AddressError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise AddressError("is not an address.") from None
    if len(url) > LONGEST_ADDRESS or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressError(f"must be plain ASCII, {LONGEST_ADDRESS} at most.")
    if not host or parts.username is not None or parts.password is not None or port == 0:
        raise AddressError("needs a host, and holds no name and password.")
    if _is_short_for_an_ip(host):
        raise AddressError("has an IP address that is not written in full, such as 192.0.2.1.")
    itself = reach.names_itself(host)
    if parts.scheme != "https" and not (parts.scheme == "http" and (itself or reach.http)):
        lacks = "http" if parts.scheme == "http" else ""
        raise AddressError(f"must begin with https://{' or http://' if reach.http else ''}.", lacks)
    if not itself and _is_internal(host, reach):
        raise AddressError("must be on the internet, not on an internal network.", "networks")
    return parts


def _is_short_for_an_ip(host: str) -> bool:
    """Whether whoever connects takes the host for an IPv4 address that is not written in full: 2130706433, 0x7f.1.

    By the rule of browsers: a host whose last part is a number is one (WHATWG URL, "ends in a number").
    """
    if not _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False


def _is_internal(host: str, reach: Reach) -> bool:
    """As far as a host tells without a look-up."""
    try:
        return not reach.permits(host)
    except ValueError:
        return is_loopback(host) and not reach.permits("127.0.0.1")
