"""Tables of the marketplace. save() only saves; state changes live in marketplace.verbs."""

from marketplace.models.access import (
    Attempts,
    Invitation,
    Letter,
    OperatorSession,
    Panel,
    PanelEntry,
    RecoveryCode,
)
from marketplace.models.accounts import AccessKey, Requester, Worker
from marketplace.models.assignments import Assignment
from marketplace.models.controls import Bucket, Controls, Fault, RequestCount
from marketplace.models.events import Event, Notification, Webhook
from marketplace.models.hits import GroupSummary, Hit, HitLayout, HitType, RequesterSummary, RequestToken, ReviewLine
from marketplace.models.money import BonusPayment, Heartbeat, MoneyEntry, OperatorAction, Payout, PayoutLine
from marketplace.models.people import Concern, Message, WorkerBlock
from marketplace.models.pool_links import PoolJoin, PoolLink
from marketplace.models.qualifications import (
    Qualification,
    QualificationRequest,
    QualificationTest,
    QualificationType,
)

__all__ = [
    "AccessKey",
    "Assignment",
    "Attempts",
    "BonusPayment",
    "Bucket",
    "Concern",
    "Controls",
    "Event",
    "Fault",
    "GroupSummary",
    "Heartbeat",
    "Hit",
    "HitLayout",
    "HitType",
    "Invitation",
    "Letter",
    "Message",
    "MoneyEntry",
    "Notification",
    "OperatorAction",
    "OperatorSession",
    "Panel",
    "PanelEntry",
    "Payout",
    "PayoutLine",
    "PoolJoin",
    "PoolLink",
    "Qualification",
    "QualificationRequest",
    "QualificationTest",
    "QualificationType",
    "RequestCount",
    "RecoveryCode",
    "Requester",
    "RequesterSummary",
    "RequestToken",
    "ReviewLine",
    "Webhook",
    "Worker",
    "WorkerBlock",
]
