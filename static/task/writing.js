// Fields of one line in which people write: <textarea data-written maxlength> with a place for advice, "<id>-advice".
// Too much is told, not cut off, and Enter breaks no line. What is told is up to the protocol's own script.
"use strict";
(function () {
  const NEAR = 0.8;
  const form = document.querySelector("form"), announcer = document.querySelector("[data-announce]");

  for (const field of form.querySelectorAll("[data-written]")) {
    field.dataset.longest = field.maxLength;
    field.removeAttribute("maxlength");
  }
  form.addEventListener("beforeinput", (event) => {
    if (event.target.matches("[data-written]") && event.inputType === "insertLineBreak") event.preventDefault();
  });

  function valueOf(field) {
    return field.value.trim();
  }

  // Counted as the server counts: by characters, not by the halves that make up an emoji.
  function room(field) {
    const length = [...valueOf(field)].length, longest = Number(field.dataset.longest);
    if (length > longest) {
      const text = gettext("%(length)s of %(longest)s characters. Shorten it by %(more)s.");
      return [["bad", phrase(text, { length: figure(length), longest, more: figure(length - longest) })]];
    }
    return length > NEAR * longest ? [["good", phrase(gettext("%(length)s of %(longest)s characters."), { length, longest })]] : [];
  }

  // Lines are [level, sentence], the level one of good, change and bad.
  function show(field, lines) {
    const place = document.getElementById(`${field.id}-advice`);
    place.replaceChildren(...lines.map(([level, said]) => Object.assign(document.createElement("p"), { className: level, textContent: said })));
  }

  // One field's advice at a time, and only once the typing pauses: everything else would be chatter.
  function speak(field) {
    const said = [...document.getElementById(`${field.id}-advice`).querySelectorAll(".change, .bad")];
    const heard = said.length ? `${field.labels[0].textContent}: ${said.map((line) => line.textContent).join(" ")}` : "";
    if (heard !== (field.dataset.heard ?? "")) announcer.textContent = heard;
    field.dataset.heard = heard;
  }

  window.writing = { valueOf, room, show, speak, PAUSE: 400, SPEAK_AFTER: 1500 };
})();
