// The instructions of a task: open at a first visit, but on a narrow screen, where they would leave no room for the text, a row
// that says "Read first". Without this file they are a box of limited height there (task.css).
"use strict";
(function () {
  const instructions = document.querySelector(".instructions"), summary = instructions.querySelector("summary");
  const understood = instructions.querySelector(".understood"), narrow = matchMedia("(max-width: 860px)");

  instructions.classList.add("foldable");
  understood.hidden = false;
  if (narrow.matches && instructions.open) {
    instructions.open = false;
    instructions.classList.add("unread");
    instructions.addEventListener("toggle", () => { if (instructions.open) instructions.classList.remove("unread"); });
  }

  understood.addEventListener("click", () => {
    instructions.open = false;
    summary.focus(); // which brings the row, and the text below it, into sight again
  });
})();
