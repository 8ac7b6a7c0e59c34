from typing import Any

from marketplace.models import Assignment, BonusPayment, WorkerBlock
from marketplace.operations import Call, operation, shapes
from marketplace.operations.paging import page
from marketplace.rules import limits
from marketplace.rules.errors import DoesNotExist, ParameterValidationError
from marketplace.verbs import blocks, bonuses, hits, messages

Parameters = dict[str, Any]


@operation("CreateWorkerBlock")
def create_worker_block(call: Call, parameters: Parameters) -> Parameters:
    blocks.block(call.requester, parameters["WorkerId"], parameters["Reason"], call.now)
    return {}


@operation("DeleteWorkerBlock")
def delete_worker_block(call: Call, parameters: Parameters) -> Parameters:
    blocks.unblock(call.requester, parameters["WorkerId"], parameters.get("Reason", ""))
    return {}


@operation("ListWorkerBlocks")
def list_worker_blocks(call: Call, parameters: Parameters) -> Parameters:
    rows = WorkerBlock.objects.filter(requester=call.requester).select_related("worker")
    return page(call, parameters, rows, "WorkerBlocks", shapes.worker_block)


@operation("NotifyWorkers")
def notify_workers(call: Call, parameters: Parameters) -> Parameters:
    failures = messages.notify(
        call.requester, parameters["WorkerIds"], parameters["Subject"], parameters["MessageText"], call.now
    )
    return {
        "NotifyWorkersFailureStatuses": [
            {
                "NotifyWorkersFailureCode": "HardFailure",
                "NotifyWorkersFailureMessage": reason,
                "WorkerId": worker_id,
            }
            for worker_id, reason in failures
        ]
    }


@operation("GetAccountBalance")
def get_account_balance(call: Call, parameters: Parameters) -> Parameters:
    return {"AvailableBalance": call.requester.available, "OnHoldBalance": call.requester.held}


@operation("SendBonus")
def send_bonus(call: Call, parameters: Parameters) -> Parameters:
    bonuses.pay(
        call.requester,
        parameters["WorkerId"],
        parameters["AssignmentId"],
        limits.check_bonus(parameters["BonusAmount"]),
        parameters["Reason"],
        call.now,
        parameters.get("UniqueRequestToken", ""),
    )
    return {}


@operation("ListBonusPayments")
def list_bonus_payments(call: Call, parameters: Parameters) -> Parameters:
    if ("HITId" in parameters) == ("AssignmentId" in parameters):
        raise ParameterValidationError("Give either HITId or AssignmentId, and not both.")
    rows = BonusPayment.objects.filter(requester=call.requester)
    if "HITId" in parameters:
        rows = rows.filter(assignment__hit=hits.find(call.requester, parameters["HITId"]))
    else:
        rows = rows.filter(assignment__in=_assignments(call, parameters["AssignmentId"]))
    return page(call, parameters, rows.select_related("assignment", "worker"), "BonusPayments", shapes.bonus_payment)


def _assignments(call: Call, assignment_id: str) -> list[int]:
    """Every hold that had this id, so that a bonus is found whatever became of the assignment."""
    found = list(
        Assignment.objects.filter(assignment_id=assignment_id, hit__requester=call.requester).values_list(
            "pk", flat=True
        )
    )
    if not found:
        raise DoesNotExist("Assignment", assignment_id)
    return found
