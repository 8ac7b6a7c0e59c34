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
  armTickAll(document);
  armQuote();
})();
