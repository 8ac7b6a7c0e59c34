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
    if (seconds < 60) return seconds + (seconds === 1 ? " second" : " seconds");
    const minutes = Math.round(seconds / 60);
    return minutes + (minutes === 1 ? " minute" : " minutes");
  }

  function expire() {
    clock.textContent = "time is over";
    clock.className = "late";
    document.getElementById("running-out").hidden = true;
    document.getElementById("time-over").hidden = false;
    document.getElementById("give-back").hidden = true;
    autoForm.hidden = true;
    spoken.textContent = "Time is over. This HIT went back to the others. It does not count against you.";
  }

  function tick() {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    if (left === 0) return expire();
    clock.textContent = timeLeft(left) + " left";
    if (left <= warnAt && !warned) {
      warned = true;
      clock.className = "soon";
      document.getElementById("left-words").textContent = words(left);
      document.getElementById("running-out").hidden = false;
      spoken.textContent = words(left) + " left to submit this HIT.";
    }
    if (left <= 30 && warnAt > 30 && !finalCall) {
      finalCall = true;
      document.getElementById("left-words").textContent = words(left);
      spoken.textContent = words(left) + " left to submit this HIT.";
    }
    window.setTimeout(tick, 1000 - ((Date.now() - end) % 1000 + 1000) % 1000 || 1000);
  }
  tick();

  // HITs of one group look alike: without a word, the next one looks like an answer that was lost.
  const SENT = "sent-at";
  if (Date.now() - Number(sessionStorage.getItem(SENT)) < 10000) {
    document.getElementById("sent").hidden = false;
    spoken.textContent = "Sent. This is the next HIT.";
  }
  sessionStorage.removeItem(SENT);

  // Without this the switch is a form that loads the page anew, and the task frame with it.
  autoForm.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(autoForm, autoButton);
    const response = await fetch(autoForm.action, { method: "POST", body: data, headers: { Accept: "application/json" } }).catch(() => null);
    if (!response || !response.ok) {
      spoken.textContent = "The switch could not be set. Try again.";
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

  // While it is in hand, `after` leads back to this page; for who is done for a panel, on to the completion page.
  async function answered() {
    const reply = await fetch(after).catch(() => null);
    return reply !== null && reply.ok && new URL(reply.url).pathname !== window.location.pathname;
  }

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
