// Before everything else in a page that loads scripts or style sheets from elsewhere. A browser stops reading a page at
// a script until it is there, for minutes where its address never answers, and the worker sees nothing to submit. So the
// page is kept as a text until each address has answered or the time is over, and is written without those that did not.
"use strict";
(function () {
  const LONGEST = 4000; // milliseconds
  const addresses = JSON.parse(document.currentScript.dataset.addresses);
  if (!document.createElement("link").relList.supports("preload")) return;
  const type = document.doctype;
  const top = (type ? new XMLSerializer().serializeToString(type) : "") + document.documentElement.cloneNode(false).outerHTML.replace(/<\/html>$/i, "");
  // What follows in the page is text to the browser until the page is written anew.
  document.write('<plaintext style="display:none">');

  document.addEventListener("DOMContentLoaded", async () => {
    let rest = document.querySelector("plaintext").textContent;
    const answered = await Promise.all(addresses.map(load));
    addresses.forEach(({ written, instead }, at) => {
      if (!answered[at]) rest = rest.replaceAll(written, () => instead);
    });
    document.open();
    document.write(top + rest);
    document.close();
  });

  function load({ address, kind }) {
    return new Promise((done) => {
      const link = document.createElement("link");
      Object.assign(link, { rel: "preload", as: kind, href: address, onload: () => done(true), onerror: () => done(false) });
      setTimeout(() => done(false), LONGEST);
      document.head.append(link);
    });
  }
})();
