// First script of every page that a requester wrote: leads its forms to this marketplace, whoever makes them and
// whenever, and switches submitting off in a preview.
"use strict";
(function () {
  const { submitUrl, assignmentId, workerId, acceptFirst, notSent } = document.currentScript.dataset;
  standIn();
  const preview = assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE";
  // The marketplace gives both in the language of the worker; without them they are in English.
  const SAYS = acceptFirst || "Accept the HIT to submit";
  const NOT_SENT = notSent || "This is a preview: nothing was sent. Accept the HIT to submit.";

  // A page without an origin is refused storage and cookies by exceptions, and many pages stop at the first. In their
  // place stands memory that lasts as long as the page: nothing of it is sent, kept, or seen by another page.
  function standIn() {
    for (const name of ["localStorage", "sessionStorage"]) {
      if (refused(() => window[name])) Object.defineProperty(window, name, { configurable: true, enumerable: true, value: memory() });
    }
    if (!refused(() => document.cookie)) return;
    const jar = new Map();
    Object.defineProperty(document, "cookie", {
      configurable: true,
      enumerable: true,
      get: () => [...jar].map(([name, value]) => (name ? name + "=" : "") + value).join("; "),
      set: (text) => keepCookie(jar, String(text)),
    });
  }

  function refused(read) {
    try {
      read();
      return false;
    } catch {
      return true;
    }
  }

  const MOST = 5 * 1024 * 1024; // characters, as browsers have it

  function memory() {
    const kept = new Map();
    const size = () => [...kept].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    const methods = {
      getItem: (name) => kept.get(String(name)) ?? null,
      setItem(name, value) {
        const before = kept.get(String(name));
        kept.set(String(name), String(value));
        if (size() <= MOST) return;
        if (before === undefined) kept.delete(String(name));
        else kept.set(String(name), before);
        throw new DOMException("The storage of this page is full.", "QuotaExceededError");
      },
      removeItem: (name) => void kept.delete(String(name)),
      clear: () => kept.clear(),
      key: (at) => [...kept.keys()][at] ?? null,
    };
    return new Proxy(Object.create(Storage.prototype), {
      get: (target, name) => {
        if (name === "length") return kept.size;
        if (typeof name === "symbol") return Reflect.get(target, name);
        return Object.hasOwn(methods, name) ? methods[name] : kept.get(name);
      },
      set: (target, name, value) => (methods.setItem(name, value), true),
      has: (target, name) => kept.has(name) || name in methods || name === "length",
      deleteProperty: (target, name) => (kept.delete(name), true),
      ownKeys: () => [...kept.keys()],
      getOwnPropertyDescriptor: (target, name) =>
        kept.has(name) ? { value: kept.get(name), writable: true, enumerable: true, configurable: true } : undefined,
    });
  }

  function keepCookie(jar, text) {
    const [pair, ...attributes] = text.split(";").map((part) => part.trim());
    const at = pair.indexOf("=");
    const name = at < 0 ? "" : pair.slice(0, at).trim();
    const told = Object.fromEntries(attributes.map((part) => part.split("=").map((side) => side.trim())).map(([key, value]) => [key.toLowerCase(), value]));
    const gone = "max-age" in told ? Number(told["max-age"]) <= 0 : Date.parse(told.expires) <= Date.now();
    jar.delete(name);
    if (!gone && pair.length <= 4096 && jar.size < 180) jar.set(name, pair.slice(at + 1).trim());
  }

  function isSubmit(address) {
    try {
      return !address || /^\/mturk\/externalsubmit\/*$/i.test(new URL(address, "https://nowhere.invalid/").pathname);
    } catch {
      return false;
    }
  }

  // Fields may stand in the address, too.
  function fieldsOf(address) {
    const at = address.split("#")[0].indexOf("?");
    return at < 0 ? "" : address.split("#")[0].slice(at);
  }

  // The form's own action attribute: a field of the form may be called "action".
  function prepare(form) {
    const action = form.getAttribute("action") || "";
    if (!isSubmit(action)) return false;
    form.setAttribute("action", submitUrl + fieldsOf(action));
    form.setAttribute("method", "post");
    fill(form, "assignmentId", assignmentId);
    if (workerId) fill(form, "workerId", workerId);
    return true;
  }

  function fill(form, name, value) {
    // A field may stand beside its form.
    let field = [...document.querySelectorAll(`input[name=${name}]`)].find((one) => one.form === form);
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = name;
      form.append(field);
    }
    field.value = value;
  }

  function refuse() {
    let note = document.getElementById("preview-says");
    if (!note) {
      note = document.createElement("p");
      note.id = "preview-says";
      note.setAttribute("role", "status");
      note.setAttribute("style", "margin:0;padding:8px 12px;background:#fdf1d8;color:#5c3d00;font:600 14px/1.4 sans-serif");
      (document.body || document.documentElement).prepend(note);
    }
    note.textContent = NOT_SENT;
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented) return;
    const led = prepare(form);
    if (preview && led) {
      event.preventDefault();
      refuse();
    }
  });

  const send = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function () {
    if (prepare(this) && preview) return refuse();
    return send.call(this);
  };

  // Many pages begin their work when everything is loaded. A picture whose address never answers would keep them from it.
  const LONGEST_WAIT = 8000; // milliseconds
  let stopped = false;

  function stopWaiting() {
    if (document.readyState === "complete") return;
    Object.defineProperty(document, "readyState", { configurable: true, get: () => "complete" });
    document.dispatchEvent(new Event("readystatechange"));
    window.dispatchEvent(new Event("load"));
    stopped = true;
  }

  for (const [target, name] of [[window, "load"], [document, "readystatechange"]]) {
    target.addEventListener(name, (event) => stopped && event.stopImmediatePropagation(), true);
  }

  function switchOff(button) {
    const form = button.form;
    if (!form || button.disabled || !isSubmit(form.getAttribute("action") || "")) return;
    button.disabled = true;
    if (button.tagName === "INPUT") button.value = SAYS;
    else button.textContent = SAYS;
  }

  function setUp() {
    for (const form of document.forms) prepare(form);
    if (!preview) return;
    for (const button of document.querySelectorAll("input[type=submit], input[type=image], button:not([type=button], [type=reset])")) switchOff(button);
  }
  document.addEventListener("DOMContentLoaded", setUp);
  document.addEventListener("DOMContentLoaded", () => setTimeout(stopWaiting, LONGEST_WAIT));
  document.addEventListener("all-crowd-elements-ready", setUp);
})();
