from typing import Any

from marketplace.models import Hit, HitType, ReviewLine
from marketplace.operations import Call, operation, shapes, staleness
from marketplace.operations.paging import page
from marketplace.rules import lifecycle, limits, notifications
from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.qualifications import normalise
from marketplace.verbs import assignments, deliveries, events, hits, layouts, qualifications, reviews

Parameters = dict[str, Any]


def _type_of(call: Call, parameters: Parameters) -> HitType:
    requirements = normalise(parameters.get("QualificationRequirements", []))
    qualifications.check_types_exist(requirements)
    return hits.find_or_create_type(
        call.requester,
        title=parameters["Title"],
        description=parameters["Description"],
        keywords=parameters.get("Keywords", ""),
        reward=limits.check_reward(parameters["Reward"]),
        assignment_duration_seconds=parameters["AssignmentDurationInSeconds"],
        auto_approval_delay_seconds=parameters.get("AutoApprovalDelayInSeconds", limits.DEFAULT_AUTO_APPROVAL_SECONDS),
        requirements=requirements,
    )


def _question(call: Call, parameters: Parameters) -> str:
    """The question's XML, given or made from a layout."""
    if ("Question" in parameters) == ("HITLayoutId" in parameters):
        raise ParameterValidationError("Give either Question or HITLayoutId, and not both.")
    if "HITLayoutId" in parameters:
        layout = layouts.find(call.requester, parameters["HITLayoutId"])
        return layouts.question(layout, _layout_values(parameters))
    if "HITLayoutParameters" in parameters:
        raise ParameterValidationError("HITLayoutParameters need a HITLayoutId.")
    question: str = parameters["Question"]
    return question


def _layout_values(parameters: Parameters) -> dict[str, str]:
    values: dict[str, str] = {}
    for each in parameters.get("HITLayoutParameters", []):
        name = each.get("Name", "")
        if not name or name in values:
            raise ParameterValidationError(
                f"HITLayoutParameters name {name} more than once." if name else "A HITLayoutParameter has no Name."
            )
        values[name] = each.get("Value", "")
    return values


def _create(call: Call, hit_type: HitType, question: str, parameters: Parameters) -> Parameters:
    hit = hits.create(
        call.requester,
        hit_type,
        question=question,
        max_assignments=parameters.get("MaxAssignments", 1),
        lifetime_seconds=parameters["LifetimeInSeconds"],
        annotation=parameters.get("RequesterAnnotation", ""),
        token=parameters.get("UniqueRequestToken", ""),
        layout_id=parameters.get("HITLayoutId", ""),
        assignment_review_policy=parameters.get("AssignmentReviewPolicy"),
        hit_review_policy=parameters.get("HITReviewPolicy"),
        now=call.now,
    )
    return {"HIT": shapes.hit(hit, call.now)}


@operation("CreateHITType")
def create_hit_type(call: Call, parameters: Parameters) -> Parameters:
    return {"HITTypeId": _type_of(call, parameters).hit_type_id}


@operation("CreateHIT")
def create_hit(call: Call, parameters: Parameters) -> Parameters:
    with hits.once(call.requester, parameters.get("UniqueRequestToken", ""), call.now):
        question = _question(call, parameters)
        return _create(call, _type_of(call, parameters), question, parameters)


@operation("CreateHITWithHITType")
def create_hit_with_hit_type(call: Call, parameters: Parameters) -> Parameters:
    with hits.once(call.requester, parameters.get("UniqueRequestToken", ""), call.now):
        question = _question(call, parameters)
        hit_type = hits.find_type(call.requester, parameters["HITTypeId"])
        qualifications.check_types_exist(hit_type.requirements)
        return _create(call, hit_type, question, parameters)


@operation("GetHIT")
def get_hit(call: Call, parameters: Parameters) -> Parameters:
    assignments.sweep(call.now)
    found = hits.find(call.requester, parameters["HITId"])
    if call.lag:
        staleness.rewound(call, [found])
    return {"HIT": shapes.hit(found, call.now)}


