// Optional fields open by a button, advice follows what is written.
// Without this script all fields are there, and the server computes the same advice for whoever reviews.
"use strict";
(function () {
  const { valueOf, room, show, speak, PAUSE, SPEAK_AFTER } = window.writing;
  const form = document.querySelector("form");
  const text = document.querySelector("[data-paragraph]").textContent;
  const limits = JSON.parse(document.getElementById("advice-limits").textContent);
  let timer = 0, speaking = 0;

  for (const part of document.querySelectorAll("[data-optional]")) fold(part);
  adviseAll();

  function fieldsOf(part, kind = "") {
    return [...part.querySelectorAll(kind ? `[data-kind="${kind}"]` : "[data-kind]")];
  }

  function fold(part) {
    const opener = document.querySelector(`[data-opens="${part.id}"]`);
    const open = fieldsOf(part).some((field) => field.value.trim());
    part.hidden = !open;
    opener.hidden = open;
    opener.addEventListener("click", () => {
      part.hidden = false;
      opener.hidden = true;
      fieldsOf(part)[0].focus();
    });
  }

  function adviseAll() {
    document.querySelectorAll("[data-question]").forEach(advise);
  }

  function advise(question) {
    const [correct, incorrect] = ["correct", "incorrect"].map((kind) => fieldsOf(question, kind));
    const hints = advice.advice(text, correct.map(valueOf), incorrect.map(valueOf), limits);
    for (const field of fieldsOf(question)) {
      const at = fieldsOf(question, field.dataset.kind).indexOf(field);
      const own = hints.filter((hint) => hint.field === field.dataset.kind + at);
      show(field, [...room(field), ...own.map((hint) => [hint.level, hint.text])]);
    }
  }

  form.addEventListener("input", (event) => {
    const field = event.target;
    if (!field.dataset.kind) return;
    clearTimeout(timer);
    clearTimeout(speaking);
    timer = setTimeout(adviseAll, PAUSE);
    speaking = setTimeout(speak, SPEAK_AFTER, field);
  });
})();
