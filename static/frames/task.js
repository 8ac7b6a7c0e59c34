// First script of every page that a requester wrote: leads its forms to this marketplace, whoever makes them and
// whenever, and switches submitting off in a preview.
"use strict";
(function () {
  const { submitUrl, assignmentId, workerId } = document.currentScript.dataset;
  const preview = assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE";
  const SAYS = "Accept the HIT to submit";

  function isSubmit(address) {
    try {
      return !address || /^\/mturk\/externalsubmit\/*$/i.test(new URL(address, "https://nowhere.invalid/").pathname);
    } catch {
      return false;
    }
  }

  // Fields may stand in the address, too.
  function fieldsOf(address) {
    const at = address.split("#")[0].indexOf("?");
    return at < 0 ? "" : address.split("#")[0].slice(at);
  }

  // The form's own action attribute: a field of the form may be called "action".
  function prepare(form) {
    const action = form.getAttribute("action") || "";
    if (!isSubmit(action)) return false;
    form.setAttribute("action", submitUrl + fieldsOf(action));
    form.setAttribute("method", "post");
    fill(form, "assignmentId", assignmentId);
    if (workerId) fill(form, "workerId", workerId);
    return true;
  }

  function fill(form, name, value) {
    let field = form.querySelector(`input[name=${name}]`);
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = name;
      form.append(field);
    }
    field.value = value;
  }

  function refuse() {
    let note = document.getElementById("preview-says");
    if (!note) {
      note = document.createElement("p");
      note.id = "preview-says";
      note.setAttribute("role", "status");
      note.setAttribute("style", "margin:0;padding:8px 12px;background:#fdf1d8;color:#5c3d00;font:600 14px/1.4 sans-serif");
      (document.body || document.documentElement).prepend(note);
    }
    note.textContent = "This is a preview: nothing was sent. " + SAYS + ".";
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented) return;
    const led = prepare(form);
    if (preview && led) {
      event.preventDefault();
      refuse();
    }
  });

  const send = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function () {
    if (prepare(this) && preview) return refuse();
    return send.call(this);
  };

  function switchOff(button) {
    const form = button.form;
    if (!form || button.disabled || !isSubmit(form.getAttribute("action") || "")) return;
    button.disabled = true;
    if (button.tagName === "INPUT") button.value = SAYS;
    else button.textContent = SAYS;
  }

  function setUp() {
    for (const form of document.forms) prepare(form);
    if (!preview) return;
    for (const button of document.querySelectorAll("input[type=submit], input[type=image], button:not([type=button], [type=reset])")) switchOff(button);
  }
  document.addEventListener("DOMContentLoaded", setUp);
  document.addEventListener("all-crowd-elements-ready", setUp);
})();
