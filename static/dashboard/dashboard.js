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
  armTickAll(document);
})();
