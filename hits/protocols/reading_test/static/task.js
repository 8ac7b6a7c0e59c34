// Counts what is answered, and takes a fault away from a question as soon as an answer is chosen.
"use strict";
(function () {
  const form = document.querySelector("form"), place = document.querySelector("[data-answered]");
  const questions = [...form.querySelectorAll("[data-asked]")];

  function count() {
    const answered = questions.filter((question) => question.querySelector(":checked")).length;
    place.textContent = `· ${answered} of ${questions.length} answered`;
  }

  form.addEventListener("change", (event) => {
    // A fault stands at the whole question, so the question says that it has changed.
    if (event.target.type === "radio") event.target.closest("[data-asked]").dispatchEvent(new Event("change", { bubbles: true }));
    count();
  });
  count();
})();
