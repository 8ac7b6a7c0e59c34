// "None of the above" goes with no other answer. Without this script the check on the server says so.
"use strict";
(function () {
  const choices = document.querySelector("[data-choices]"), none = choices.querySelector("[data-none]");
  const announcer = document.querySelector("[data-announce]");

  choices.addEventListener("change", (event) => {
    if (!event.target.checked) return;
    const others = event.target === none ? [...choices.querySelectorAll("input:checked")].filter((box) => box !== none) : [none];
    const cleared = others.filter((box) => box.checked);
    for (const box of cleared) box.checked = false;
    const answers = cleared.map((box) => box.parentElement.textContent.trim()).join(", ");
    if (answers) announcer.textContent = phrase(gettext("No longer ticked: %(answers)s"), { answers });
  });
})();
