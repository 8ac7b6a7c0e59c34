from typing import Any

from marketplace.models import WorkerBlock
from marketplace.operations import Call, operation, shapes
from marketplace.operations.paging import page
from marketplace.verbs import blocks, messages

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
