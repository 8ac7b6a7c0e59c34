from typing import Any

from marketplace.operations import Call, operation
from marketplace.rules import notifications
from marketplace.verbs import deliveries, events, hits

Parameters = dict[str, Any]


@operation("UpdateNotificationSettings")
def update_notification_settings(call: Call, parameters: Parameters) -> Parameters:
    hit_type = hits.find_type(call.requester, parameters["HITTypeId"])
    events.set_notification(hit_type, parameters.get("Notification"), parameters.get("Active"))
    return {}


@operation("SendTestEventNotification")
def send_test_event_notification(call: Call, parameters: Parameters) -> Parameters:
    specification = notifications.check_specification(
        parameters["Notification"], test=True, loopback=events.loopback_allowed()
    )
    deliveries.send_test(call.requester, specification, parameters["TestEventType"], call.now)
    return {}
