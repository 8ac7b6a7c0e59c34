// The time that is left for a qualification test. The server keeps the deadline; this only shows it.
"use strict";
(function () {
  const body = document.body;
  const clock = document.getElementById("test-clock");
  const spoken = document.getElementById("spoken");
  // Counted from the load of the page, so that a wrong clock on this computer does no harm.
  const end = Date.now() + Number(body.dataset.secondsLeft) * 1000;
  const warnAt = Number(body.dataset.warnAt);
  let warned = false;

  function tick() {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    clock.textContent = left ? interpolate(gettext("%(time)s left"), { time: timeLeft(left) }, true) : gettext("time is over");
    if (left === 0) {
      clock.className = "num late";
      document.getElementById("time-over").hidden = false;
      document.getElementById("hand-in").disabled = true;
      spoken.textContent = gettext("Time is over. Answers can no longer be handed in.");
      return;
    }
    if (left <= warnAt && !warned) {
      warned = true;
      clock.className = "num soon";
      spoken.textContent = interpolate(gettext("%(time)s left to hand in your answers."), { time: timeLeft(left) }, true);
    }
    window.setTimeout(tick, 1000);
  }
  tick();

  // Answers are on this page only: leaving it by mistake would lose them.
  let changed = false;
  const form = document.querySelector(".test-form");
  form.addEventListener("input", () => { changed = true; });
  form.addEventListener("submit", () => { changed = false; });
  window.addEventListener("beforeunload", (event) => { if (changed && Date.now() < end) event.preventDefault(); });
})();
