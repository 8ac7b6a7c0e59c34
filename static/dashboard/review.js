// The keys of the page "Review". Each presses a button or link that names its key, and these work without this script.
"use strict";
(function () {
  const TYPED = "textarea, select, input:not([type=radio]):not([type=checkbox])";

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    const field = event.target.closest?.(TYPED);
    if (field) {
      if (event.key === "Escape") field.blur();
      return;
    }
    const wanted = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!wanted) return;
    event.preventDefault();
    wanted.click();
    if (wanted.matches("input")) wanted.focus();
  });

  // The second click of a double click would decide about the answer that came in between, which nobody has read.
  document.addEventListener("click", event => {
    if (event.detail < 2 || !event.target.closest?.("#review-actions button, #review-actions a")) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);

  // What came in place of the answer that was asked for, such as the page to sign in, is shown as a page of its own.
  document.addEventListener("htmx:beforeSwap", event => {
    const reply = event.detail.xhr;
    if (reply.status >= 400 || reply.responseText.includes('id="review"')) return;
    event.detail.shouldSwap = false;
    location.reload();
  });
  for (const fault of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) document.addEventListener(fault, () => {
    document.getElementById("review-fault-of-server").hidden = false;
  });
  document.addEventListener("htmx:afterSwap", () => {
    document.getElementById("review-fault-of-server").hidden = true;
  });

  // A chosen reason can be edited: it goes into the field, unless something else was written there.
  document.addEventListener("change", event => {
    const chosen = event.target;
    if (chosen.name !== "reason" || !chosen.closest("[data-rejection]")) return;
    const words = chosen.form.elements.feedback, reasons = [...chosen.form.elements.reason].map(one => one.value);
    if (!words.value.trim() || reasons.includes(words.value)) words.value = chosen.value;
  });
})();
