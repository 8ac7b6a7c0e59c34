from typing import Any

from marketplace.models import Hit, ReviewLine
from marketplace.operations import Call, operation, shapes
from marketplace.operations.paging import page
from marketplace.verbs import assignments, hits

Parameters = dict[str, Any]
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
    answer = {"HITId": hit.hit_id, "NextToken": found.get("NextToken")} | _policies(hit)
    for level in levels:
        answer[f"{level}ReviewReport"] = _report([line for line in lines if line.level == level])
    return answer


def _policies(hit: Hit) -> Parameters:
    given = {"AssignmentReviewPolicy": hit.assignment_review_policy, "HITReviewPolicy": hit.hit_review_policy}
    return {member: {"PolicyName": policy["PolicyName"]} for member, policy in given.items() if policy}


def _report(lines: list[ReviewLine]) -> Parameters:
    return {
        "ReviewResults": [shapes.review_result(line) for line in lines if line.kind == _Kind.RESULT],
        "ReviewActions": [shapes.review_action(line) for line in lines if line.kind == _Kind.ACTION],
    }
