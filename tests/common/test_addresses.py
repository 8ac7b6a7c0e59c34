from __future__ import annotations

from ipaddress import ip_network

import pytest

from common.addresses import AddressError, Reach, checked, client_address, is_loopback, is_public, network


def test_a_household_is_one_network() -> None:
    assert network("2001:db8:1:2::5") == network("2001:db8:1:2:ffff::1") != network("2001:db8:1:3::5")
    assert network("::ffff:192.0.2.7") == network("192.0.2.7") != network("192.0.2.8")
    assert network("unknown") == "unknown"


@pytest.mark.parametrize(
    ("forwarded", "proxies", "address"),
    [
        (["6.6.6.6", "192.0.2.7"], 0, "10.0.0.1"),
        (["6.6.6.6", "192.0.2.7"], 1, "192.0.2.7"),
        (["192.0.2.7", "10.0.0.2"], 2, "192.0.2.7"),
        ([], 1, "10.0.0.1"),
        (["192.0.2.7"], 9, "192.0.2.7"),
    ],
)
def test_what_a_visitor_writes_itself_counts_for_nothing(forwarded: list[str], proxies: int, address: str) -> None:
    assert client_address("10.0.0.1", forwarded, proxies) == address


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("100.64.0.1", False),
        ("fec0::1", False),
        ("::10.0.0.1", False),
        ("169.254.169.254", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("192.0.0.192", False),
        ("168.63.129.16", False),
        ("::ffff:168.63.129.16", False),
        ("100.100.100.200", False),
        ("fd00:ec2::254", False),
        ("5f00::1", False),
        ("3fff::1", False),
        ("4000::1", False),
        ("192.88.99.1", False),
        ("::ffff:192.0.0.192", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("::ffff:0:a9fe:a9fe", False),
    ],
)
def test_an_internal_address_is_not_public_however_it_is_written(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "app.localhost",
        "127.0.0.1",
        "127.9.9.9",
        "::1",
        "0.0.0.0",
        "::",
        "::ffff:127.0.0.1",
    ],
)
def test_every_name_of_this_machine_is_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "localhost.example.org", "10.0.0.1", "8.8.8.8", "fe80::1", "mylocalhost"])
def test_other_hosts_are_not(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0xa9fea9fe", "8.8"])
def test_an_ip_address_that_is_not_written_in_full_is_refused_wherever_it_leads(host: str) -> None:
    everything = Reach(loopback=True, http=True, networks=(ip_network("0.0.0.0/0"),))
    with pytest.raises(AddressError, match="not written in full"):
        checked(f"https://{host}/hook", everything)


@pytest.mark.parametrize("host", ["8.8.8.8", "[2606:4700::1111]", "0x.example", "1e100.example", "hooks.example"])
def test_names_and_whole_addresses_are_taken(host: str) -> None:
    assert checked(f"https://{host}/hook", Reach()).path == "/hook"
