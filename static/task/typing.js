// Counts how much is typed and pasted into each text field: whole numbers, never keys, texts or times.
// What comes in other ways, such as by dictation, is in none of the counts. The numbers stand in one hidden field, with
// which they are sent, kept as a draft and restored: {field: [typed, pasted, pastes, deletions, pauses, seconds]}.
"use strict";
(function () {
  const PAUSE = 2000, MOST = 1000000;
  const form = document.querySelector("form"), kept = form?.elements._typing;
  if (!kept) return;
  if (!kept.value) kept.value = "{}"; // says that the page could count
  const names = new Set(kept.dataset.fields.split(" "));
  const PASTES = ["insertFromPaste", "insertFromPasteAsQuotation", "insertFromDrop", "insertFromYank"];
  const TYPED = ["insertText", "insertCompositionText", "insertLineBreak", "insertParagraph"];
  const spare = {};
  let before = null, last = null, moves = false;

  function isCounted(field) {
    return names.has(field.name) && field.matches("textarea, input");
  }
  function read() {
    try { return JSON.parse(kept.value) ?? {}; } catch { return {}; }
  }
  // As the server counts: by characters, not by the halves that make up an emoji.
  function length(text) {
    return [...text].length;
  }

  // A text that is dragged within the page was there before.
  form.addEventListener("dragstart", () => { moves = true; });
  form.addEventListener("dragend", () => { moves = false; });

  form.addEventListener("beforeinput", (event) => {
    const field = event.target;
    if (!isCounted(field)) return;
    before = { field, length: length(field.value), chosen: length(field.value.slice(field.selectionStart, field.selectionEnd)) };
  }, true);

  // Before the listener that keeps the draft, which reads the form.
  form.addEventListener("input", (event) => {
    const field = event.target, kind = event.inputType ?? "";
    if (!isCounted(field)) return;
    const was = before?.field === field ? before : null, now = length(field.value);
    before = null;
    // Input methods replace what they wrote before, whatever is chosen then.
    const taken = was ? (kind === "insertCompositionText" ? 0 : was.chosen) : 0;
    const more = was ? Math.max(0, now - was.length + taken) : 0;
    const counts = read(), own = Array.isArray(counts[field.name]) && counts[field.name].length === 6 ? counts[field.name] : [0, 0, 0, 0, 0, 0];
    if (TYPED.includes(kind) && more === 1) own[0] += 1;
    else if (PASTES.includes(kind) && more && !(moves && kind === "insertFromDrop")) {
      own[1] += more;
      own[2] += 1;
    } else if (kind.startsWith("delete")) own[3] += 1;
    time(field.name, own, event.timeStamp);
    counts[field.name] = own.map((number) => Math.min(number, MOST));
    kept.value = JSON.stringify(counts);
  }, true);

  function time(name, own, now) {
    const passed = last === null ? 0 : now - last;
    last = now;
    if (passed > PAUSE) own[4] += 1;
    else spare[name] = (spare[name] ?? 0) + passed;
    const whole = Math.floor((spare[name] ?? 0) / 1000);
    own[5] += whole;
    if (whole) spare[name] -= 1000 * whole;
  }
})();
