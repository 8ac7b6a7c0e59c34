// Runs in the task frame after an answer arrived, or in a frame of the task's own inside it: tells the outermost page,
// which is the site's, to go on. It is loaded before the page's body: no link can be pressed before this listens to it.
"use strict";
(function () {
  if (window.top === window) return;
  const tell = (message) => window.top.postMessage(message, window.location.origin);
  document.addEventListener("DOMContentLoaded", () => {
    const { outcome, assignment, movesOn } = document.body.dataset;
    if (movesOn) tell({ kind: "answer", outcome, assignment });
  });
  // In a sandbox without an origin a link cannot lead the whole window anywhere.
  if (window.origin !== "null") return;
  document.addEventListener("click", (event) => {
    if (!event.target.closest("a[target=_top]")) return;
    event.preventDefault();
    tell({ kind: "go-on" });
  });
})();
