// Small conveniences of the worker's site. Every page works without this file.
"use strict";
(function () {
  // The server sums up "today" and "by day" in the viewer's own time zone.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) document.cookie = "tz=" + encodeURIComponent(zone) + "; path=/; max-age=31536000; samesite=lax";

  for (const form of document.querySelectorAll("form[data-submit-on-change]")) {
    form.addEventListener("change", (event) => {
      if (event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
    });
  }

  // Links that do not fit scroll sideways: the one of this page is in sight.
  const here = document.querySelector("header.top nav [aria-current]");
  if (here) {
    const nav = here.closest("nav"), [link, box] = [here, nav].map((each) => each.getBoundingClientRect());
    if (link.right > box.right - 24) nav.scrollLeft += link.left - box.left - box.width / 3;
  }

  // A second click on a button that posts would take a second HIT.
  document.addEventListener("submit", (event) => {
    // A form that gives a file leaves the page where it is, and may ask for the file again.
    if (event.target.method !== "post" || "file" in event.target.dataset) return;
    if (event.target.dataset.sent && !event.defaultPrevented) event.preventDefault();
    if (!event.defaultPrevented) event.target.dataset.sent = "yes";
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });
})();
