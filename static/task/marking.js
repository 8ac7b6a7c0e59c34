// Marking spans of a text: with a mouse, by tapping, or with keys. A hidden field holds them as JSON.
// A browser counts UTF-16 units, the server characters (code points): every place here is counted in characters, by
// spreading texts into arrays. A unit is what the ends of a span can lie at: a word, or a character as people see it.
// A page may have several such texts; each has controls of its own, and what is done in one changes no other.
"use strict";
for (const text of document.querySelectorAll("[data-marking]")) markable(text);

function markable(area) {
  if (area.closest("fieldset.task").disabled) return; // a preview
  const name = area.dataset.marking;
  const controls = [...document.querySelectorAll("[data-marks]")].find((one) => one.dataset.marks === name);
  const field = controls.querySelector("[data-spans]"), nothing = controls.querySelector("[data-nothing]");
  const hint = controls.querySelector("[data-hint]"), announcer = document.querySelector("[data-announce]");
  const own = controls.querySelector("[data-own]"), ownHeading = controls.querySelector("[data-own-heading]");
  const nudges = [...controls.querySelectorAll("[data-nudge]")];
  const wholeWords = area.dataset.unit === "word", overlap = area.dataset.overlap === "yes", most = Number(area.dataset.most);
  const START = hint.textContent;
  const labels = [...controls.querySelectorAll("[data-label]")].map((button) => ({
    id: button.dataset.label, hue: button.dataset.hue, key: button.dataset.key, button,
    text: button.querySelector("[data-name]").textContent,
  }));
  const labelOf = new Map(labels.map((label) => [label.id, label]));
  const lines = [...area.querySelectorAll("p")].map(read);
  const words = lines.flatMap((line) => line.words);
  const units = wholeWords ? words : lines.flatMap(characters);
  let spans = recalled();
  write();
  let cursor = 0;      // the unit where the keyboard is
  let chosen = null;   // {first, last}: units of the span that has no label yet
  let anchor = null;   // the unit at which a span was begun with keys
  let extending = false, tapped = false, dragged = false;

  // Reading the page

  function read(element) {
    const pieces = [...element.children], chars = [];
    const line = { element, start: Number(pieces[0].dataset.start), chars, words: [] };
    for (const piece of pieces) {
      const start = Number(piece.dataset.start), found = [...piece.textContent];
      if (piece.classList.contains("word")) line.words.push({ start, end: start + found.length, line });
      chars.push(...found);
    }
    return line;
  }

  // A sign of several code points, such as a flag, is one step where the browser knows so.
  function characters(line) {
    const text = line.chars.join("");
    const parts = window.Intl?.Segmenter ? [...new Intl.Segmenter().segment(text)].map((part) => part.segment) : line.chars;
    let at = line.start;
    return parts.map((part) => ({ start: at, end: (at += [...part].length), line })).filter((unit) => textOf(unit.start, unit.end).trim());
  }

  function textOf(start, end) {
    const line = lines.findLast((one) => one.start <= start);
    if (end <= line.start + line.chars.length) return line.chars.slice(start - line.start, end - line.start).join("");
    const next = lines[lines.indexOf(line) + 1];
    return `${line.chars.slice(start - line.start).join("")} ${next ? textOf(next.start, end) : ""}`.trim();
  }

  function recalled() {
    const last = lines.at(-1), fits = ([start, end, id]) => start < end && end <= last.start + last.chars.length && labelOf.has(id);
    try { return JSON.parse(field.value || "[]").filter(fits); } catch { return []; } // a draft from before a change of the task
  }

  // Units by place

  function within(start, end) {
    const first = units.findIndex((unit) => unit.end > start), last = units.findLastIndex((unit) => unit.start < end);
    return first < 0 || last < first ? null : { first, last };
  }
  function wordAround(unit) {
    const word = words.find((one) => one.start <= unit.start && unit.end <= one.end) ?? unit;
    return within(word.start, word.end);
  }
  function placeOf(range) {
    return { start: units[range.first].start, end: units[range.last].end };
  }

  // Showing

  function show() {
    const place = chosen && placeOf(chosen), at = units[cursor];
    for (const line of lines) showLine(line, place, at);
    own.replaceChildren(...spans.map(row));
    ownHeading.hidden = !spans.length;
    ownHeading.textContent = phrase(gettext("Marked (%(count)s)"), { count: spans.length });
    if (nothing) nothing.disabled = spans.length > 0;
    for (const nudge of nudges) nudge.disabled = !chosen;
  }

  function showLine(line, place, at) {
    const end = line.start + line.chars.length;
    const here = spans.filter((span) => span[0] < end && line.start < span[1]);
    const cuts = new Set([line.start, end]);
    const add = (start, stop) => { for (const cut of [start, stop]) if (line.start < cut && cut < end) cuts.add(cut); };
    for (const word of line.words) add(word.start, word.end);
    for (const span of here) add(span[0], span[1]);
    if (place) add(place.start, place.end);
    if (at && at.line === line) add(at.start, at.end);
    const state = JSON.stringify([here, place && place.start < end && line.start < place.end ? place : 0, at?.line === line ? at.start : 0]);
    if (line.state === state) return; // a long text is not drawn anew at every key
    line.state = state;
    const order = [...cuts].sort((one, other) => one - other);
    line.element.replaceChildren(...order.slice(0, -1).map((start, n) => piece(line, start, order[n + 1], here, place, at)));
  }

  function piece(line, start, end, here, place, at) {
    const element = document.createElement("span");
    element.textContent = line.chars.slice(start - line.start, end - line.start).join("");
    element.dataset.start = start;
    if (line.words.some((word) => word.start <= start && end <= word.end)) element.classList.add("word");
    const over = here.filter((span) => span[0] <= start && end <= span[1]);
    if (over.length) element.classList.add("marked", `hue-${labelOf.get(over.at(-1)[2]).hue}`);
    if (over.length > 1) element.classList.add("several");
    const ending = over.filter((span) => span[1] === end).map((span) => labelOf.get(span[2]));
    if (ending.length) element.dataset.tag = ending.map((label) => label.key || label.text).join(" ");
    if (place && place.start <= start && end <= place.end) element.classList.add("chosen");
    if (at && at.start <= start && end <= at.end) element.classList.add("cursor");
    return element;
  }

  function row(span) {
    const [start, end, id] = span, label = labelOf.get(id), text = textOf(start, end);
    const item = document.createElement("li");
    const what = Object.assign(document.createElement("span"), { className: `mark hue-${label.hue}`, textContent: text, dir: "auto" });
    const kind = Object.assign(document.createElement("span"), { className: "small", textContent: label.text });
    const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: gettext("Delete") });
    button.setAttribute("aria-label", phrase(gettext("Delete “%(text)s”, %(label)s"), { text, label: label.text }));
    button.addEventListener("click", () => {
      const number = spans.indexOf(span);
      remove(span);
      (own.children[Math.min(number, spans.length - 1)]?.querySelector("button") ?? area).focus();
    });
    item.append(what, " ", kind, button);
    return item;
  }

  function say(text, bad = false) {
    hint.textContent = announcer.textContent = text;
    hint.classList.toggle("hint-bad", bad);
  }

  // What is marked

  function keep() {
    spans.sort((one, other) => one[0] - other[0] || one[1] - other[1] || (one[2] < other[2] ? -1 : 1));
    write();
    field.dispatchEvent(new Event("change", { bubbles: true }));
    show();
  }

  function write() {
    field.value = spans.length ? JSON.stringify(spans) : "";
  }

  function letGo() {
    chosen = anchor = null;
    extending = tapped = false;
  }

  function choose(range) {
    chosen = range;
    cursor = range.last;
    const { start, end } = placeOf(range);
    say(phrase(gettext("“%(text)s” is chosen. Now choose its label."), { text: textOf(start, end) }));
    show();
  }

  function give(label) {
    if (!chosen) return say(gettext("Choose a span of the text first."), true);
    const { start, end } = placeOf(chosen), text = textOf(start, end);
    const same = spans.filter((span) => span[0] === start && span[1] === end);
    if (same.some((span) => span[2] === label.id)) return say(phrase(gettext("“%(text)s” is marked so already."), { text }), true);
    const others = overlap ? spans : spans.filter((span) => !same.includes(span));
    const crossed = overlap ? null : others.find((span) => span[0] < end && start < span[1]);
    if (crossed) {
      const other = textOf(crossed[0], crossed[1]);
      return say(phrase(gettext("“%(text)s” overlaps “%(other)s”. Delete that one first."), { text, other }), true);
    }
    if (others.length >= most) return say(phrase(gettext("At most %(most)s spans can be marked. Delete one first."), { most }), true);
    spans = [...others, [start, end, label.id]];
    if (nothing) nothing.checked = false;
    letGo();
    keep();
    say(phrase(gettext("“%(text)s” is marked: %(label)s."), { text, label: label.text }));
  }

  function remove(span) {
    spans = spans.filter((one) => one !== span);
    keep();
    say(phrase(gettext("“%(text)s” is no longer marked."), { text: textOf(span[0], span[1]) }));
  }

  for (const label of labels) label.button.addEventListener("click", () => give(label));
  for (const button of controls.querySelectorAll("[data-take]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      chosen = within(Number(button.dataset.start), Number(button.dataset.end));
      give(labelOf.get(button.dataset.take));
      letGo();
      show();
    });
  }
  for (const button of nudges) button.addEventListener("click", () => {
    const moved = { ...chosen, [button.dataset.nudge]: chosen[button.dataset.nudge] + Number(button.dataset.by) };
    if (moved.first >= 0 && moved.last < units.length && moved.first <= moved.last) choose(moved);
  });
  nothing?.addEventListener("change", () => { if (nothing.checked) { letGo(); show(); } });

  // Mouse and touch. A drag is the browser's own selection, read when the button is let go.

  area.addEventListener("mousedown", () => {
    dragged = false;
    area.classList.remove("by-keys");
  });
  document.addEventListener("mouseup", () => {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return;
    const range = selection.getRangeAt(0);
    const begun = elementOf(selection.anchorNode)?.closest("[data-marking]");
    if ((begun && begun !== area) || !range.intersectsNode(area)) return; // a drag is about the text where it began
    const places = [...area.querySelectorAll("[data-start]")].map((element) => selected(element, range)).filter(Boolean);
    const found = places.length ? within(places[0][0], places.at(-1)[1]) : null;
    if (!found) return;
    dragged = true; // the click that follows is part of it
    selection.removeAllRanges();
    letGo();
    choose(found);
  });

  function elementOf(node) {
    return node instanceof Element ? node : node?.parentElement;
  }

  // The part of a piece that the range holds, in characters of the text.
  function selected(element, range) {
    const node = element.firstChild, start = Number(element.dataset.start);
    if (!node || !range.intersectsNode(node)) return null;
    const count = (until) => [...node.data.slice(0, until)].length;
    const from = range.startContainer === node ? count(range.startOffset) : 0;
    const to = range.endContainer === node ? count(range.endOffset) : count(node.length);
    return from < to ? [start + from, start + to] : null;
  }

  area.addEventListener("click", (event) => {
    if (dragged) return void (dragged = false);
    const element = event.target.closest(".word"), place = element && Number(element.dataset.start);
    const word = element && words.find((one) => one.start <= place && place < one.end);
    if (!word) {
      letGo();
      say(START);
      return show();
    }
    const range = within(word.start, word.end);
    if (chosen && (tapped || event.shiftKey)) {
      const both = { first: Math.min(chosen.first, range.first), last: Math.max(chosen.last, range.last) };
      const again = tapped && both.first === range.first && both.last === range.last;
      tapped = false;
      if (!again) return choose(both);
      letGo();
      say(START);
      return show();
    }
    letGo();
    choose(range);
    tapped = true;
  });

  // Keys

  function neighbour(down) {
    const pieces = [...area.querySelectorAll(".word")];
    const here = pieces.findLast((one) => Number(one.dataset.start) <= units[cursor].start) ?? pieces[0];
    if (!here) return cursor;
    const from = here.getBoundingClientRect();
    const beyond = (box) => (down ? box.top >= from.bottom - 4 : box.bottom <= from.top + 4);
    const boxes = pieces.map((one) => [one, one.getBoundingClientRect()]).filter(([, box]) => beyond(box));
    if (!boxes.length) return down ? units.length - 1 : 0;
    const line = (down ? boxes[0] : boxes.at(-1))[1];
    const level = boxes.filter(([, box]) => Math.abs(box.top - line.top) < 4);
    const nearest = level.reduce((one, other) => (Math.abs(other[1].left - from.left) < Math.abs(one[1].left - from.left) ? other : one));
    return units.findIndex((unit) => unit.end > Number(nearest[0].dataset.start));
  }

  function nextWord(step) {
    const place = units[cursor].start;
    const word = step > 0 ? words.find((one) => one.start > place) : words.findLast((one) => one.start < place);
    return word ? units.findIndex((unit) => unit.end > word.start) : cursor;
  }

  function target(event) {
    const rightToLeft = getComputedStyle(units[cursor].line.element).direction === "rtl";
    const step = (event.key === "ArrowRight") === rightToLeft ? -1 : 1;
    switch (event.key) {
      case "ArrowLeft":
      case "ArrowRight": return event.ctrlKey ? nextWord(step) : cursor + step;
      case "ArrowDown": return neighbour(true);
      case "ArrowUp": return neighbour(false);
      case "Home": return event.ctrlKey ? 0 : units.findIndex((unit) => unit.line === units[cursor].line);
      case "End": return event.ctrlKey ? units.length - 1 : units.findLastIndex((unit) => unit.line === units[cursor].line);
    }
    return null;
  }

  function move(to, extend) {
    const from = cursor;
    cursor = Math.max(0, Math.min(units.length - 1, to));
    if (extend || extending) {
      anchor ??= from;
      choose({ first: Math.min(anchor, cursor), last: Math.max(anchor, cursor) });
      cursor = Math.max(0, Math.min(units.length - 1, to)); // the end that moves, be it the first
    } else {
      letGo();
      const unit = units[cursor], over = covering();
      hint.textContent = START;
      hint.classList.remove("hint-bad");
      announcer.textContent = [textOf(unit.start, unit.end), ...over.map((span) => labelOf.get(span[2]).text)].join(", ");
    }
    show();
    area.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
  }

  function covering() {
    const unit = units[cursor];
    return spans.filter((span) => span[0] <= unit.start && unit.end <= span[1]);
  }

  function begin() {
    if (extending) {
      extending = false;
      anchor = null;
      return say(gettext("The span ends here. Press the number of its label."));
    }
    letGo();
    anchor = cursor;
    extending = true;
    choose({ first: cursor, last: cursor });
    const text = textOf(units[cursor].start, units[cursor].end);
    say(phrase(gettext("The span begins at “%(text)s”. Move to its end, then press the number of its label."), { text }));
  }

  function pressed(event) {
    const to = target(event);
    if (to !== null) return move(to, event.shiftKey);
    if (event.ctrlKey) return false;
    const label = labels.find((one) => one.key === event.key);
    if (label) {
      chosen ??= wordAround(units[cursor]);
      return give(label);
    }
    if (event.key === " ") return begin();
    if (event.key === "Escape") {
      letGo();
      say(START);
      return show();
    }
    if (event.key !== "Delete" && event.key !== "Backspace") return false;
    const over = covering().sort((one, other) => one[1] - one[0] - (other[1] - other[0]));
    return over.length ? remove(over[0]) : say(gettext("Nothing is marked here."), true);
  }

  area.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || !units.length) return;
    area.classList.add("by-keys");
    if (pressed(event) !== false) event.preventDefault(); // an arrow would scroll the page
  });

  area.tabIndex = 0;
  area.classList.add("ready");
  area.setAttribute("role", "application");
  area.setAttribute("aria-roledescription", gettext("text to mark"));
  area.setAttribute("aria-labelledby", area.dataset.heading);
  area.setAttribute("aria-describedby", `how-to-mark-${name} marking-keys-${name}`);
  for (const group of controls.querySelectorAll("[data-nudges]")) group.hidden = false;
  show();
}
