"""Queues (SQS) and topics (SNS) of the one endpoint that the settings name.

A requester chooses the queue, never the server that is asked.
"""

from datetime import datetime
from functools import lru_cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from django.conf import settings

from marketplace.transports.errors import TransportError

_CONFIG = Config(connect_timeout=3, read_timeout=5, retries={"total_max_attempts": 1})


@lru_cache(maxsize=4)
def _client(service: str, endpoint: str, key: str, secret: str, region: str) -> Any:
    """boto3's clients may be shared by threads; making one takes long."""
    session = boto3.session.Session(aws_access_key_id=key, aws_secret_access_key=secret, region_name=region)
    # Its type knows a service by its literal name only.
    make: Any = session.client
    return make(service, endpoint_url=endpoint, config=_CONFIG)


def _connect(service: str, endpoint: str) -> Any:
    if not endpoint:
        name = f"MARKETPLACE_{service.upper()}_ENDPOINT_URL"
        raise TransportError(f"This marketplace has no way to {service.upper()}: {name} is not set.", permanent=True)
    return _client(
        service,
        endpoint,
        settings.MARKETPLACE_AWS_ACCESS_KEY_ID,
        settings.MARKETPLACE_AWS_SECRET_ACCESS_KEY,
        settings.MARKETPLACE_AWS_REGION,
    )


def send_to_queue(queue_url: str, body: str) -> None:
    client = _connect("sqs", settings.MARKETPLACE_SQS_ENDPOINT_URL)
    extra = {"MessageGroupId": "mturk"} if queue_url.endswith(".fifo") else {}
    _call(client.send_message, QueueUrl=queue_url, MessageBody=body, **extra)


def publish(topic_arn: str, body: str, sent_at: datetime) -> None:
    client = _connect("sns", settings.MARKETPLACE_SNS_ENDPOINT_URL)
    extra = {"MessageGroupId": "mturk"} if topic_arn.endswith(".fifo") else {}
    _call(client.publish, TopicArn=topic_arn, Message=body, Subject=str(int(sent_at.timestamp() * 1000)), **extra)


def _call(operation: Any, **parameters: Any) -> None:
    try:
        operation(**parameters)
    # An answer that is no document of the service, such as a proxy's page, is an error of its own kind.
    except (ClientError, BotoCoreError, ResponseParserError) as error:
        raise TransportError(str(error)) from error
