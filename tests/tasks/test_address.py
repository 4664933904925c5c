"""An address is read as it is written, and written as it is read."""

import pytest

from tasks.address import address_of, host_and_port, host_of, is_this_machine


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("127.0.0.1:4280", ("127.0.0.1", 4280)),
        ("reader.example:80", ("reader.example", 80)),
        ("[::1]:4280", ("::1", 4280)),
        ("[fe80::1%eth0]:9", ("fe80::1%eth0", 9)),
        (" 9464 ", ("", 9464)),
        (":9464", ("", 9464)),
    ],
)
def test_host_and_port(written, meant):
    assert host_and_port(written) == meant
    if meant[0]:
        assert address_of(*meant) == written


@pytest.mark.parametrize(
    "written", ["", "x", "127.0.0.1", "1:99999", "1:0", "1:-4", "²", "::1:4280", "[::1]", "::1", "http://a:80"]
)
def test_what_is_no_address(written):
    assert host_and_port(written) is None


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("localhost:4280", "localhost"),
        ("localhost", "localhost"),
        ("[::1]:4280", "::1"),
        ("[::1]", "::1"),
        ("", ""),
        ("[bad", ""),
        ("[::1]evil:80", ""),
        ("evil.com[::1]", ""),
        ("::1", ""),
    ],
)
def test_a_host_is_named_with_a_port_or_without(written, host):
    assert host_of(written) == host


def test_what_only_this_machine_reaches():
    assert all(map(is_this_machine, ("127.0.0.1", "127.0.0.2", "localhost", "localhost.", "::1")))
    assert not any(map(is_this_machine, ("0.0.0.0", "::", "192.0.2.1", "reader.example", "")))
