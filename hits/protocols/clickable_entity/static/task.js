// Clicking a name fills the blank. Without this script the mentions are plain radio buttons of one form.
// The browser's own radio group would be one tab stop and choose at every arrow key. Here the first mention of each
// entity is a tab stop, the arrow keys go through every mention without choosing, Enter and Space choose, and all
// mentions of the chosen entity light up.
"use strict";
(function () {
  const passage = document.querySelector("[data-passage]"), form = passage.closest("form");
  const radios = [...passage.querySelectorAll("input[type=radio]")];
  const slots = [...document.querySelectorAll("[data-slot]")], hint = document.querySelector("[data-hint]");
  const announcer = document.querySelector("[data-announce]");
  const answer = Object.assign(document.createElement("input"), { type: "hidden", name: "answer" });
  const groupOf = (radio) => radio.parentElement.dataset.group;
  const textOf = (radio) => radio.parentElement.textContent;

  answer.dataset.missing = gettext("No name is chosen yet. Click a highlighted name in the passage.");
  upgrade();
  const kept = radios.find((radio) => radio.checked);
  if (kept) fill(kept);

  function upgrade() {
    const groups = [...new Set(radios.map(groupOf))];
    for (const radio of radios) {
      // Nameless radios do not exclude one another, so all mentions of the chosen entity can be checked.
      radio.removeAttribute("name");
      radio.required = false;
      radio.setAttribute("aria-posinset", groups.indexOf(groupOf(radio)) + 1);
      radio.setAttribute("aria-setsize", groups.length);
      radio.tabIndex = radio === radios.find((other) => groupOf(other) === groupOf(radio)) ? 0 : -1;
    }
    passage.append(answer); // inside the fieldset, which a preview disables
  }

  function fill(chosen) {
    for (const radio of radios) radio.checked = groupOf(radio) === groupOf(chosen);
    answer.value = chosen.value;
    form.elements.text.value = textOf(chosen);
    for (const slot of slots) {
      slot.textContent = textOf(chosen);
      slot.classList.add("filled");
    }
    hint.textContent = gettext("Click another name to change it.");
  }

  function light(group, on) {
    for (const radio of radios) if (groupOf(radio) === group) radio.parentElement.classList.toggle("near", on);
  }

  passage.addEventListener("click", (event) => {
    if (!radios.includes(event.target)) return; // a click on the label arrives again as one on its radio
    fill(event.target);
    const statement = document.querySelector("[data-statement]").textContent.replace(/\s+/g, " ");
    announcer.textContent = phrase(gettext("Blank filled with %(name)s. %(statement)s"), { name: textOf(event.target), statement });
    form.dispatchEvent(new Event("change"));
  });

  passage.addEventListener("keydown", (event) => {
    const at = radios.indexOf(event.target), last = radios.length - 1;
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last };
    if (event.key === "Enter") event.target.click();
    else if (event.key in moves) radios[(moves[event.key] + radios.length) % radios.length].focus();
    else return;
    event.preventDefault(); // Enter would submit the form, an arrow would scroll the page
  });

  for (const [type, on] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]]) {
    passage.addEventListener(type, (event) => {
      const mention = event.target.closest(".mention");
      if (mention) light(mention.dataset.group, on);
    });
  }
})();
