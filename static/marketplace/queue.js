// The queue on My work: counts down the time left of each HIT in hand, and says once when it gets short or is over.
"use strict";
(function () {
  const spoken = document.getElementById("spoken");
  // Counted from the load of the page, so that a wrong clock on this computer does no harm.
  const loaded = Date.now();
  const rows = [...document.querySelectorAll(".held[data-seconds-left]")].map((element) => ({
    element,
    end: loaded + Number(element.dataset.secondsLeft) * 1000,
    warnAt: Number(element.dataset.warnAt),
    shown: element.querySelector(".left"),
    state: "",
  }));
  if (!rows.length) return;

  function enter(row, state, said) {
    if (row.state === state) return;
    row.state = state;
    row.shown.className = "left num " + state;
    if (said) spoken.textContent = row.element.dataset.title + ": " + said;
  }

  function spokenTime(left) {
    if (left < 90) return interpolate(ngettext("%(count)s second left.", "%(count)s seconds left.", left), { count: left }, true);
    const minutes = Math.round(left / 60);
    return interpolate(ngettext("%(count)s minute left.", "%(count)s minutes left.", minutes), { count: minutes }, true);
  }

  function show(row, now) {
    const left = Math.max(0, Math.ceil((row.end - now) / 1000));
    row.shown.textContent = left ? interpolate(gettext("%(time)s left"), { time: timeLeft(left) }, true) : gettext("time is over");
    if (!left) {
      enter(row, "late", gettext("time is over."));
      for (const control of row.element.querySelectorAll(".actions > *")) control.hidden = true;
    } else if (left <= row.warnAt) {
      enter(row, "soon", spokenTime(left));
    }
  }

  function tick() {
    const now = Date.now();
    for (const row of rows) show(row, now);
    if (rows.some((row) => row.state !== "late")) window.setTimeout(tick, 1000);
  }

  for (const row of rows) {
    row.shown.hidden = false;
    row.element.querySelector(".by").hidden = true;
  }
  tick();
})();