def _page_of_hits(call: Call, parameters: Parameters, rows: Any, newest_first: bool) -> Parameters:
    return page(
        call,
        parameters,
        rows.select_related("hit_type"),
        "HITs",
        lambda hit: shapes.hit(hit, call.now),
        newest_first=newest_first,
    )


@operation("ListHITs")
def list_hits(call: Call, parameters: Parameters) -> Parameters:
    assignments.sweep(call.now)
    rows = Hit.objects.filter(requester=call.requester, disposed_at__isnull=True)
    return _page_of_hits(call, parameters, rows, newest_first=True)


@operation("ListReviewableHITs")
def list_reviewable_hits(call: Call, parameters: Parameters) -> Parameters:
    assignments.sweep(call.now)
    rows = Hit.objects.filter(requester=call.requester).reviewable(
        call.now, parameters.get("Status", lifecycle.REVIEWABLE)
    )
    if "HITTypeId" in parameters:
        rows = rows.filter(hit_type=hits.find_type(call.requester, parameters["HITTypeId"]))
    return _page_of_hits(call, parameters, rows, newest_first=False)


@operation("CreateAdditionalAssignmentsForHIT")
def create_additional_assignments(call: Call, parameters: Parameters) -> Parameters:
    hits.add_assignments(
        call.requester,
        parameters["HITId"],
        parameters["NumberOfAdditionalAssignments"],
        call.now,
        parameters.get("UniqueRequestToken", ""),
    )
    return {}


@operation("UpdateExpirationForHIT")
def update_expiration(call: Call, parameters: Parameters) -> Parameters:
    hit = hits.set_expiration(call.requester, parameters["HITId"], parameters["ExpireAt"], call.now)
    reviews.run_if_due(hit, call.now)
    return {}


@operation("UpdateHITTypeOfHIT")
def update_hit_type_of_hit(call: Call, parameters: Parameters) -> Parameters:
    hits.change_type(call.requester, parameters["HITId"], parameters["HITTypeId"], call.now)
    return {}


@operation("UpdateHITReviewStatus")
def update_hit_review_status(call: Call, parameters: Parameters) -> Parameters:
    hits.set_reviewing(call.requester, parameters["HITId"], not parameters.get("Revert", False), call.now)
    return {}


@operation("DeleteHIT")
def delete_hit(call: Call, parameters: Parameters) -> Parameters:
    assignments.sweep(call.now)
    hits.dispose(call.requester, parameters["HITId"], call.now)
    return {}


_Level, _Kind = ReviewLine.Level, ReviewLine.Kind


@operation("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call, parameters: Parameters) -> Parameters:
    """Results and actions of both levels share one list, in the order in which they came to be, and its pages."""
    assignments.sweep(call.now)
    hit = hits.find(call.requester, parameters["HITId"])
    levels = parameters.get("PolicyLevels") or list(_Level)
    wanted = {_Kind.RESULT: "RetrieveResults", _Kind.ACTION: "RetrieveActions"}
    kinds = [kind for kind, name in wanted.items() if parameters.get(name, True)]
    rows = ReviewLine.objects.filter(hit=hit, level__in=levels, kind__in=kinds)
    found = page(call, parameters, rows, "Lines", lambda row: {"row": row})
    lines = [line["row"] for line in found["Lines"]]
    answer: Parameters = {"HITId": hit.hit_id, "NextToken": found.get("NextToken")}
    policies = {"AssignmentReviewPolicy": hit.assignment_review_policy, "HITReviewPolicy": hit.hit_review_policy}
    answer |= {member: {"PolicyName": policy["PolicyName"]} for member, policy in policies.items() if policy}
    for level in levels:
        answer[f"{level}ReviewReport"] = _report([line for line in lines if line.level == level])
    return answer


def _report(lines: list[ReviewLine]) -> Parameters:
    return {
        "ReviewResults": [shapes.review_result(line) for line in lines if line.kind == _Kind.RESULT],
        "ReviewActions": [shapes.review_action(line) for line in lines if line.kind == _Kind.ACTION],
    }


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
