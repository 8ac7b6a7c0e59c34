// The words of these scripts in the language of the page: gettext, ngettext and interpolate, as Django's catalogue for
// scripts defines them. Where it is not there, be it that the page is in English or that it did not load, the words are
// the English ones of the scripts themselves.
"use strict";
(function () {
  window.gettext ??= (text) => text;
  window.ngettext ??= (one, many, count) => (count === 1 ? one : many);
  window.interpolate ??= (text, values) => text.replace(/%\(\w+\)s/g, (name) => String(values[name.slice(2, -2)]));
  window.phrase = (text, values) => interpolate(text, values, true); // of a text that is translated already
  window.figure = (number) => number.toLocaleString(document.documentElement.lang || "en");
})();
