// The common crowd-html-elements, written anew: forms, inputs, sliders, text areas, radio buttons, checkboxes, buttons,
// classifiers and instructions. Each one draws ordinary HTML controls inside itself, so that labels, keyboard and
// screen readers work as in any form. A crowd-form sends one field, taskAnswers, with a JSON list of one object;
// with answer-format="flatten-objects" it sends each value under its path, such as sentiment.label.
"use strict";
(function () {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("crowd-html-elements.css", document.currentScript.src).href;
  (document.head || document.documentElement).append(style);

  let made = 0;
  const OURS = new Set(["assignmentId", "workerId", "taskAnswers"]);

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  const flag = (host, name) => host.hasAttribute(name) && host.getAttribute(name) !== "false";

  function copy(host, target, names) {
    for (const name of names) {
      if (host.hasAttribute(name)) target.setAttribute(name, host.getAttribute(name));
    }
    for (const name of ["required", "disabled", "readonly", "autofocus"]) {
      if (flag(host, name)) target.setAttribute(name, "");
    }
  }

  // What is inside an element when it is drawn stays inside what is drawn.
  function contents(host) {
    return [...host.childNodes];
  }

  class Crowd extends HTMLElement {
    connectedCallback() {
      if (this.drawn) return;
      this.drawn = true;
      this.draw();
    }
    focus() {
      const control = this.querySelector("input, textarea, button");
      if (control) control.focus();
    }
  }

  class Field extends Crowd {
    get value() { return this.control ? this.control.value : this.getAttribute("value") || ""; }
    set value(text) { if (this.control) this.control.value = text; else this.setAttribute("value", text); }
    drawField(control) {
      this.control = control;
      control.id = "crowd-" + ++made;
      control.name = this.getAttribute("name") || "";
      const label = this.getAttribute("label") || "";
      if (label) this.append(element("label", { for: control.id }, label));
      else control.setAttribute("aria-label", this.getAttribute("aria-label") || this.getAttribute("placeholder") || control.name);
      const longest = this.getAttribute("max-length");
      if (longest) control.setAttribute("maxlength", longest);
      const pattern = this.getAttribute("pattern") || this.getAttribute("allowed-pattern");
      if (pattern && control.tagName === "INPUT") control.setAttribute("pattern", pattern);
      this.append(control);
      const message = this.getAttribute("error-message");
      if (message) {
        control.addEventListener("invalid", () => control.setCustomValidity(message));
        control.addEventListener("input", () => control.setCustomValidity(""));
      }
    }
  }

  class CrowdInput extends Field {
    draw() {
      const control = element("input", { type: this.getAttribute("type") || "text" });
      copy(this, control, ["placeholder", "value", "min", "max", "step", "minlength", "maxlength", "list"]);
      this.drawField(control);
    }
  }

  // A slider alone shows no number.
  class CrowdSlider extends Field {
    draw() {
      const control = element("input", { type: "range" });
      copy(this, control, ["min", "max", "step", "value"]);
      this.drawField(control);
      this.shown = element("output", { for: control.id, class: "crowd-number" }, control.value);
      control.addEventListener("input", () => { this.shown.textContent = control.value; });
      this.append(this.shown);
    }
    get value() { return super.value; }
    set value(number) { super.value = number; if (this.shown) this.shown.textContent = this.control.value; }
  }

  class CrowdTextArea extends Field {
    draw() {
      const text = this.getAttribute("value") || this.textContent.trim();
      this.textContent = "";
      const control = element("textarea", { rows: this.getAttribute("rows") || "3" });
      copy(this, control, ["placeholder", "minlength", "maxlength"]);
      control.value = text;
      control.defaultValue = text;
      this.drawField(control);
    }
  }

  class Tick extends Crowd {
    get checked() { return this.control ? this.control.checked : this.hasAttribute("checked"); }
    set checked(on) { if (this.control) this.control.checked = on; else this.toggleAttribute("checked", on); }
    get value() { return this.control ? this.control.value : this.getAttribute("value") || "on"; }
    drawTick(type, name, value) {
      const inside = contents(this);
      this.control = element("input", { type, name, value });
      copy(this, this.control, []);
      this.control.defaultChecked = flag(this, "checked");
      this.append(element("label", { class: "crowd-tick" }, this.control, element("span", {}, ...inside)));
    }
  }

  class CrowdCheckbox extends Tick {
    draw() { this.drawTick("checkbox", this.getAttribute("name") || "", this.getAttribute("value") || "on"); }
  }

  // Buttons of one group have names of their own in the answer. In the page they share one, so that the browser keeps
  // to one choice, lets arrow keys move it, and looks at what is required.
  class CrowdRadioButton extends Tick {
    draw() {
      const group = this.closest("crowd-radio-group");
      const name = this.getAttribute("name") || (group && group.getAttribute("name")) || "";
      this.drawTick("radio", group ? group.shared() : name, this.getAttribute("value") || "on");
      this.control.dataset.crowdName = name;
      if (group && flag(group, "required")) this.control.required = true;
      if (group && flag(group, "disabled")) this.control.disabled = true;
    }
  }

  class CrowdRadioGroup extends Crowd {
    draw() {
      this.setAttribute("role", "radiogroup");
      const label = this.getAttribute("label");
      if (label) {
        const heading = element("div", { class: "crowd-label", id: "crowd-" + ++made }, label);
        this.prepend(heading);
        this.setAttribute("aria-labelledby", heading.id);
      }
      if (flag(this, "allow-empty-selection")) this.addEventListener("click", (event) => this.empty(event), true);
      // A crowd-form names all its answers itself.
      if (!this.closest("crowd-form")) this.closest("form")?.addEventListener("formdata", (event) => this.name(event.formData));
    }
    shared() {
      this.sharedName ??= "crowd-group-" + ++made;
      return this.sharedName;
    }
    name(data) {
      data.delete(this.shared());
      const chosen = this.querySelector("input[type=radio]:checked:enabled");
      if (chosen && chosen.dataset.crowdName) data.append(chosen.dataset.crowdName, chosen.value);
    }
    get value() {
      const chosen = this.querySelector("input[type=radio]:checked");
      return chosen ? chosen.value : "";
    }
    // A second click on what is chosen takes the choice back.
    empty(event) {
      const radio = event.target;
      if (!(radio instanceof HTMLInputElement) || radio.type !== "radio") return;
      if (this.last === radio) radio.checked = false;
      this.last = radio.checked ? radio : null;
    }
  }

  class CrowdButton extends Crowd {
    draw() {
      const inside = contents(this);
      const address = this.getAttribute("href");
      const kind = this.getAttribute("variant") === "primary" ? "crowd-primary" : "";
      const action = this.getAttribute("form-action");
      this.control = address
        ? element("a", { href: address, target: this.getAttribute("target") || "_blank", rel: "noopener noreferrer", class: "crowd-button " + kind }, ...inside)
        : element("button", { type: ["submit", "reset"].includes(action) ? action : "button", class: "crowd-button " + kind }, ...inside);
      if (!address) copy(this, this.control, []);
      this.append(this.control);
    }
    get disabled() { return this.control ? Boolean(this.control.disabled) : this.hasAttribute("disabled"); }
    set disabled(off) { if (this.control) this.control.disabled = off; this.toggleAttribute("disabled", off); }
  }

  function instructions(host, tag, heading) {
    const found = host.querySelector(tag);
    return found ? element("section", {}, element("p", { class: "crowd-heading" }, found.getAttribute("header") || heading), found) : null;
  }

  class CrowdInstructions extends Crowd {
    draw() {
      const inside = element("div", { class: "crowd-told" });
      const details = element("details", {}, element("summary", {}, this.getAttribute("link-text") || "Instructions"), inside);
      const parts = [["short-summary", "Summary"], ["detailed-summary", "Instructions"], ["positive-example", "Good example"], ["negative-example", "Bad example"], ["tips", "Tips"]];
      const sections = parts.map(([tag, heading]) => instructions(this, tag, heading)).filter(Boolean);
      inside.append(...sections, ...contents(this));
      this.append(details);
    }
  }

  // The attribute is JSON; the documentation's own examples have single quotes in it.
  function list(text) {
    for (const each of [text, text.replaceAll("'", '"')]) {
      try {
        const found = JSON.parse(each);
        if (Array.isArray(found)) return found.map(String);
      } catch { /* the next spelling */ }
    }
    return text.split(",").map((part) => part.trim()).filter(Boolean);
  }

  class CrowdClassifier extends Crowd {
    draw() {
      const name = this.getAttribute("name") || "";
      const target = this.querySelector("classification-target");
      const short = instructions(this, "short-instructions", "Instructions");
      const full = this.querySelector("full-instructions");
      const heading = this.getAttribute("header") || "Choose a category";
      const choices = list(this.getAttribute("categories") || "[]").map((category) =>
        element("label", { class: "crowd-tick" }, element("input", { type: "radio", name, value: category, required: true, "data-crowd-label": true }), element("span", {}, category)));
      const rest = contents(this).filter((node) => node !== target && node !== full);
      const told = element("div", { class: "crowd-told" }, ...[short].filter(Boolean));
      if (full) told.append(element("details", {}, element("summary", {}, full.getAttribute("header") || "More instructions"), full));
      const asked = element("div", { class: "crowd-asked" }, ...[target].filter(Boolean),
        element("fieldset", {}, element("legend", {}, heading), ...choices));
      this.append(told, asked, ...rest);
    }
    get value() {
      const chosen = this.querySelector("input[data-crowd-label]:checked");
      return { label: chosen ? chosen.value : "" };
    }
  }

  // Every named control of the form, in the documented shapes.
  function answers(form) {
    const found = {};
    for (const control of form.elements) {
      const { type } = control;
      const name = control.dataset.crowdName ?? control.name;
      if (!name || control.disabled || OURS.has(name) || ["submit", "button", "reset", "image", "file", "fieldset", "output"].includes(type)) continue;
      if (control.dataset.crowdLabel !== undefined) {
        if (control.checked) found[name] = { label: control.value };
      } else if (type === "radio" || type === "checkbox") {
        if (typeof found[name] !== "object" || found[name] === null) found[name] = {};
        found[name][control.value] = control.checked;
      } else if (type === "select-multiple") {
        found[name] = [...control.selectedOptions].map((option) => option.value);
      } else {
        found[name] = control.value;
      }
    }
    return found;
  }

  function flattened(value, path, into) {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) flattened(inner, path ? path + "." + name : name, into);
    } else {
      into.push([path, Array.isArray(value) ? value.join("|") : String(value)]);
    }
    return into;
  }

  class CrowdForm extends Crowd {
    draw() {
      this.form = element("form", { method: "post", action: "" }, ...contents(this));
      const own = 'crowd-button[form-action="submit"], button:not([type=button], [type=reset]), input[type=submit]';
      this.append(this.form);
      if (!this.form.querySelector(own)) {
        this.form.append(element("crowd-button", { "form-action": "submit", variant: "primary" }, "Submit"));
      }
      this.form.addEventListener("formdata", (event) => this.answer(event.formData));
    }
    answer(data) {
      const whose = ["assignmentId", "workerId"].map((name) => [name, data.get(name)]);
      const found = answers(this.form);
      const flat = this.getAttribute("answer-format") === "flatten-objects";
      for (const name of new Set(data.keys())) data.delete(name);
      for (const [name, value] of whose) if (value !== null) data.set(name, value);
      if (!flat) data.set("taskAnswers", JSON.stringify([found]));
      else for (const [path, value] of flattened(found, "", [])) data.append(path, value);
    }
    // As the original: without looking at what is required.
    submit() { this.form.submit(); }
    reset() { this.form.reset(); }
  }

  const elements = {
    "crowd-form": CrowdForm, "crowd-input": CrowdInput, "crowd-slider": CrowdSlider, "crowd-text-area": CrowdTextArea, "crowd-radio-group": CrowdRadioGroup,
    "crowd-radio-button": CrowdRadioButton, "crowd-checkbox": CrowdCheckbox, "crowd-button": CrowdButton,
    "crowd-classifier": CrowdClassifier, "crowd-instructions": CrowdInstructions,
  };

  // Not before the page is whole: an element is drawn around what it holds.
  function start() {
    for (const [name, kind] of Object.entries(elements)) {
      if (!customElements.get(name)) customElements.define(name, kind);
    }
    document.dispatchEvent(new CustomEvent("all-crowd-elements-ready"));
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
