// The helper functions that task pages for Mechanical Turk call, written anew. Every page has them: templates of the
// requester site called them without naming the file.
"use strict";

function turkGetParam(name, defaultValue) {
  const found = new URLSearchParams(window.location.search).get(name);
  return found === null ? (defaultValue === undefined ? "" : defaultValue) : found;
}

function turkGetSubmitToHost() {
  return turkGetParam("turkSubmitTo", "");
}

// Fills the field of the form. In a preview the page's submit button says why it is off.
function turkSetAssignmentID(formName, buttonName) {
  const ours = document.querySelector("script[data-assignment-id]");
  const id = (ours && ours.dataset.assignmentId) || turkGetParam("assignmentId", "");
  const form = document.getElementById(formName || "mturk_form") || document.forms[formName || "mturk_form"] || document.forms[0];
  if (form) {
    let field = form.elements.namedItem("assignmentId");
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = "assignmentId";
      form.append(field);
    }
    field.value = id;
  }
  const button = document.getElementById(buttonName || "submitButton");
  if (button && id === "ASSIGNMENT_ID_NOT_AVAILABLE") {
    const says = (ours && ours.dataset.acceptFirst) || "Accept the HIT to submit";
    button.disabled = true;
    if ("value" in button && button.tagName === "INPUT") button.value = says;
    else button.textContent = says;
  }
  return id;
}
