"""Which network address a visitor comes from, and which addresses are of the internet at large."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

# Providers hand a household a whole network of this size.
_IPV6_NETWORK = 64
# Addresses behind which another, possibly internal, IPv4 address hides: NAT64, 6to4, Teredo.
_TUNNELS = tuple(IPv6Network(text) for text in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
# IPv4 addresses in the form that came before the mapped ones.
_COMPATIBLE = IPv6Network("::/96")
# IETF protocol assignments, AS112 relays, and the relays of 6to4 (RFC 6890, 7534, 7535, 7526). `is_global` knows the
# first only in part, and cloud providers serve the metadata of a machine at 192.0.0.192.
_SPECIAL = tuple(
    IPv4Network(text)
    for text in ("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24")
)
# What is written for the machine itself, where a list is wanted; `is_loopback` knows the other names too.
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")


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
        if ip.is_site_local or ip in _COMPATIBLE:
            return False
        ip = ip.ipv4_mapped or ip
    if ip.version == 4 and any(ip in special for special in _SPECIAL):
        return False
    return ip.is_global and not ip.is_multicast
