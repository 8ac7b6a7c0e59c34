// The bar above the task: counts down, says politely when time gets short, and goes on when the frame says "answered".
"use strict";
(function () {
  const body = document.body;
  const clock = document.getElementById("clock");
  const spoken = document.getElementById("spoken");
  const frame = document.querySelector("iframe.task");
  const autoForm = document.getElementById("auto-accept");
  const autoButton = autoForm.querySelector("button");
  // Counted from the load of the page, so that a wrong clock on this computer does no harm.
  const end = Date.now() + Number(body.dataset.secondsLeft) * 1000;
  const warnAt = Number(body.dataset.warnAt);
  let warned = false;
  let finalCall = false;

  function words(seconds) {
    if (seconds < 60) return interpolate(ngettext("%(count)s second", "%(count)s seconds", seconds), { count: seconds }, true);
    const minutes = Math.round(seconds / 60);
    return interpolate(ngettext("%(count)s minute", "%(count)s minutes", minutes), { count: minutes }, true);
  }

  function expire() {
    clock.textContent = gettext("time is over");
    clock.className = "late";
    document.getElementById("running-out").hidden = true;
    document.getElementById("time-over").hidden = false;
    document.getElementById("give-back").hidden = true;
    autoForm.hidden = true;
    spoken.textContent = gettext("Time is over. This HIT went back to the others. It does not count against you.");
  }

  function tick() {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    if (left === 0) return expire();
    clock.textContent = interpolate(gettext("%(time)s left"), { time: timeLeft(left) }, true);
    if (left <= warnAt && !warned) {
      warned = true;
      clock.className = "soon";
      document.getElementById("left-words").textContent = words(left);
      document.getElementById("running-out").hidden = false;
      spoken.textContent = interpolate(gettext("%(time)s left to submit this HIT."), { time: words(left) }, true);
    }
    if (left <= 30 && warnAt > 30 && !finalCall) {
      finalCall = true;
      document.getElementById("left-words").textContent = words(left);
      spoken.textContent = interpolate(gettext("%(time)s left to submit this HIT."), { time: words(left) }, true);
    }
    window.setTimeout(tick, 1000 - ((Date.now() - end) % 1000 + 1000) % 1000 || 1000);
  }
  tick();

  // On a phone the menu lies over the task: whoever touches the task again is done with it.
  const fold = document.querySelector(".fold");
  window.addEventListener("blur", () => { if (document.activeElement === frame) fold.open = false; });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !fold.open) return;
    fold.open = false;
    fold.firstElementChild.focus();
  });

  // HITs of one group look alike: without a word, the next one looks like an answer that was lost.
  const SENT = "sent-at";
  if (Date.now() - Number(sessionStorage.getItem(SENT)) < 10000) {
    document.getElementById("sent").hidden = false;
    spoken.textContent = gettext("Sent. This is the next HIT.");
  }
  sessionStorage.removeItem(SENT);

  // Without this the switch is a form that loads the page anew, and the task frame with it.
  autoForm.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(autoForm, autoButton);
    const response = await fetch(autoForm.action, { method: "POST", body: data, headers: { Accept: "application/json" } }).catch(() => null);
    if (!response || !response.ok) {
      spoken.textContent = gettext("The switch could not be set. Try again.");
      return;
    }
    const on = data.get("auto") === "on";
    autoButton.setAttribute("aria-checked", String(on));
    autoButton.value = on ? "off" : "on";
  });

  // A frame of ours has no origin, so a page of a requester could say the same: the server knows whether it is true.
  const after = document.getElementById("after").href;
  const nameless = !frame.sandbox.contains("allow-same-origin");
  const assignment = autoForm.elements.assignment.value;

  // What became of it, as a document. While it is in hand, `after` leads back to this page: null; for who is done for a
  // panel, on to the completion page.
  async function ending() {
    const reply = await fetch(after).catch(() => null);
    if (reply === null || !reply.ok || new URL(reply.url).pathname === window.location.pathname) return null;
    return new DOMParser().parseFromString(await reply.text(), "text/html");
  }

  async function answered() {
    return (await ending()) !== null;
  }

  // Whoever comes back to this tab may have submitted or returned the HIT in another one.
  document.addEventListener("visibilitychange", async () => {
    const told = document.getElementById("ended");
    if (document.hidden || !told.hidden || Date.now() > end) return;
    const page = await ending();
    if (page === null) return;
    told.querySelector("b").textContent = page.querySelector("h1")?.textContent ?? "";
    told.querySelector("span").textContent = page.querySelector("[data-explanation]")?.textContent.trim().replace(/\s+/g, " ") ?? "";
    told.hidden = false;
    document.getElementById("give-back").hidden = true;
    autoForm.hidden = true;
    spoken.textContent = told.querySelector("p").textContent.trim().replace(/\s+/g, " ");
  });

  // The answer may be sent by a frame inside the task's frame.
  function fromTask(source) {
    for (let at = source; at && at !== window; at = at.parent) if (at === frame.contentWindow) return true;
    return false;
  }

  window.addEventListener("message", async (event) => {
    if (event.origin !== (nameless ? "null" : window.location.origin) || !fromTask(event.source)) return;
    const kind = event.data && event.data.kind;
    if (nameless && kind === "go-on") return window.location.assign(after);
    // A frame of the task may show again what became of an earlier HIT.
    if (kind !== "answer" || event.data.assignment !== assignment || (nameless && !(await answered()))) return;
    if (autoButton.getAttribute("aria-checked") !== "true") return window.location.assign(after);
    sessionStorage.setItem(SENT, String(Date.now()));
    document.getElementById("accept-next").submit();
  });
})();
