// Runs in the task frame after an answer arrived, or in a frame of the task's own inside it: tells the outermost page,
// which is the site's, to go on.
"use strict";
(function () {
  if (window.top === window) return;
  const { outcome, assignment, movesOn } = document.body.dataset;
  const tell = (message) => window.top.postMessage(message, window.location.origin);
  if (movesOn) tell({ kind: "answer", outcome, assignment });
  // In a sandbox without an origin a link cannot lead the whole window anywhere.
  if (window.origin !== "null") return;
  for (const link of document.querySelectorAll("a[target=_top]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      tell({ kind: "go-on" });
    });
  }
})();
