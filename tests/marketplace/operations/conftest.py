"""Queues and topics for the tests of operations too."""

from tests.marketplace.transports.conftest import aws, cloud

__all__ = ["aws", "cloud"]
