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
      const left = [...fields[0].options].filter(one => !("suggests" in one.dataset)).map(one => one.value).filter(name => name && !used.has(name));
      unused.textContent = left.join(", ") || "none";
    }
    for (const field of fields) field.addEventListener("change", compare);
    compare();
  }
  // In a row of links that is too long for the screen, the one of this page is in sight.
  function showWhereWeAre() {
    for (const row of document.querySelectorAll(".scrolls")) {
      const here = row.querySelector("[aria-current]");
      if (!here) continue;
      const from = row.getBoundingClientRect(), at = here.getBoundingClientRect();
      if (at.left < from.left || at.right > from.right) row.scrollLeft += at.left - from.left - (from.width - at.width) / 2;
    }
  }

  // A menu that lies over the page closes when somebody goes on elsewhere, or by Escape.
  function armDrops() {
    function close(event) {
      for (const open of document.querySelectorAll("details.drop[open]")) {
        if (event.key === "Escape" && open.contains(document.activeElement)) open.querySelector("summary").focus();
        if (event.key === "Escape" || !open.contains(event.target)) open.open = false;
      }
    }
    document.addEventListener("click", close);
    document.addEventListener("focusin", close);
    document.addEventListener("keydown", event => { if (event.key === "Escape") close(event); });
  }
  armTickAll(document);
  armQuote();
  armUnused();
  armDrops();
  showWhereWeAre();
  addEventListener("resize", showWhereWeAre); // also a phone that is turned
})();
