// Shows every <time datetime> in the viewer's own zone, also in parts that htmx swaps in later.
"use strict";
(function () {
  const absolute = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

  function localise(root) {
    for (const element of root.querySelectorAll("time[datetime]:not([data-local])")) {
      const moment = new Date(element.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      element.title = element.textContent.trim();
      element.textContent = absolute.format(moment);
      element.dataset.local = "yes";
    }
  }

  localise(document);
  document.addEventListener("htmx:load", (event) => localise(event.target.parentNode || document));
})();
