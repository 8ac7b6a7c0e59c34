// What every task page does: keep drafts, ask for the reading time, check the answer, hand it to the marketplace.
// A protocol's own script only has to fill the form's fields and let a "change" event reach the form.
"use strict";
(function () {
  const form = document.querySelector("form[data-page]");
  foldReports();
  if (!form) return; // a preview takes no answer

  const SAVE_AFTER = 600, TYPING_PAUSE = 1500, RETRY_AFTER = 3000, REPLY_WITHIN = 10000;
  const OFFLINE = gettext("You are offline, so the answer cannot be sent. It is kept here: press Submit again when you are back online.");
  const announcer = document.querySelector("[data-announce]");
  const minSeconds = Number(form.dataset.minSeconds), hold = form.dataset.earlySubmit === "hold";
  const memoryKey = "task-draft:" + form.elements.workerId.value + ":" + form.elements.assignmentId.value;
  let changes = 0, savedChanges = 0, saving = false, timer = 0, lost = false, sending = false, early = false;
  let button, label, notice, state;

  find();
  form.noValidate = true; // the check on the server says what is wrong, in sentences
  restore(recall());
  const openedBefore = Number(form.elements.seconds_open.value) || 0;
  const seconds = () => Math.round(openedBefore + performance.now() / 1000);

  // A task that asks one thing at a time has its button on the last screen alone.
  function find() {
    button = form.querySelector("button.submit");
    label = button?.textContent;
    notice = form.querySelector("[data-notice]");
    state = form.querySelector("[data-draft-state]");
  }

  function fields() {
    form.elements.seconds_open.value = seconds();
    return new FormData(form);
  }

  function post(address, leaving = false) {
    const body = new URLSearchParams(fields());
    body.set("page", form.dataset.page);
    // A request that outlives its page may hold 64 KB, which long texts in some scripts exceed.
    return fetch(address, { method: "POST", body, credentials: "omit", keepalive: leaving, signal: AbortSignal.timeout(REPLY_WITHIN) });
  }

  // Drafts. The browser's own memory holds what the server does not have yet; a frame may be refused that memory.
  function recall() {
    try { return JSON.parse(localStorage.getItem(memoryKey)); } catch { return null; }
  }
  function remember() {
    try { localStorage.setItem(memoryKey, JSON.stringify(Object.fromEntries(fields()))); } catch { /* not allowed here */ }
  }
  function forget() {
    try { localStorage.removeItem(memoryKey); } catch { /* not allowed here */ }
  }

  function restore(kept) {
    if (!kept || ["step", "item_number"].some((name) => kept[name] !== form.elements[name]?.value)) return;
    for (const control of form.elements) {
      if (!control.name || control.type === "submit" || ["assignmentId", "workerId"].includes(control.name)) continue;
      if (control.matches("[data-terms][type=hidden]")) continue; // what the server knows
      if (control.type === "radio" || control.type === "checkbox") control.checked = kept[control.name] === control.value;
      else control.value = kept[control.name] ?? "";
    }
    changes = 1;
    state.textContent = gettext("Saving…"); // the server has what it had before the page was left
    saveSoon(SAVE_AFTER);
  }

  function saveSoon(delay) {
    clearTimeout(timer);
    timer = setTimeout(save, delay);
  }

  async function save() {
    if (saving || sending || changes === savedChanges) return;
    saving = true;
    const version = changes;
    try {
      const response = await post(form.dataset.draft);
      if (response.status >= 500) throw new Error("The server is in trouble.");
      const reply = await response.json();
      savedChanges = version;
      const saved = changes === version ? gettext("Draft saved") : gettext("Saving…"); // what was written meanwhile is not
      showState(reply.ok ? saved : notSaved(reply.reasons.join(" ")), !reply.ok);
      if (reply.ok && changes === version) forget();
      if (changes !== version) saveSoon(SAVE_AFTER);
    } catch {
      showState(gettext("Not saved: connection lost, trying again"), true);
      saveSoon(RETRY_AFTER);
    }
    saving = false;
  }

  function notSaved(why) {
    return phrase(gettext("Not saved: %(why)s"), { why });
  }

  function showState(text, bad) {
    state.textContent = text;
    state.classList.toggle("state-bad", bad);
    if (bad !== lost) announcer.textContent = text; // only the turns: every saved draft would be chatter
    lost = bad;
  }

  function changed(event) {
    changes += 1;
    notice.hidden = true;
    unmark(event.target);
    remember();
    if (!lost) state.textContent = gettext("Saving…");
    // Choosing, and leaving a text field, are a "change"; typing is an "input".
    saveSoon(event.type === "input" ? TYPING_PAUSE : SAVE_AFTER);
  }
  function leave() {
    if (!sending && changes !== savedChanges) post(form.dataset.draft, true).catch(() => {});
  }
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  addEventListener("online", save);
  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); }); // a phone may never come back

  // Submitting.
  function show(sentences, { bad = true, offer = null } = {}) {
    notice.replaceChildren(...sentences.map((sentence) => Object.assign(document.createElement("p"), { textContent: sentence })));
    if (offer) notice.append(offer);
    notice.classList.toggle("bad", bad);
    notice.hidden = false;
    notice.focus();
  }

  // A reason that names its field is told there too, until that field is changed; the first of them gets the focus.
  function mark(reasons, names) {
    const controls = names.map((name) => first(form.elements.namedItem(name)));
    reasons.forEach((reason, at) => { if (controls[at] instanceof HTMLElement) tell(controls[at], reason); });
    const at = controls.find((control) => control instanceof HTMLElement);
    (at?.type === "hidden" ? whole(at).querySelector("[tabindex]") : at)?.focus();
  }

  // Choices of one name are one field.
  function first(found) {
    return found instanceof RadioNodeList ? found[0] : found;
  }

  function whole(control) {
    return control.closest("[role=radiogroup], [data-whole]") ?? control;
  }

  function tell(control, reason) {
    const id = `fault-${control.name}`, told = document.getElementById(id), part = whole(control);
    if (told) return told.append(` ${reason}`);
    part.after(Object.assign(document.createElement("p"), { id, className: "fault", textContent: reason }));
    part.setAttribute("aria-invalid", "true");
    part.setAttribute("aria-describedby", `${id} ${part.getAttribute("aria-describedby") ?? ""}`.trim());
  }

  function unmark(control) {
    const fault = document.getElementById(`fault-${control.name}`), part = whole(control);
    if (!fault) return;
    fault.remove();
    part.removeAttribute("aria-invalid");
    part.setAttribute("aria-describedby", part.getAttribute("aria-describedby").replace(fault.id, "").trim());
  }

  function setSending(on) {
    sending = on;
    button.textContent = on ? button.dataset.busy ?? gettext("Submitting…") : label;
    button.setAttribute("aria-disabled", String(on));
  }

  function askForTime() {
    const anyway = Object.assign(document.createElement("button"), { type: "button", textContent: gettext("Submit anyway") });
    anyway.addEventListener("click", () => { early = true; form.requestSubmit(); });
    const why = gettext("You have had this open for %(seconds)s s; please take at least %(least)s s to read. A person looks at a faster answer before it counts.");
    show([phrase(why, { seconds: seconds(), least: minSeconds })], { bad: false, offer: anyway });
  }

  // What speaks against sending; nothing also when our server does not reply: the marketplace's record is the truth.
  async function refusal() {
    for (const pause of [0, 2000]) {
      if (pause) announcer.textContent = button.textContent = gettext("No reply yet, trying again…");
      await new Promise((resolve) => setTimeout(resolve, pause));
      try {
        const response = await post(form.dataset.check);
        if (response.status >= 500) continue;
        const reply = await response.json();
        return reply.ok ? null : reply;
      } catch { /* no connection: once more */ }
    }
    return navigator.onLine ? null : { reasons: [OFFLINE] };
  }

  form.addEventListener("submit", async (event) => {
    if (event.submitter?.hasAttribute("formaction")) return; // the next step, where htmx did not come
    event.preventDefault();
    const missing = form.querySelector("[data-missing]");
    if (sending) return;
    if (missing && !missing.value) return show([missing.dataset.missing]);
    if (seconds() < minSeconds && hold) return;
    if (seconds() < minSeconds && !early) return askForTime();
    if (!navigator.onLine) return show([OFFLINE]);
    notice.hidden = true;
    setSending(true);
    const refused = await refusal();
    [...form.elements].forEach(unmark);
    if (refused) {
      setSending(false);
      show(refused.reasons);
      return mark(refused.reasons, refused.fields ?? []);
    }
    fields();
    HTMLFormElement.prototype.submit.call(form);
  });
  // The next screen is fetched and exchanged by htmx, and is kept as a draft by the server.
  const NO_REPLY = gettext("No reply, so this stays as it is. What you chose is kept here: check your connection and press the button again.");
  form.addEventListener("htmx:configRequest", (event) => {
    clearTimeout(timer);
    event.detail.parameters.seconds_open = seconds();
  });
  form.addEventListener("htmx:load", () => {
    find();
    foldReports();
    forget();
    savedChanges = changes;
    lost = false;
    announcer.textContent = form.querySelector("[data-progress]").textContent;
  });
  for (const fault of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) form.addEventListener(fault, () => show([NO_REPLY]));
  addEventListener("pageshow", (event) => { if (event.persisted) setSending(false); });

  if (hold) {
    const countDown = () => {
      const left = minSeconds - seconds();
      if (sending || !button) return;
      button.textContent = left > 0 ? phrase(gettext("%(label)s (in %(left)s s)"), { label, left }) : label;
      button.setAttribute("aria-disabled", String(left > 0));
      if (left <= 0) clearInterval(clock);
    };
    const clock = setInterval(countDown, 1000);
    countDown();
  }

  // On a phone the reports fold away below the question; beside the passage there is room for them.
  function foldReports() {
    const reports = document.querySelector(".reports"), narrow = matchMedia("(max-width: 860px)");
    const fold = () => { if (reports) reports.open = !narrow.matches; };
    narrow.addEventListener("change", fold);
    fold();
  }
})();
