// Seconds that are left, as a clock shows them: 1:05:09, 09:59.
"use strict";
window.timeLeft = (seconds) => {
  const pad = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = pad(Math.floor((seconds % 3600) / 60)) + ":" + pad(seconds % 60);
  return hours ? hours + ":" + rest : rest;
};
