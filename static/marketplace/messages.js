// A message that is shown counts as read: send the page's own form, and take its button away.
"use strict";
(function () {
  const form = document.querySelector("form[data-mark-read]");
  if (!form) return;
  const headers = { Accept: "application/json" };
  fetch(form.action, { method: "POST", body: new FormData(form), headers, credentials: "same-origin" })
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))
    .then(({ unread }) => {
      form.remove();
      const chip = document.querySelector("header.top a[aria-current] .chip");
      if (!chip) return;
      if (unread) chip.firstChild.textContent = unread;
      else chip.remove();
    })
    // The button stays, and says what is left to do.
    .catch(() => undefined);
})();
