// The answer beside or below the text: how tall it may be, and how much of it is out of sight.
// Without this file the panel has the height that the style sheet gives it, and the browser's own bar to scroll it.
"use strict";
(function () {
  const SIGN = 30; // the height of the sign, as in the style sheet
  const SLACK = 3; // less than this is not called hidden
  const root = document.documentElement;
  const sign = Object.assign(document.createElement("button"), { type: "button", className: "more", hidden: true });
  const watcher = new ResizeObserver(measure);
  let panel, closing, questions, next;

  function find() {
    panel = document.querySelector(".answer");
    closing = panel.querySelector(".closing");
    questions = [...panel.querySelectorAll(".question > .choices:not(.asked, .dependent) > legend, .step h2, .step .asked")];
    panel.append(sign);
    watcher.disconnect();
    for (const part of [panel, closing, ...panel.querySelectorAll(".question"), ...document.querySelectorAll(".reading, .instructions")]) watcher.observe(part);
    measure();
  }

  // The row of the button sticks to the lower edge on a narrow screen, and the question to the upper one.
  function sticking(parts) {
    return parts.filter((part) => getComputedStyle(part).position === "sticky").reduce((sum, part) => sum + part.offsetHeight, 0);
  }

  function measure() {
    const textEnds = document.querySelector(".reading").getBoundingClientRect().bottom + scrollY;
    const sizes = {
      room: innerHeight - textEnds, // below a text that is shorter than the screen
      panel: panel.offsetHeight,
      closing: sticking([closing]),
      heading: questions[0]?.offsetHeight ?? 0,
    };
    for (const [name, size] of Object.entries(sizes)) root.style.setProperty(`--${name}`, `${Math.max(0, Math.floor(size))}px`);
    // A question of half the panel would leave the answers no room.
    const asked = questions.reduce((sum, part) => sum + part.offsetHeight, 0);
    panel.classList.toggle("long-question", asked > 0.4 * panel.clientHeight);
    tell();
  }

  function tell() {
    const left = panel.scrollHeight - panel.clientHeight - panel.scrollTop;
    sign.hidden = left <= SLACK || getComputedStyle(panel).overflowY === "visible";
    if (sign.hidden) return;
    const line = panel.getBoundingClientRect().bottom - sticking([closing]) - SIGN;
    const below = [...panel.querySelectorAll(".choice")].filter((choice) => choice.getBoundingClientRect().bottom > line + SLACK);
    next = below[0];
    sign.textContent = below.length ? `${below.length} more below ↓` : "More below ↓";
  }

  sign.addEventListener("click", () => {
    const above = panel.getBoundingClientRect().top + sticking(questions) + SIGN / 2, target = next;
    const page = panel.clientHeight - sticking(questions) - sticking([closing]) - SIGN;
    panel.scrollBy({ top: target ? target.getBoundingClientRect().top - above : page });
    target?.querySelector("input").focus({ preventScroll: true }); // the sign may be gone now, and the focus with it
  });
  document.addEventListener("scroll", (event) => { if (event.target === panel) tell(); }, { capture: true, passive: true });
  document.addEventListener("htmx:load", find); // the next step has a panel of its own
  addEventListener("resize", measure);
  find();
})();
