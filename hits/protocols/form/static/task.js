// A form: fields that depend on others, digits and Enter, the slider and the order by hand. Without it all of them
// are shown and can be answered; the server judges every answer by itself.
"use strict";
(function () {
  const root = document.querySelector("[data-form-task]"), form = root?.closest("form");
  if (!form?.dataset.page) return; // in a preview everything is shown as it is
  const fields = [...root.querySelectorAll("[data-field]")];
  const byKey = new Map(fields.map((field) => [field.dataset.field, field]));
  const announcer = document.querySelector("[data-announce]");
  root.classList.add("scripted");

  const shown = () => fields.filter((field) => !field.hidden);
  const changed = (control) => control.dispatchEvent(new Event("change", { bubbles: true }));

  // A field is there if another one, which comes before it and is there itself, has one of its values.
  function valuesOf(field) {
    if (!field || field.hidden) return [];
    const marked = field.querySelector("[data-spans]");
    if (marked) return JSON.parse(marked.value || "[]").map(([, , label]) => label);
    const list = field.querySelector("select");
    if (list) return [list.value];
    return [...field.querySelectorAll("input:checked")].map((input) => input.dataset.id ?? input.value);
  }

  function showFields() {
    for (const field of fields) {
      if (!field.dataset.if) continue;
      const wanted = field.dataset.ifValues.split(" "), said = valuesOf(byKey.get(field.dataset.if));
      field.hidden = !wanted.some((value) => said.includes(value));
    }
  }

  // Digits choose in the group of choices that has the focus, or else in the first one without an answer.
  const groupsOf = (field) => [...field.querySelectorAll("[role=radiogroup], [role=group]")].filter((group) => group.querySelector("[data-digit]"));

  function choose(digit) {
    const groups = shown().flatMap(groupsOf);
    const group = groups.find((one) => one.contains(document.activeElement)) ?? groups.find((one) => !one.querySelector(":checked"));
    const input = group?.querySelector(`[data-digit="${digit}"]`);
    if (!input) return false;
    input.focus();
    input.click();
    return true;
  }

  function controlOf(field) {
    return field.querySelector("[data-marking], input:checked") ?? [...field.querySelectorAll("input, select, textarea")].find((control) => !control.hidden);
  }

  function goOn(field) {
    const next = shown()[shown().indexOf(field) + 1];
    (next ? controlOf(next) : form.querySelector("button.submit"))?.focus();
  }

  const isWritten = (target) => target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=range])");

  // In a text to mark, digits give labels.
  const hasOwnDigits = (target) => isWritten(target) || target.closest("[data-marking]");

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || !(event.target instanceof HTMLElement)) return;
    if (/^[0-9]$/.test(event.key) && !hasOwnDigits(event.target) && choose(event.key)) event.preventDefault();
    const field = event.target.closest("[data-field]");
    if (event.key === "Enter" && field && event.target.matches("input, select, [data-marking]")) {
      event.preventDefault(); // the answer is sent by its button alone
      goOn(field);
    }
  });

  // The slider has no value until it is moved: its value stands in the field below it.
  function armSlider(slider) {
    const range = slider.querySelector("[data-range]"), value = slider.querySelector("input[name]");
    const read = () => {
      const number = value.value.trim() === "" ? NaN : Number(value.value);
      if (!Number.isNaN(number)) range.value = number;
      range.setAttribute("aria-valuetext", Number.isNaN(number) ? gettext("no value yet") : String(number));
    };
    const write = () => {
      if (value.value !== range.value) { value.value = range.value; changed(value); }
      read();
    };
    range.hidden = false;
    range.addEventListener("input", write);
    range.addEventListener("pointerup", write); // also where it stays in the middle
    value.addEventListener("input", read);
    value.addEventListener("change", read);
    read();
  }

  // An order by hand fills the numbers; numbers that are whole bring the rows into order.
  function armRanking(list) {
    const rows = () => [...list.children], place = (row) => row.querySelector(".place");
    const nameOf = (row) => row.querySelector("[dir]").textContent.trim();
    let moving = null;

    function number(row) {
      rows().forEach((one, at) => { place(one).value = at + 1; });
      changed(place(rows()[0]));
      if (!row) return;
      const said = { name: nameOf(row), number: rows().indexOf(row) + 1, of: rows().length };
      announcer.textContent = phrase(gettext("%(name)s: number %(number)s of %(of)s"), said);
    }
    function sort() {
      const places = rows().map((row) => Number(place(row).value));
      if ([...places].sort((a, b) => a - b).some((value, at) => value !== at + 1)) return;
      const focused = document.activeElement;
      list.append(...rows().sort((a, b) => place(a).value - place(b).value));
      focused.focus();
    }
    for (const row of rows()) {
      row.draggable = true;
      row.querySelector(".arrows").hidden = false;
      row.addEventListener("dragstart", (event) => { moving = row; row.classList.add("moving"); event.dataTransfer.effectAllowed = "move"; });
      row.addEventListener("dragend", () => { row.classList.remove("moving"); moving = null; number(row); });
      row.addEventListener("dragover", (event) => {
        if (!moving || moving === row) return;
        event.preventDefault();
        const box = row.getBoundingClientRect();
        if (event.clientY > box.top + box.height / 2) row.after(moving); else row.before(moving);
      });
      for (const button of row.querySelectorAll("[data-by]")) {
        button.addEventListener("click", () => {
          const by = Number(button.dataset.by), other = by < 0 ? row.previousElementSibling : row.nextElementSibling;
          if (other) { if (by < 0) other.before(row); else other.after(row); }
          number(row);
          button.focus();
        });
      }
      place(row).addEventListener("change", sort);
    }
    const asShown = list.closest("[data-field]").querySelector("[data-as-shown]");
    asShown.hidden = false;
    asShown.addEventListener("click", () => number(rows()[0]));
    sort();
  }

  function countWords(field) {
    const counter = field.querySelector("[data-words]"), text = field.querySelector("textarea");
    if (!counter || !text) return;
    const count = () => {
      const found = text.value.trim().split(/\s+/).filter(Boolean).length;
      counter.textContent = phrase(gettext("(%(count)s now)"), { count: found });
    };
    text.addEventListener("input", count);
    count();
  }

  root.querySelectorAll("[data-slider]").forEach(armSlider);
  root.querySelectorAll("[data-ranking]").forEach(armRanking);
  fields.forEach(countWords);
  form.addEventListener("change", showFields);
  showFields();
})();
