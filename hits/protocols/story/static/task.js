// The number of words beside what is asked for, while the story is written; a screen reader hears it at pauses only.
// Without this script the page says how many words are asked for, and the server counts.
"use strict";
(function () {
  const SPEAK_AFTER = 1500, WORTH_SAYING = 10;
  const field = document.getElementById("story"), place = document.querySelector("[data-count]");
  const announcer = document.querySelector("[data-announce]");
  const shortest = Number(place.dataset.shortest), longest = Number(place.dataset.longest);
  let heard = { level: "", count: 0 }, speaking = 0;

  field.removeAttribute("maxlength"); // too much is told, not cut off
  heard = show();

  function told(count) {
    const of = phrase(gettext("%(count)s of %(low)s to %(high)s words"), { count: figure(count), low: figure(shortest), high: figure(longest) });
    if (count < shortest) return { count, level: "less", text: phrase(gettext("%(of)s: %(more)s to go"), { of, more: figure(shortest - count) }) };
    if (count > longest) return { count, level: "more", text: phrase(gettext("%(of)s: %(more)s too many"), { of, more: figure(count - longest) }) };
    return { count, level: "right", text: of };
  }

  function show() {
    const now = told(words.count(field.value));
    place.textContent = now.text;
    place.className = `count num ${now.level}`;
    return now;
  }

  // Once the typing pauses, and only what is new: that a limit is passed, or ten words more or fewer.
  function speak() {
    const now = told(words.count(field.value));
    if (now.level === heard.level && Math.abs(now.count - heard.count) < WORTH_SAYING) return;
    heard = now;
    announcer.textContent = now.text;
  }

  field.addEventListener("input", () => {
    show();
    clearTimeout(speaking);
    speaking = setTimeout(speak, SPEAK_AFTER);
  });
})();
