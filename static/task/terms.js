// Whoever agreed to the terms with an answer from this browser finds the box ticked at the next one, also before the server has
// that answer. The box can still be emptied.
"use strict";
(function () {
  const box = document.querySelector("input[type=checkbox][data-terms]");
  if (!box) return;
  const key = `task-terms:${box.form.elements.workerId.value}:${box.dataset.terms}`;

  function agreedBefore() {
    try { return localStorage.getItem(key) !== null; } catch { return false; } // a frame may be refused this memory
  }
  function remember() {
    try { if (box.checked) localStorage.setItem(key, ""); else localStorage.removeItem(key); } catch { /* not allowed here */ }
  }

  if (agreedBefore()) {
    box.checked = true;
    document.querySelector(".terms details").open = false;
    document.querySelector("[data-terms-before]").hidden = false;
  }
  box.form.addEventListener("submit", remember);
})();
