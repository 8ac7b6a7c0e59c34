// Counts what is answered, leads to what is still open, and says what to change while it is being written.
// Without this script the server says the same, and the stylesheet alone shows the fields that are asked for.
"use strict";
(function () {
  const { valueOf, room, show, speak, PAUSE, SPEAK_AFTER } = window.writing;
  const PART = { text: ".answers", script: ".answers", unfitting: ".instead", unknown: ".instead" };
  const form = document.querySelector("form"), announcer = document.querySelector("[data-announce]");
  const cards = [...form.querySelectorAll("[data-question]")], told = form.querySelector("[data-count]");
  const given = JSON.parse(document.getElementById("question-rules").textContent);
  const rules = { ...given, openings: new Set(given.openings), narrator: new Set(given.narrator) };
  const next = Object.assign(document.createElement("button"), { type: "button", className: "next", textContent: gettext("Next open") });
  let speaking = 0;

  if (!cards.length) return;
  next.append(Object.assign(document.createElement("span"), { textContent: `\u00a0${gettext("question")}` })); // a plain space would be dropped
  told.closest("h2").after(next);
  cards.forEach(advise);
  count(false);

  function fieldsOf(card) {
    const chosen = card.querySelector("input:checked");
    return chosen ? [...card.querySelectorAll(`${PART[chosen.value]} textarea`)] : [];
  }

  function isDone(card) {
    const fields = fieldsOf(card);
    return fields.length > 0 && fields.every((field) => valueOf(field) && !faults(card, field).length);
  }

  function count(aloud) {
    for (const card of cards) card.toggleAttribute("data-done", isDone(card));
    const done = cards.filter((card) => "done" in card.dataset).length;
    const said = phrase(gettext("%(count)s of %(of)s answered"), { count: done, of: cards.length });
    if (aloud && told.textContent !== said) announcer.textContent = said;
    told.textContent = said;
    next.hidden = done === cards.length;
  }

  // What the server would refuse, in its words; nothing about a field that is empty.
  function faults(card, field) {
    const text = valueOf(field), number = card.dataset.question;
    if (!text) return [];
    if (field.matches(".instead *")) return ofQuestion(card, text, phrase(gettext("Your question instead of question %(number)s"), { number }));
    const long = room(field).filter(([level]) => level === "bad").map(([, said]) => said);
    const correct = card.querySelector(".answers textarea");
    const same = field !== correct && alike(text) === alike(valueOf(correct));
    const sentence = gettext("The incorrect answer to question %(number)s says the same as the correct one. Change one.");
    return same ? [...long, phrase(sentence, { number })] : long;
  }

  // A question of one's own is neither one of those on the page nor written twice.
  function ofQuestion(card, text, place) {
    const found = questionRules.faults(text, place, rules);
    const asked = cards.find((other) => alike(other.querySelector("[data-asked]").textContent) === alike(text));
    const before = cards.slice(0, cards.indexOf(card)).find((other) => ownOf(other) && alike(ownOf(other)) === alike(text));
    if (!asked && !before) return found;
    const named = asked ? gettext("question %(number)s") : gettext("the one instead of question %(number)s");
    const other = phrase(named, { number: (asked ?? before).dataset.question });
    return [...found, phrase(gettext("%(place)s asks the same as %(other)s. Ask something else."), { place, other })];
  }

  function ownOf(card) {
    const field = fieldsOf(card).find((one) => one.matches(".instead *"));
    return field ? valueOf(field) : "";
  }

  // As hits/text/written.py has it, but for letters that have no lower case of their own; the server has the last word.
  function alike(text) {
    return text.normalize("NFKC").toLowerCase().replace(/\p{P}/gu, " ").replace(/\p{Cf}/gu, "").trim().replace(/\s+/g, " ");
  }

  // A field that the server has refused says so itself, until it is changed.
  function advise(card) {
    for (const field of fieldsOf(card)) {
      const refused = field.hasAttribute("aria-invalid");
      const bad = faults(card, field).map((said) => ["bad", said]);
      show(field, refused ? [] : bad.length ? bad : room(field));
    }
  }

  function cardOf(event) {
    return event.target.closest("[data-question]");
  }

  form.addEventListener("input", (event) => {
    const card = cardOf(event), field = event.target;
    if (!card) return;
    count(true);
    clearTimeout(speaking);
    if (!field.matches("[data-written]")) return;
    // Nothing is said of a first word that is still being written.
    if (/\S\s/.test(field.value)) speaking = setTimeout(() => { advise(card); speak(field); }, SPEAK_AFTER);
    else if (!field.value) advise(card);
  });

  // Choosing a label, and leaving a field. A field is often left by pressing the mouse elsewhere: lines that came and
  // went at that moment would move the page under the pointer, and the click would be lost.
  form.addEventListener("change", (event) => {
    const card = cardOf(event);
    if (card) setTimeout(advise, event.target.type === "radio" ? 0 : PAUSE, card);
  });

  // Enter on a choice takes it and goes on to its fields, where a form would send itself half done.
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.type !== "radio") return;
    event.preventDefault();
    event.target.click();
    fieldsOf(cardOf(event))[0]?.focus();
  });

  next.addEventListener("click", () => {
    const card = cards.find((one) => !("done" in one.dataset)), fields = fieldsOf(card);
    const open = fields.find((field) => !valueOf(field)) ?? fields.find((field) => faults(card, field).length);
    (open ?? card.querySelector("input")).focus();
    card.scrollIntoView({ block: "nearest" });
  });

  // The server judges all of it now; what it says takes the place of advice.
  form.addEventListener("submit", () => form.querySelectorAll(".asked textarea").forEach((field) => show(field, [])));
})();
