// The answer beside or below the text: how tall it may be, and how much of it is out of sight.
// Without this file the panel has the height that the style sheet gives it, and the browser's own bar to scroll it.
"use strict";
(function () {
  const SLACK = 3; // less than this is not called hidden
  const root = document.documentElement, narrow = matchMedia("(max-width: 860px)");
  const sign = Object.assign(document.createElement("button"), { type: "button", className: "more", hidden: true });
  const watcher = new ResizeObserver(measure);
  let panel, closing, questions, next;

  function find() {
    panel = document.querySelector(".answer");
    closing = panel.querySelector(".closing");
    questions = [...panel.querySelectorAll(".question > .choices:not(.asked, .dependent) > legend, .step h2, .step .asked")];
    panel.append(sign);
    watcher.disconnect();
    for (const part of [panel, closing, ...panel.querySelectorAll(".question"), ...document.querySelectorAll(".reading, .instructions, .terms")]) watcher.observe(part);
    measure();
  }

  // The row of the button sticks to the lower edge on a narrow screen, and the question to the upper one.
  function sticking(parts) {
    return parts.filter((part) => getComputedStyle(part).position === "sticky").reduce((sum, part) => sum + part.offsetHeight, 0);
  }

  function measure() {
    const text = document.querySelector(".reading").getBoundingClientRect();
    const textEnds = text.bottom + scrollY;
    const sizes = {
      above: text.top + scrollY,
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

  // A form longer than a screen scrolls with the page, and its panel does not.
  function flows() {
    return getComputedStyle(panel).overflowY === "visible";
  }

  // Where several questions are asked, questions are counted, else the answers to choose from.
  function counted() {
    const groups = [...panel.querySelectorAll(".asked, .asked-field, .phrase, [data-question], .reviewed")].filter((group) => group.offsetParent);
    return groups.length > 1 ? groups : [...panel.querySelectorAll(".choice")];
  }

  function said(below, ofQuestions) {
    if (!below) return gettext("More below ↓");
    const more = ofQuestions ? ngettext("%(count)s more question below ↓", "%(count)s more questions below ↓", below)
      : ngettext("%(count)s more below ↓", "%(count)s more below ↓", below);
    return phrase(more, { count: below });
  }

  // Where the row of the button sticks, only the panel's padding is below the last answer.
  function answersEnd() {
    if (flows() || !sticking([closing])) return Infinity;
    return [...panel.querySelectorAll(".question > *")].findLast((part) => part.offsetParent).getBoundingClientRect().bottom;
  }

  function tell() {
    const bottom = panel.getBoundingClientRect().bottom, end = flows() ? Math.min(bottom, innerHeight) : bottom;
    sign.hidden = false; // else it has no height
    // The sign is never over the button: it goes when the row of the button comes.
    const left = flows() ? narrow.matches && closing.getBoundingClientRect().top + sign.offsetHeight - innerHeight
      : panel.scrollHeight - panel.clientHeight - panel.scrollTop;
    const edge = end - sticking([closing]);
    sign.hidden = left <= SLACK || answersEnd() <= edge + SLACK;
    if (sign.hidden) return;
    const line = edge - sign.offsetHeight, all = counted();
    const below = all.filter((one) => one.getBoundingClientRect().bottom > line + SLACK);
    next = below[0];
    sign.textContent = said(below.length, all[0]?.matches(":not(.choice)"));
  }

  sign.addEventListener("click", () => {
    const target = next, view = flows() ? root : panel, before = view.scrollTop;
    const top = flows() ? parseFloat(getComputedStyle(root).scrollPaddingTop) || 0 : sticking(questions) + sign.offsetHeight / 2;
    const edge = flows() ? 0 : panel.getBoundingClientRect().top;
    const page = view.clientHeight - top - sign.offsetHeight - sticking([closing]);
    // What begins in sight and is longer than the room is read on by as much as there is room for.
    const ahead = target ? target.getBoundingClientRect().top - edge - top : page;
    view.scrollTop = before + (ahead > SLACK ? Math.min(ahead, page) : page);
    focus(target);
  });

  // The sign may be gone now, and the focus with it. A text field is not focused: on a phone that opens the keyboard.
  function focus(target) {
    const choice = target?.querySelector("[type=radio], [type=checkbox]") ?? target;
    if (choice === target) target?.setAttribute("tabindex", "-1");
    choice?.focus({ preventScroll: true });
  }

  document.addEventListener("scroll", (event) => { if (event.target === panel || event.target === document) tell(); }, { capture: true, passive: true });
  document.addEventListener("htmx:load", find); // the next step has a panel of its own
  addEventListener("resize", measure);
  find();
})();
