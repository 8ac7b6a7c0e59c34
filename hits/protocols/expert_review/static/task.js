// Each changed question says how it was and can be restored, swapping and taking another answer fill the fields, and
// what would leave the text without a question is told before it happens. Without this script a box swaps, and the
// lists count as they are sent.
"use strict";
(function () {
  const { room, show, PAUSE } = window.writing;
  const form = document.querySelector("form"), announcer = document.querySelector("[data-announce]");
  const cascade = form.querySelector("[data-cascade]"), confirmed = form.elements.confirm_empty;
  const summary = document.querySelector("[data-summary]"), theText = form.elements.text_delete;
  const questions = [...form.querySelectorAll("[data-question]")].map(read);
  let timer = 0, told = "";

  for (const one of questions) arm(one);
  cascade.setAttribute("role", "status");
  look();

  function read(part) {
    const fields = Object.fromEntries([...part.querySelectorAll("[data-slot]")].map((field) => [field.dataset.slot, field]));
    return { part, fields, number: part.dataset.question, answerable: part.dataset.answerable === "yes", deletion: part.querySelector("[data-delete]") };
  }

  function arm(one) {
    const swap = one.part.querySelector("[data-swap]");
    one.part.querySelector("[data-swap-box]").hidden = true;
    swap.hidden = false;
    swap.addEventListener("click", () => {
      const { correct, incorrect } = one.fields;
      const before = correct.value;
      write(correct, incorrect.value);
      write(incorrect, before);
      look();
      say(phrase(gettext("The answers of question %(number)s are swapped."), { number: one.number }));
    });
    one.part.querySelector("[data-restore]").addEventListener("click", () => {
      one.deletion.value = "";
      for (const field of Object.values(one.fields)) write(field, field.dataset.was);
      look();
      one.fields.text.focus();
      say(phrase(gettext("Question %(number)s is as it was."), { number: one.number }));
    });
    for (const list of one.part.querySelectorAll("[data-pick]")) list.addEventListener("change", () => pick(list));
  }

  // The list keeps showing what was taken, until something else is written.
  function pick(list) {
    const field = form.elements[list.dataset.pick];
    write(field, list.value ? list.selectedOptions[0].text : field.dataset.was, list);
  }

  function listOf(field) {
    return form.querySelector(`[data-pick="${field.name}"]`);
  }

  // As if it had been typed: the draft is saved, and a fault at the field goes.
  function write(field, text, list = null) {
    field.value = text;
    if (!list && listOf(field)) listOf(field).value = "";
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  function say(sentence) {
    announcer.textContent = sentence;
  }

  function lookSoon() {
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  }

  function changes(one) {
    return Object.values(one.fields).filter((field) => field.value.trim() !== field.dataset.was);
  }

  function look() {
    const deleted = questions.filter((one) => one.deletion.value);
    const edited = questions.filter((one) => !one.deletion.value && changes(one).length);
    for (const one of questions) tellWhatWas(one, deleted.includes(one));
    for (const field of form.querySelectorAll("[data-written]")) show(field, room(field));
    const parts = [[edited.length, gettext("%(count)s edited")], [deleted.length, gettext("%(count)s deleted")]].filter(([count]) => count);
    const counted = parts.map(([count, text]) => `· ${phrase(text, { count })}`);
    summary.textContent = theText.value ? `· ${gettext("deleted with the text")}` : counted.join(" ");
    tellCascade(questions.filter((one) => one.answerable && !one.deletion.value).length);
  }

  function tellWhatWas(one, deleted) {
    const before = (field) => phrase(gettext("%(part)s was: %(text)s"), { part: field.labels[0].textContent, text: field.dataset.was || gettext("empty") });
    const lines = deleted ? [["p", gettext("Will be deleted.")]] : changes(one).map((field) => ["p", before(field)]);
    const place = one.part.querySelector("[data-was-text]");
    place.replaceChildren(...lines.map(([tag, text]) => Object.assign(document.createElement(tag), { textContent: text, dir: "auto" })));
    one.part.querySelector("[data-was-block]").hidden = !lines.length;
  }

  function tellCascade(left) {
    const said = theText.value ? cascade.dataset.allGo : left ? "" : cascade.dataset.nothingLeft;
    cascade.hidden = !said;
    if (!said) confirmed.checked = false;
    if (said === told) return;
    cascade.querySelector("[data-cascade-text]").textContent = told = said;
  }

  form.addEventListener("input", (event) => {
    const list = event.target.dataset.slot && listOf(event.target);
    if (list) list.value = "";
    lookSoon();
  });
  // A text field is often left by pressing the mouse elsewhere: a block that came at that moment would move the page
  // under the pointer, and the click would be lost.
  form.addEventListener("change", (event) => event.target.matches("[data-written]") ? lookSoon() : look());
  // The box that shows what was taken out is no answer: nothing is to be saved for it.
  document.querySelector("[data-show-hidden]")?.addEventListener("change", (event) => event.stopPropagation());
})();
