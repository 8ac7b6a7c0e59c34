// What a written question must be: what hits/text/question_rules.py says on the server, where the reasons are. This file
// knows no page; it needs task/words.js. A test runs both; change them together.
"use strict";
window.questionRules = (function () {
  const SHOWN = 3, SHOWN_LONGEST = 20, LETTER = /\p{L}/u;
  const UNSEEN = /\p{Cf}/gu, APOSTROPHES = /[`\u00b4\u02bb\u02bc\u2018\u201b\u2032\uff07]/g;

  function questionWords(text) {
    return words(text.replace(UNSEEN, "").replace(APOSTROPHES, "'").normalize("NFKC"));
  }

  function asked(text) {
    return questionWords(text).join(" ");
  }

  // `rules` are { fewest_words, openings, narrator, longest }, the middle two sets of words.
  function faults(text, place, rules) {
    const found = questionWords(text), least = number(rules.fewest_words, "word"), length = [...text].length;
    if (!found.length) return [`${place} is not written yet. Ask in at least ${least}.`];
    const told = [
      openingFault(found, rules.openings),
      found.length < rules.fewest_words ? `has ${number(found.length, "word")}. Ask in at least ${least}.` : "",
      narratorFault(found, rules.narrator),
      length > rules.longest ? `has ${shown(length)} characters. Shorten it to ${rules.longest} or fewer.` : "",
    ];
    return told.filter(Boolean).map((fault) => `${place} ${fault}`);
  }

  function openingFault(found, openings) {
    const first = found.find((word) => LETTER.test(word)) ?? "";
    const forms = [first, first.split("'")[0], first.replace(/n't$/, ""), first.replace(/nt$/, "")];
    if (!forms.some((form) => openings.has(form))) return "";
    return `begins with ${quoted(first)}, so yes or no would answer it. Begin with what, who, where, when or how.`;
  }

  function narratorFault(found, narrator) {
    const said = [...new Set(found.filter((word) => narrator.has(word) || narrator.has(word.split("'")[0])))];
    if (!said.length) return "";
    return `says ${said.slice(0, SHOWN).map(quoted).join(", ")}. Call whoever tells the story “they”, as in they, them, their.`;
  }

  function quoted(word) {
    const signs = [...(word.split("'")[0] === "i" ? `I${word.slice(1)}` : word)];
    return signs.length <= SHOWN_LONGEST ? `“${signs.join("")}”` : `“${signs.slice(0, SHOWN_LONGEST).join("")}…”`;
  }

  function shown(count) {
    return count.toLocaleString("en");
  }

  function number(count, noun) {
    return count === 1 ? `${count} ${noun}` : `${shown(count)} ${noun}s`;
  }

  return { questionWords, asked, faults };
})();
