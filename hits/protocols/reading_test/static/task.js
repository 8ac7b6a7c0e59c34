// Counts what is answered.
"use strict";
(function () {
  const form = document.querySelector("form"), place = document.querySelector("[data-answered]");
  const questions = [...form.querySelectorAll("[data-asked]")];

  function count() {
    const answered = questions.filter((question) => question.querySelector(":checked")).length;
    place.textContent = `· ${answered} of ${questions.length} answered`;
  }

  form.addEventListener("change", count);
  count();
})();
