"""When two e-mail addresses are one person's, and which network address a visitor comes from."""

from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address

# Providers hand a household a whole network of this size.
_IPV6_NETWORK = 64


def email_key(address: str) -> str:
    """The address as it is compared: without the case, and without what follows a plus before the @."""
    name, _, host = address.strip().casefold().rpartition("@")
    return f"{name.partition('+')[0] or name}@{host}"


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
