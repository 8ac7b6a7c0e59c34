// What a written question must be: what hits/text/questions/question_rules.py says on the server, where the reasons are. This file
// knows no page; it needs task/language.js and task/words.js. A test runs both; change them together.
"use strict";
window.questionRules = (function () {
  const SHOWN = 3, SHOWN_LONGEST = 20, LETTER = /\p{L}/u;
  const UNSEEN = /\p{Cf}/gu, APOSTROPHES = /[`\u00b4\u02bb\u02bc\u2018\u201b\u2032\uff07]/g;
  const THE_COUNTRY = /(?<![\p{L}\p{M}\p{N}])the +us(?![\p{L}\p{M}\p{N}])/giu;
  const COUNTRY = /(?<![\p{L}\p{M}\p{N}])US(?![\p{L}\p{M}\p{N}])/gu;

  function plain(text) {
    return text.replace(UNSEEN, "").replace(APOSTROPHES, "'").normalize("NFKC");
  }

  function questionWords(text) {
    return words(plain(text));
  }

  function withoutCountry(text) {
    const rest = plain(text).replace(THE_COUNTRY, " ");
    return rest === rest.toUpperCase() ? rest : rest.replace(COUNTRY, " ");
  }

  function asked(text) {
    return questionWords(text).join(" ");
  }

  // `rules` are { fewest_words, openings, narrator, longest }, the middle two sets of words.
  function faults(text, place, rules) {
    const found = questionWords(text), least = counted(rules.fewest_words), length = [...text].length;
    if (!found.length) return [phrase(gettext("%(place)s is not written yet. Ask in at least %(least)s."), { place, least })];
    const short = gettext("%(place)s has %(words)s. Ask in at least %(least)s.");
    const long = gettext("%(place)s has %(length)s characters. Shorten it to %(most)s or fewer.");
    const told = [
      openingFault(place, found, rules.openings),
      found.length < rules.fewest_words ? phrase(short, { place, words: counted(found.length), least }) : "",
      narratorFault(place, questionWords(withoutCountry(text)), rules.narrator),
      length > rules.longest ? phrase(long, { place, length: figure(length), most: rules.longest }) : "",
    ];
    return told.filter(Boolean);
  }

  function openingFault(place, found, openings) {
    const first = found.find((word) => LETTER.test(word)) ?? "";
    const forms = [first, first.split("'")[0], first.replace(/n't$/, ""), first.replace(/nt$/, "")];
    if (!forms.some((form) => openings.has(form))) return "";
    const text = gettext("%(place)s begins with %(word)s, so yes or no would answer it. Begin with what, who, where, when or how.");
    return phrase(text, { place, word: quoted(first) });
  }

  function narratorFault(place, found, narrator) {
    const said = [...new Set(found.filter((word) => narrator.has(word) || narrator.has(word.split("'")[0])))];
    if (!said.length) return "";
    const text = gettext("%(place)s says %(words)s. Call whoever tells the story “they”, as in they, them, their.");
    return phrase(text, { place, words: said.slice(0, SHOWN).map(quoted).join(", ") });
  }

  function quoted(word) {
    const signs = [...(word.split("'")[0] === "i" ? `I${word.slice(1)}` : word)];
    return signs.length <= SHOWN_LONGEST ? `“${signs.join("")}”` : `“${signs.slice(0, SHOWN_LONGEST).join("")}…”`;
  }

  function counted(count) {
    return phrase(ngettext("%(count)s word", "%(count)s words", count), { count: figure(count) });
  }

  return { questionWords, asked, faults };
})();
