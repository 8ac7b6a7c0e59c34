"""The tables of the requester's side. A row is the message between two modules of `hits.flow`."""

from hits.models.access import ApiToken, LeadSession, RecoveryCode, SignInTries
from hits.models.actions import AccountAction, Action
from hits.models.answers import Assignment, Draft, Label, Verdict
from hits.models.budget_requests import BudgetRequest
from hits.models.changes import ChangeSet, ItemChange
from hits.models.computations import ComputationResult, ComputationRun
from hits.models.files import Blob, EvaluatedSystem, Release, ReleasedItem, ReleaseFile, Upload
from hits.models.inbox import InboxEntry
from hits.models.invitations import Guest, Invitation
from hits.models.jobs import WaitingJob
from hits.models.lead_limits import LeadLimit
from hits.models.leases import Lease
from hits.models.ledger import Account, BudgetExceededError, LedgerCheck, LedgerEntry
from hits.models.media import MediaFile
from hits.models.messages import MessageTemplate, WorkerMessage
from hits.models.model_annotators import ModelAnnotator, ModelAnswer, ModelLease, RoutedItem, Routing
from hits.models.notices import LetterNotice, Notice, NoticeChoice, NoticeLetter
from hits.models.payments import Bonus, BonusFile, BonusOrder, Compensation
from hits.models.pools import Pool, PoolLink, PoolUse
from hits.models.projects import Document, Item, Membership, Project, Stage, StageSummary
from hits.models.publishing import Batch, Extension, Hit, HitItem
from hits.models.qualification_tests import QualificationScore, QualificationTest
from hits.models.restorations import ClosedHit, Restoration
from hits.models.rules import RuleEdition
from hits.models.suggestions import SuggestedAnswer, Suggestion
from hits.models.terms import Terms
from hits.models.text_evidence import TextEvidence, TextFigures
from hits.models.webhooks import Webhook, WebhookDelivery
from hits.models.workers import Block, Grant, Qualification, Worker, WorkerStat

__all__ = [
    "Account",
    "ApiToken",
    "AccountAction",
    "Action",
    "Assignment",
    "Batch",
    "Blob",
    "Block",
    "Bonus",
    "BonusFile",
    "BonusOrder",
    "BudgetExceededError",
    "BudgetRequest",
    "ChangeSet",
    "ClosedHit",
    "Compensation",
    "ComputationResult",
    "ComputationRun",
    "Document",
    "Draft",
    "EvaluatedSystem",
    "Extension",
    "Grant",
    "Guest",
    "Hit",
    "HitItem",
    "InboxEntry",
    "Invitation",
    "Item",
    "ItemChange",
    "Label",
    "LeadLimit",
    "LeadSession",
    "Lease",
    "LedgerCheck",
    "LedgerEntry",
    "LetterNotice",
    "MediaFile",
    "Membership",
    "ModelAnnotator",
    "ModelAnswer",
    "ModelLease",
    "MessageTemplate",
    "Notice",
    "NoticeChoice",
    "NoticeLetter",
    "Pool",
    "PoolLink",
    "PoolUse",
    "Project",
    "Qualification",
    "QualificationScore",
    "QualificationTest",
    "RecoveryCode",
    "Release",
    "ReleaseFile",
    "ReleasedItem",
    "Restoration",
    "RoutedItem",
    "Routing",
    "RuleEdition",
    "SignInTries",
    "Stage",
    "StageSummary",
    "TextEvidence",
    "TextFigures",
    "Terms",
    "SuggestedAnswer",
    "Suggestion",
    "Upload",
    "Verdict",
    "WaitingJob",
    "Webhook",
    "WebhookDelivery",
    "Worker",
    "WorkerMessage",
    "WorkerStat",
]
