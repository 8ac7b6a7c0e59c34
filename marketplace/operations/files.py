from typing import Any

from marketplace.operations import Call, operation
from marketplace.rules.errors import NoFileUploaded
from marketplace.verbs import assignments

Parameters = dict[str, Any]


@operation("GetFileUploadURL")
def get_file_upload_url(call: Call, parameters: Parameters) -> Parameters:
    """No question can ask for a file (FileUploadAnswer is refused at creation), so no answer has one."""
    assignments.sweep(call.now)
    assignments.find(call.requester, parameters["AssignmentId"], allowed="Reviewable,Approved,Rejected")
    raise NoFileUploaded(parameters["AssignmentId"], parameters["QuestionIdentifier"])
