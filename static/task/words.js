// What a word is, in the browser: what hits/text/words.py says on the server. A test runs both; change them together.
"use strict";
window.wordsOf = (function () {
  const PART = "[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}]*";
  const WORD = new RegExp(`${PART}(?:'${PART})*`, "gu");

  // The words in order, in lower case and composed form.
  return function (text) {
    const plain = text.normalize("NFC").toLowerCase().replaceAll("\u2019", "'").replaceAll("\u03c2", "\u03c3");
    return plain.match(WORD) || [];
  };
})();
