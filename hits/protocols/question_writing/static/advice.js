// What a written answer shares with the paragraph, and how long it is, while it is being typed. This file knows no page:
// it puts functions on `advice`, which compute what hits/text/overlap.py and hits/text/words.py do on the server, and
// takes its words from static/task/words.js. A test runs both sides; change them together.
"use strict";
(function () {
  const TINY = 1e-9, SHOWN = 5;
  const DEFAULTS = { correct_reuse: 0.4, incorrect_reuse: 0.4, length_factor: 2 };
  const words = window.words;
  const FUNCTION_WORDS = new Set(`
    s t d m re ve ll nt n't ca wo sha ai
    a an the this that these those some any each every either neither no none all both half another such other own
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves one ones who whom whose which what someone something anyone
    anything everyone everything nobody nothing
    be am is are was were been being have has had having do does did doing done will would shall should can could may
    might must ought cannot
    i'm i'd i'll i've you're you'd you'll you've he'd he'll she'd she'll it'd it'll we're we'd we'll we've they're
    they'd they'll they've isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't wouldn't shan't
    shouldn't can't couldn't mayn't mightn't mustn't let's
    and or but nor so yet if then else than as because since while until till though although unless whether when
    whenever where wherever why how
    of at by for with about against between into through during before after above below to from up down in out on off
    over under again further once here there near upon within without toward towards across along around behind beside
    besides beyond except inside onto outside per
    not only just also too very more most much many few little less least same even still already almost always never
    often ever quite rather really well oh yes ok okay
  `.trim().split(/\s+/));

  function contentWords(text) {
    return words(text).map((word) => word.replace(/'s$/, "")).filter((word) => !FUNCTION_WORDS.has(word));
  }

  function compared(answer, paragraph) {
    const own = [...new Set(contentWords(answer))], given = new Set(contentWords(paragraph));
    return [own.filter((word) => given.has(word)), own.length];
  }

  function reusedShare(answer, paragraph) {
    const [reused, total] = compared(answer, paragraph);
    return total ? reused.length / total : 0;
  }

  function number(count, noun) {
    return count === 1 ? `${count} ${noun}` : `${count} ${noun}s`;
  }

  function listed(found) {
    const more = found.length > SHOWN ? ", ..." : "";
    return found.length ? ` (${found.slice(0, SHOWN).join(", ")}${more})` : "";
  }

  function change(total, reused, limits, correct) {
    if (correct) {
      const over = reused - Math.floor(limits.correct_reuse * total + TINY);
      return over > 0 ? ` Say ${over} or more of them in other words.` : "";
    }
    const under = Math.ceil(limits.incorrect_reuse * total - TINY) - reused;
    return under > 0 ? ` Use ${under} or more others of its words, so that this answer tempts.` : "";
  }

  function reuseHint(field, answer, paragraph, limits) {
    const [reused, total] = compared(answer, paragraph);
    const todo = change(total, reused.length, limits, field.startsWith("correct"));
    const text = `${reused.length} of ${number(total, "main word")} from the paragraph${listed(reused)}.${todo}`;
    const share = total ? reused.length / total : 0;
    return { field, kind: "reuse", share, words: reused, level: todo ? "change" : "good", text };
  }

  function lengthHint(field, own, others, limits) {
    const middle = [...others].sort((a, b) => a - b)[Math.floor((others.length - 1) / 2)];
    const most = Math.floor(limits.length_factor * middle + TINY);
    const least = Math.ceil(middle / limits.length_factor - TINY);
    let todo = "";
    if (own > most) todo = ` Shorten it to ${number(most, "word")} or fewer.`;
    else if (own < least) todo = ` Write ${number(least, "word")} or more.`;
    const text = `${number(own, "word")}; the others have about ${middle}.${todo}`;
    return { field, kind: "length", share: own / middle, words: [], level: todo ? "change" : "good", text };
  }

  // The hints on every candidate that has a word, correct ones first: objects as the class `Hint` describes them.
  function advice(paragraph, correct, incorrect, limits = DEFAULTS) {
    const named = [
      ...correct.map((answer, at) => [`correct${at}`, answer]),
      ...incorrect.map((answer, at) => [`incorrect${at}`, answer]),
    ];
    const written = named.map(([field, answer]) => ({ field, answer, length: words(answer).length }));
    const told = written.filter((candidate) => candidate.length);
    return told.flatMap((candidate) => {
      const others = told.filter((other) => other !== candidate).map((other) => other.length);
      const hints = [reuseHint(candidate.field, candidate.answer, paragraph, limits)];
      return others.length ? [...hints, lengthHint(candidate.field, candidate.length, others, limits)] : hints;
    });
  }

  window.advice = { contentWords, reusedShare, advice, FUNCTION_WORDS };
})();
