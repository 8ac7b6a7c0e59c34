from typing import Any

from marketplace.operations import Call, operation


@operation("GetAccountBalance")
def get_account_balance(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"AvailableBalance": call.requester.available, "OnHoldBalance": call.requester.held}
