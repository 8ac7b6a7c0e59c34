from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.marketplace.transports.sinks import Hook, hook_server


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hook_server() as running:
        yield running


@pytest.fixture(scope="session")
def cloud() -> Iterator[str]:
    """The address of a server that has queues and topics."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def aws(cloud: str, settings: Any) -> Any:
    """Makes clients of that server; the marketplace is set to send there."""
    settings.MARKETPLACE_SQS_ENDPOINT_URL = settings.MARKETPLACE_SNS_ENDPOINT_URL = cloud
    settings.MARKETPLACE_AWS_ACCESS_KEY_ID = settings.MARKETPLACE_AWS_SECRET_ACCESS_KEY = "market"

    def client(service: str) -> Any:
        values = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "y"}
        return boto3.client(service, endpoint_url=cloud, **values)

    return client
