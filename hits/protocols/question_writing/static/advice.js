// What a written answer shares with the paragraph, and how long it is, while it is being typed. This file knows no page:
// it puts functions on `advice`, which compute what hits/text/questions/overlap.py and hits/text/language/words.py do on the server, and
// takes its words from static/task/words.js and their language from static/task/language.js. A test runs both sides; change them together.
"use strict";
(function () {
  const TINY = 1e-9, SHOWN = 5;
  const words = window.words;

  // `little` is the set of the words that carry no text: hits/text/language/words.py hands them to the page.
  function contentWords(text, little) {
    return words(text).map((word) => word.replace(/'s$/, "")).filter((word) => !little.has(word));
  }

  function compared(answer, paragraph, little) {
    const own = [...new Set(contentWords(answer, little))], given = new Set(contentWords(paragraph, little));
    return [own.filter((word) => given.has(word)), own.length];
  }

  function counted(count) {
    return phrase(ngettext("%(count)s word", "%(count)s words", count), { count });
  }

  function listed(found) {
    const more = found.length > SHOWN ? ", ..." : "";
    return found.length ? ` (${found.slice(0, SHOWN).join(", ")}${more})` : "";
  }

  function joined(text, todo) {
    return todo ? `${text} ${todo}` : text;
  }

  function change(total, reused, limits, correct) {
    if (correct) {
      const over = reused - Math.floor(limits.correct_reuse * total + TINY);
      return over > 0 ? phrase(gettext("Say %(count)s or more of them in other words."), { count: over }) : "";
    }
    const under = Math.ceil(limits.incorrect_reuse * total - TINY) - reused;
    return under > 0 ? phrase(gettext("Use %(count)s or more others of its words, so that this answer tempts."), { count: under }) : "";
  }

  function reuseHint(field, answer, paragraph, limits, little) {
    const [reused, total] = compared(answer, paragraph, little);
    const todo = change(total, reused.length, limits, field.startsWith("correct"));
    const told = ngettext("%(count)s of %(total)s main word from the paragraph%(words)s.", "%(count)s of %(total)s main words from the paragraph%(words)s.", total);
    const text = joined(phrase(told, { count: reused.length, total, words: listed(reused) }), todo);
    const share = total ? reused.length / total : 0;
    return { field, kind: "reuse", share, words: reused, level: todo ? "change" : "good", text };
  }

  function lengthHint(field, own, others, limits) {
    const middle = [...others].sort((a, b) => a - b)[Math.floor((others.length - 1) / 2)];
    const most = Math.floor(limits.length_factor * middle + TINY);
    const least = Math.ceil(middle / limits.length_factor - TINY);
    let todo = "";
    if (own > most) todo = phrase(gettext("Shorten it to %(words)s or fewer."), { words: counted(most) });
    else if (own < least) todo = phrase(gettext("Write %(words)s or more."), { words: counted(least) });
    const text = joined(phrase(gettext("%(words)s; the others have about %(middle)s."), { words: counted(own), middle }), todo);
    return { field, kind: "length", share: own / middle, words: [], level: todo ? "change" : "good", text };
  }

  // The hints on every candidate that has a word, correct ones first: objects as the class `Hint` describes
  // them. `limits` are { correct_reuse, incorrect_reuse, length_factor, function_words }.
  function advice(paragraph, correct, incorrect, limits) {
    const little = new Set(limits.function_words);
    const named = [
      ...correct.map((answer, at) => [`correct${at}`, answer]),
      ...incorrect.map((answer, at) => [`incorrect${at}`, answer]),
    ];
    const written = named.map(([field, answer]) => ({ field, answer, length: words(answer).length }));
    const told = written.filter((candidate) => candidate.length);
    return told.flatMap((candidate) => {
      const others = told.filter((other) => other !== candidate).map((other) => other.length);
      const hints = [reuseHint(candidate.field, candidate.answer, paragraph, limits, little)];
      return others.length ? [...hints, lengthHint(candidate.field, candidate.length, others, limits)] : hints;
    });
  }

  window.advice = { contentWords, advice };
})();
