// Optional fields open by a button, advice follows what is written.
// Without this script all fields are there, and the server computes the same advice for whoever reviews.
"use strict";
(function () {
  const ADVISE_AFTER = 400, SPEAK_AFTER = 1500, NEAR = 0.8;
  const form = document.querySelector("form"), announcer = document.querySelector("[data-announce]");
  const text = document.querySelector("[data-paragraph]").textContent;
  const written = form.querySelector("[data-limits]").dataset;
  const limits = {
    correct_reuse: Number(written.correctReuse), incorrect_reuse: Number(written.incorrectReuse), length_factor: Number(written.lengthFactor),
  };
  let timer = 0, speaking = 0;

  for (const field of fieldsOf(form)) field.dataset.longest = field.maxLength;
  for (const field of fieldsOf(form)) field.removeAttribute("maxlength"); // too much is told, not cut off
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

  function valueOf(field) {
    return field.value.trim();
  }

  // Counted as the server counts: by characters, not by the halves that make up an emoji.
  function room(field) {
    const length = [...valueOf(field)].length, longest = Number(field.dataset.longest);
    if (length > longest) return [["bad", `${length.toLocaleString("en")} of ${longest} characters. Shorten it by ${(length - longest).toLocaleString("en")}.`]];
    return length > NEAR * longest ? [["good", `${length} of ${longest} characters.`]] : [];
  }

  function show(field, lines) {
    const place = document.getElementById(`${field.id}-advice`);
    place.replaceChildren(...lines.map(([level, said]) => Object.assign(document.createElement("p"), { className: level, textContent: said })));
  }

  // One field's advice at a time, and only once the typing pauses: everything else would be chatter.
  function speak(field) {
    const said = [...document.getElementById(`${field.id}-advice`).querySelectorAll(".change, .bad")];
    const heard = said.length ? `${field.labels[0].textContent}: ${said.map((line) => line.textContent).join(" ")}` : "";
    if (heard !== field.dataset.heard) announcer.textContent = heard;
    field.dataset.heard = heard;
  }

  form.addEventListener("input", (event) => {
    const field = event.target;
    if (!field.dataset.kind) return;
    clearTimeout(timer);
    clearTimeout(speaking);
    timer = setTimeout(adviseAll, ADVISE_AFTER);
    speaking = setTimeout(speak, SPEAK_AFTER, field);
  });

  form.addEventListener("beforeinput", (event) => {
    if (event.target.dataset.kind && event.inputType === "insertLineBreak") event.preventDefault(); // each text is one line
  });
})();
