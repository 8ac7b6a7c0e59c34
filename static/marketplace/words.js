// What scripts say, in the language of the page; in English where no catalogue of translations was loaded before this.
"use strict";
(function () {
  window.gettext ??= (text) => text;
  window.ngettext ??= (one, many, count) => (count === 1 ? one : many);
  window.interpolate ??= (text, values) => text.replace(/%\((\w+)\)s/g, (whole, name) => String(values[name]));
})();
