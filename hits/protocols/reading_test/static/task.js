// Counts what is answered.
"use strict";
(function () {
  const form = document.querySelector("form"), place = document.querySelector("[data-answered]");
  const questions = [...form.querySelectorAll("[data-asked]")];

  function count() {
    const answered = questions.filter((question) => question.querySelector(":checked")).length;
    place.textContent = `· ${phrase(gettext("%(count)s of %(of)s answered"), { count: answered, of: questions.length })}`;
  }

  form.addEventListener("change", count);
  count();
})();
