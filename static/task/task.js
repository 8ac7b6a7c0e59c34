// What every task page does: keep drafts, ask for the reading time, check the answer, hand it to the marketplace.
// A protocol's own script only has to fill the form's fields and let a "change" event reach the form.
"use strict";
(function () {
  const form = document.querySelector("form[data-page]");
  foldReports();
  if (!form) return; // a preview takes no answer

  const SAVE_AFTER = 600, RETRY_AFTER = 3000, REPLY_WITHIN = 10000;
  const OFFLINE = "You are offline, so the answer cannot be sent. It is kept here: press Submit again when you are back online.";
  const button = form.querySelector("button[type=submit]"), label = button.textContent;
  const notice = form.querySelector("[data-notice]"), state = form.querySelector("[data-draft-state]");
  const announcer = document.querySelector("[data-announce]");
  const minSeconds = Number(form.dataset.minSeconds), hold = form.dataset.earlySubmit === "hold";
  const memoryKey = "task-draft:" + form.elements.workerId.value + ":" + form.elements.assignmentId.value;
  let changes = 0, savedChanges = 0, saving = false, timer = 0, lost = false, sending = false, early = false;

  form.noValidate = true; // the check on the server says what is wrong, in sentences
  restore(recall());
  const openedBefore = Number(form.elements.seconds_open.value) || 0;
  const seconds = () => Math.round(openedBefore + performance.now() / 1000);

  function fields() {
    form.elements.seconds_open.value = seconds();
    return new FormData(form);
  }

  function post(address) {
    const body = new URLSearchParams(fields());
    body.set("page", form.dataset.page);
    return fetch(address, { method: "POST", body, credentials: "omit", keepalive: true, signal: AbortSignal.timeout(REPLY_WITHIN) });
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
    if (!kept) return;
    for (const control of form.elements) {
      if (!control.name || control.name === "assignmentId" || control.name === "workerId") continue;
      if (control.type === "radio" || control.type === "checkbox") control.checked = kept[control.name] === control.value;
      else control.value = kept[control.name] ?? "";
    }
    changes = 1;
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
      showState(reply.ok ? "Draft saved" : "Not saved: " + reply.reasons.join(" "), !reply.ok);
      if (reply.ok && changes === version) forget();
    } catch {
      showState("Not saved: connection lost, trying again", true);
      saveSoon(RETRY_AFTER);
    }
    saving = false;
    if (changes !== savedChanges && !state.classList.contains("state-bad")) saveSoon(SAVE_AFTER);
  }

  function showState(text, bad) {
    state.textContent = text;
    state.classList.toggle("state-bad", bad);
    if (bad !== lost) announcer.textContent = text; // only the turns: every saved draft would be chatter
    lost = bad;
  }

  function changed() {
    changes += 1;
    notice.hidden = true;
    remember();
    saveSoon(SAVE_AFTER);
  }
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  addEventListener("online", save);
  addEventListener("pagehide", () => { if (!sending && changes !== savedChanges) post(form.dataset.draft).catch(() => {}); });

  // Submitting.
  function show(sentences, { bad = true, offer = null } = {}) {
    notice.replaceChildren(...sentences.map((sentence) => Object.assign(document.createElement("p"), { textContent: sentence })));
    if (offer) notice.append(offer);
    notice.classList.toggle("bad", bad);
    notice.hidden = false;
    notice.focus();
  }

  function setSending(on) {
    sending = on;
    button.textContent = on ? "Submitting…" : label;
    button.setAttribute("aria-disabled", String(on));
  }

  function askForTime() {
    const anyway = Object.assign(document.createElement("button"), { type: "button", textContent: "Submit anyway" });
    anyway.addEventListener("click", () => { early = true; form.requestSubmit(); });
    show([`You have had this open for ${seconds()} s; please take at least ${minSeconds} s to read.`], { bad: false, offer: anyway });
  }

  // The reasons against sending; none also when our server does not reply: the marketplace's record is the truth.
  async function reasonsAgainst() {
    for (const pause of [0, 2000]) {
      if (pause) announcer.textContent = button.textContent = "No reply yet, trying again…";
      await new Promise((resolve) => setTimeout(resolve, pause));
      try {
        const response = await post(form.dataset.check);
        if (response.status >= 500) continue;
        const reply = await response.json();
        return reply.ok ? [] : reply.reasons;
      } catch { /* no connection: once more */ }
    }
    return navigator.onLine ? [] : [OFFLINE];
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const missing = form.querySelector("[data-missing]");
    if (sending) return;
    if (missing && !missing.value) return show([missing.dataset.missing]);
    if (seconds() < minSeconds && hold) return;
    if (seconds() < minSeconds && !early) return askForTime();
    if (!navigator.onLine) return show([OFFLINE]);
    notice.hidden = true;
    setSending(true);
    const reasons = await reasonsAgainst();
    if (reasons.length) {
      setSending(false);
      return show(reasons);
    }
    fields();
    HTMLFormElement.prototype.submit.call(form);
  });
  addEventListener("pageshow", (event) => { if (event.persisted) setSending(false); });

  if (hold) {
    const countDown = () => {
      const left = minSeconds - seconds();
      if (sending) return;
      button.textContent = left > 0 ? `${label} (in ${left} s)` : label;
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
