// The phrase of the field in hand is shown in the story, and what speaks against a question is told beside it, as the
// server would tell it. Without this script the same form is checked on the server alone.
"use strict";
(function () {
  const { valueOf, show, speak, PAUSE, SPEAK_AFTER } = window.writing;
  const form = document.querySelector("form"), paper = document.querySelector(".paper");
  const fields = [...form.querySelectorAll("[data-number]")], counter = form.querySelector("[data-written-count]");
  const parts = [...paper.querySelectorAll("[data-phrases]")];
  const ENDED = /[?\uff1f][\p{Pf}\p{Pe}"']*$/u, LAST_WORD = /[\p{L}\p{M}\p{N}\p{Cf}'\u2019]+$/u;
  let timer = 0, speaking = 0;
  if (!fields.length) return;

  const given = form.querySelector("[data-rules]").dataset;
  const rules = {
    fewest_words: Number(given.fewestWords), longest: Number(given.longest),
    openings: new Set(given.openings.match(/\S+/g)), narrator: new Set(given.narrator.match(/\S+/g)),
  };
  fields.forEach((field) => judge(field, true));
  count();

  // Nobody is told about a word that is still being typed, nor that a question is short before it is left or ends.
  function faultsOf(field, left) {
    const text = valueOf(field), place = phrase(gettext("Question %(number)s"), { number: field.dataset.number });
    if (!text) return [];
    if (left || ENDED.test(text)) return [...questionRules.faults(text, place, rules), ...askedBefore(field)];
    const typed = field.value.replace(LAST_WORD, "");
    return questionRules.asked(typed) ? questionRules.faults(typed.trim(), place, { ...rules, fewest_words: 1 }) : [];
  }

  function askedBefore(field) {
    const own = questionRules.asked(valueOf(field));
    const first = own && fields.find((other) => questionRules.asked(valueOf(other)) === own);
    if (!first || first === field) return [];
    const sentence = gettext("Question %(number)s asks the same as question %(first)s. Ask something else.");
    return [phrase(sentence, { number: field.dataset.number, first: first.dataset.number })];
  }

  function judge(field, left) {
    if (document.getElementById(`fault-${field.name}`)) return show(field, []); // the server has told it there
    const found = faultsOf(field, left), text = valueOf(field);
    const unended = left && text && !found.length && !ENDED.test(text);
    show(field, unended ? [["change", gettext("A question mark is missing at the end.")]] : found.map((sentence) => ["bad", sentence]));
    if (found.length) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }

  function judgeAll() {
    for (const field of fields) judge(field, field !== document.activeElement);
    count();
  }

  function count() {
    const written = fields.filter((field) => valueOf(field) && !faultsOf(field, true).length).length;
    counter.textContent = phrase(gettext("– %(count)s of %(of)s written"), { count: written, of: fields.length });
  }

  form.addEventListener("input", (event) => {
    if (!fields.includes(event.target)) return;
    clearTimeout(timer);
    clearTimeout(speaking);
    timer = setTimeout(judgeAll, PAUSE);
    speaking = setTimeout(speak, SPEAK_AFTER, event.target);
  });

  // A field is often left by pressing the mouse elsewhere: a line that came at that moment would move the page under
  // the pointer, and the click would be lost.
  form.addEventListener("focusout", (event) => {
    if (!fields.includes(event.target)) return;
    clearTimeout(timer);
    clearTimeout(speaking);
    setTimeout(() => { judgeAll(); speak(event.target); }, PAUSE);
  });

  form.addEventListener("focusin", (event) => {
    if (!fields.includes(event.target)) return;
    fields.filter((field) => document.getElementById(`fault-${field.name}`)).forEach((field) => show(field, []));
    point(event.target.name);
  });

  function point(id) {
    for (const part of parts) part.classList.toggle("on", part.dataset.phrases.split(" ").includes(id));
    const first = parts.find((part) => part.classList.contains("on"));
    if (first) bringIntoPaper(first);
  }

  // The paper alone is scrolled: the window stays with the field.
  function bringIntoPaper(part) {
    const frame = paper.getBoundingClientRect(), place = part.getBoundingClientRect(), LINE_BELOW = 22;
    if (place.top < frame.top || place.bottom > frame.bottom - LINE_BELOW) paper.scrollTop += place.top - frame.top - frame.height / 3;
  }

  paper.addEventListener("click", (event) => {
    const part = event.target.closest("[data-phrases]");
    if (part) document.getElementById(part.dataset.phrases.split(" ")[0]).focus();
  });

  // Enter goes on to the next field, and from the last one to the button.
  form.addEventListener("beforeinput", (event) => {
    if (event.inputType !== "insertLineBreak" || !fields.includes(event.target)) return;
    event.preventDefault();
    (fields[fields.indexOf(event.target) + 1] ?? form.querySelector("button.submit"))?.focus();
  });
})();
