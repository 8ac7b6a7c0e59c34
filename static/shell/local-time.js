// Shows every <time datetime> in the viewer's own zone, which it names, also in parts that htmx swaps in later.
"use strict";
(function () {
  // In the language of the page, as the viewer's own country writes it where the browser says so.
  const page = document.documentElement.lang;
  const locale = navigator.languages.find((language) => language.split("-")[0] === page.split("-")[0]) || page || undefined;
  const parts = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  const absolute = new Intl.DateTimeFormat(locale, parts);
  const otherYear = new Intl.DateTimeFormat(locale, { ...parts, weekday: undefined, year: "numeric" });
  const thisYear = new Date().getFullYear();
  const spelled = (moment) => (moment.getFullYear() === thisYear ? absolute : otherYear).format(moment);
  // As the server writes a moment where no element can stand: in what a chart says of a point, and in the table of it.
  const IN_TITLES = /\d{1,2} [A-Z][a-z]{2} \d{4}, \d{2}:\d{2} UTC/g;

  function localise(root) {
    for (const element of root.querySelectorAll("time[datetime]:not([data-local])")) {
      const moment = new Date(element.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      element.title = element.textContent.trim();
      element.textContent = spelled(moment);
      element.dataset.local = "yes";
    }
    for (const title of root.querySelectorAll("svg title, [data-moments]")) {
      if (!title.textContent.includes(" UTC")) continue;
      title.textContent = title.textContent.replace(IN_TITLES, (text) => spelled(new Date(text)));
    }
  }

  localise(document);
  document.addEventListener("htmx:load", (event) => localise(event.target.parentNode || document));
})();
