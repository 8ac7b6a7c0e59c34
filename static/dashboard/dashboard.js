// Small helps on the leads' pages. Everything works without them.
"use strict";
(function () {
  // A box that ticks all boxes of its table; it shows itself only where this script runs.
  function armTickAll(root) {
    for (const all of root.querySelectorAll("input[data-tick-all]")) {
      all.closest("[hidden]")?.removeAttribute("hidden");
      all.addEventListener("change", () => {
        for (const box of all.closest("table").querySelectorAll("tbody input[type=checkbox]")) box.checked = all.checked;
      });
    }
  }

  // A price belongs to the number that it was made for: another number in the field needs another price first.
  function armQuote() {
    const quote = document.querySelector("form[data-quote]"), quoted = document.querySelector("form[data-quoted]");
    if (!quote || !quoted) return;
    const number = quote.elements.items;
    function compare() {
      const changed = number.value.trim() !== number.defaultValue;
      quoted.querySelector("button").disabled = changed;
      quoted.querySelector("[data-requote]").hidden = !changed;
    }
    number.addEventListener("input", compare);
    compare(); // a browser that comes back to the page may fill in what was typed
  }

  // Columns that no field is chosen for are kept: their names follow what is chosen.
  function armUnused() {
    const unused = document.querySelector("[data-unused]"), fields = [...document.querySelectorAll("select[data-column]")];
    if (!unused) return;
    function compare() {
      const used = new Set(fields.map(field => field.value));
      const left = [...fields[0].options].map(option => option.value).filter(name => name && !used.has(name));
      unused.textContent = left.join(", ") || "none";
    }
    for (const field of fields) field.addEventListener("change", compare);
    compare();
  }
  armTickAll(document);
  armQuote();
  armUnused();
})();
