// What a word is, for pages where people write: `words(text)` gives what hits/text/language/words.py does on the server, and
// `words.count(text)` counts them in a text of several lines as hits/text/written.py keeps it.
// A test runs both sides; change them together.
"use strict";
(function () {
  const PART = "[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}]*";
  const WORD = new RegExp(`${PART}(?:'${PART})*`, "gu");
  const LINE_END = /\r\n|[\n\v\f\r\x85\u2028\u2029]/;
  const CONTROL = /[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]|\p{Cs}/gu; // line ends are gone by then, and a tab is a space
  const SEEN = /[^\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u;

  function words(text) {
    const plain = text.normalize("NFC").toLowerCase().replaceAll("\u2019", "'").replaceAll("\u03c2", "\u03c3");
    return plain.match(WORD) || [];
  }

  words.count = function (text) {
    const lines = text.split(LINE_END).map((line) => line.replaceAll(CONTROL, ""));
    return words(lines.filter((line) => SEEN.test(line)).join("\n")).length;
  };

  window.words = words;
})();
