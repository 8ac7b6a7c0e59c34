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
from marketplace.models.blocks import WorkerBlock
from marketplace.models.bonuses import BonusPayment
from marketplace.models.concerns import Concern
from marketplace.models.controls import Bucket, Controls, Fault, RequestCount
from marketplace.models.events import Event, Notification, Webhook
from marketplace.models.hits import Hit, HitType, RequestToken
from marketplace.models.layouts import HitLayout
from marketplace.models.messages import Message
from marketplace.models.money import MoneyEntry
from marketplace.models.payouts import Heartbeat, OperatorAction, Payout, PayoutLine
from marketplace.models.pool_links import PoolJoin, PoolLink
from marketplace.models.qualifications import (
    Qualification,
    QualificationRequest,
    QualificationTest,
    QualificationType,
)
from marketplace.models.reviews import ReviewLine
from marketplace.models.summaries import GroupSummary, RequesterSummary

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
