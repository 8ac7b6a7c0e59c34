// The crowd-html-elements that ask about texts and whole pictures, and those that arrange a page, written anew. Each one draws ordinary HTML controls inside itself, so that labels, keyboard and
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

  class CrowdToggleButton extends CrowdCheckbox {
    draw() {
      const said = this.textContent.trim();
      super.draw();
      this.control.setAttribute("role", "switch");
      if (!said) this.control.setAttribute("aria-label", this.getAttribute("aria-label") || this.control.name);
    }
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

  // The attribute is JSON; the documentation's own examples have single quotes in it, and names without any.
  function parsed(text) {
    for (const each of [text, text.replaceAll("'", '"'), text.replaceAll("'", '"').replace(/([{,]\s*)(\w+)\s*:/g, '$1"$2":')]) {
      try {
        return JSON.parse(each);
      } catch { /* the next spelling */ }
    }
    return null;
  }

  function list(text) {
    const found = parsed(text);
    return Array.isArray(found) ? found.map(String) : text.split(",").map((part) => part.trim()).filter(Boolean);
  }

  // What surrounds the question of all elements that ask for labels.
  function told(host) {
    const full = host.querySelector("full-instructions");
    const short = instructions(host, "short-instructions", "Instructions");
    const box = element("div", { class: "crowd-told" }, ...[short].filter(Boolean));
    if (full) box.append(element("details", {}, element("summary", {}, full.getAttribute("header") || "More instructions"), full));
    return box;
  }

  // One label, or several where the element's name says so; of a picture where it has one.
  class CrowdClassifier extends Crowd {
    draw() {
      const name = this.getAttribute("name") || "";
      const several = this.localName.endsWith("-multi-select");
      const source = this.getAttribute("src");
      const heading = this.getAttribute("header") || (several ? "Choose all that apply" : "Choose a category");
      const target = this.querySelector("classification-target") || (source ? element("img", { src: source, alt: "Picture", class: "crowd-picture" }) : "");
      const none = several ? (parsed(this.getAttribute("exclusion-category") || "") || {}).text : "";
      const choices = [...list(this.getAttribute("categories") || "[]"), ...[none].filter(Boolean)].map((category) =>
        element("label", { class: "crowd-tick" },
          element("input", { type: several ? "checkbox" : "radio", name, value: category, required: !several, "data-crowd-label": true }), element("span", {}, category)));
      const box = told(this);
      const rest = contents(this).filter((node) => node !== target);
      const asked = element("div", { class: "crowd-asked" }, target, element("fieldset", {}, element("legend", {}, heading), ...choices));
      if (none) asked.addEventListener("change", ({ target }) => this.exclude(target, none));
      this.append(box, asked, ...rest);
    }
    // "None of these" and the others clear each other.
    exclude(changed, none) {
      for (const box of this.chosen()) if (changed.checked && (box.value === none) !== (changed.value === none)) box.checked = false;
    }
    chosen() { return [...this.querySelectorAll("input[data-crowd-label]:checked")]; }
    get value() {
      const labels = this.chosen().map((box) => box.value);
      return this.localName.endsWith("-multi-select") ? { labels } : { label: labels[0] || "" };
    }
  }

  // The text can be selected by mouse, touch and keyboard (it has a cursor, and takes no change). Offsets count
  // characters as Unicode does, not halves of them as JavaScript.
  class CrowdEntityAnnotation extends Crowd {
    draw() {
      const heading = element("p", { class: "crowd-heading", id: "crowd-" + ++made }, this.getAttribute("header") || "Mark the text");
      const how = element("p", { id: "crowd-" + ++made }, "Select a part of the text, by mouse or with Shift and the arrow keys, then choose its label.");
      const labels = parsed(this.getAttribute("labels") || "[]");
      this.labels = (Array.isArray(labels) ? labels : []).map((one) => (typeof one === "object" && one ? one : { label: String(one) }));
      this.characters = [...(this.getAttribute("text") || "")];
      this.box = element("div", { class: "crowd-text", contenteditable: "true", role: "textbox", "aria-readonly": "true", "aria-multiline": "true", inputmode: "none",
        "aria-labelledby": heading.id, "aria-describedby": how.id, spellcheck: "false", dir: "auto" });
      this.listed = element("ul", { class: "crowd-marked", "aria-label": "Marked" });
      this.control = element("input", { type: "hidden", name: this.getAttribute("name") || "annotations", "data-crowd-json": true });
      const buttons = this.labels.map((one) => {
        const button = element("button", { type: "button", class: "crowd-button" }, one.fullDisplayName || one.label);
        button.addEventListener("mousedown", (event) => event.preventDefault());
        button.addEventListener("click", () => this.mark(one.label));
        return button;
      });
      this.append(told(this), element("div", { class: "crowd-asked" }, heading, how, element("div", { class: "crowd-labels", role: "group", "aria-label": "Labels" }, ...buttons), this.box, this.listed), this.control);
      document.addEventListener("selectionchange", () => this.look());
      this.box.addEventListener("beforeinput", (event) => event.preventDefault());
      this.box.addEventListener("input", () => this.show());
      this.begin();
      // The original sends itself, so that pages put no form around it.
      if (!this.closest("form, crowd-form")) {
        const place = document.createComment("");
        const form = element("crowd-form");
        this.replaceWith(place);
        form.append(this);
        place.replaceWith(form);
      }
      this.closest("form")?.addEventListener("reset", () => this.begin());
    }
    begin() {
      const first = parsed(this.getAttribute("initial-value") || "[]");
      this.entities = [];
      for (const { label, startOffset, endOffset } of Array.isArray(first) ? first : []) this.add(label, startOffset, endOffset);
      this.show();
    }
    get value() { return { entities: this.entities }; }
    // What is selected in the text stays so while a label is chosen.
    look() {
      const selection = document.getSelection();
      if (!selection.rangeCount || !this.box.contains(selection.anchorNode) || !this.box.contains(selection.focusNode)) return;
      const range = selection.getRangeAt(0);
      this.selected = [this.offset(range.startContainer, range.startOffset), this.offset(range.endContainer, range.endOffset)];
    }
    offset(node, at) {
      const before = document.createRange();
      before.selectNodeContents(this.box);
      before.setEnd(node, at);
      return [...before.toString()].length;
    }
    mark(label) {
      this.look(); // the event of the last change may be still to come
      let [start, end] = this.selected || [0, 0];
      while (start < end && !this.characters[start].trim()) start++;
      while (start < end && !this.characters[end - 1].trim()) end--;
      if (start === end) return this.box.focus();
      this.add(label, start, end);
      this.selected = null;
      this.show();
    }
    // A part has one label: the last one counts.
    add(label, startOffset, endOffset) {
      const known = this.labels.some((one) => one.label === label);
      if (!known || !(0 <= startOffset && startOffset < endOffset && endOffset <= this.characters.length)) return;
      const others = this.entities.filter((one) => one.endOffset <= startOffset || one.startOffset >= endOffset);
      this.entities = [...others, { endOffset, label, startOffset }].sort((a, b) => a.startOffset - b.startOffset);
    }
    show() {
      const shown = [];
      let at = 0;
      this.listed.replaceChildren();
      for (const one of this.entities) {
        const named = this.labels.find((each) => each.label === one.label);
        const words = this.characters.slice(one.startOffset, one.endOffset).join("");
        shown.push(this.characters.slice(at, one.startOffset).join(""), element("mark", { "data-label": named.shortDisplayName || one.label }, words));
        at = one.endOffset;
        const drop = element("button", { type: "button", class: "crowd-link", "aria-label": `Remove ${one.label}: ${words}` }, "Remove");
        drop.addEventListener("click", () => {
          this.entities = this.entities.filter((each) => each !== one);
          this.show();
          this.box.focus();
        });
        this.listed.append(element("li", {}, `${named.fullDisplayName || one.label}: ${words} `, drop));
      }
      this.box.replaceChildren(...shown, this.characters.slice(at).join(""));
      this.control.value = JSON.stringify(this.value);
    }
  }

  // A field that must be corrected is shown first: browsers point at nothing that is hidden.
  function reveal(host, open) {
    let done = false;
    host.addEventListener("invalid", (event) => {
      if (!done) open(event.target);
      done = true;
      setTimeout(() => { done = false; });
    }, true);
  }

  class CrowdTabs extends Crowd {
    draw() {
      const panels = [...this.querySelectorAll("crowd-tab")].filter((tab) => tab.closest("crowd-tabs") === this);
      const buttons = panels.map((panel, at) => {
        panel.id ||= "crowd-" + ++made;
        const button = element("button", { type: "button", role: "tab", id: "crowd-" + ++made, "aria-controls": panel.id, class: "crowd-tab" }, panel.getAttribute("header") || String(at + 1));
        panel.setAttribute("role", "tabpanel");
        panel.setAttribute("aria-labelledby", button.id);
        button.addEventListener("click", () => open(at));
        return button;
      });
      const open = (at) => buttons.forEach((button, each) => {
        button.setAttribute("aria-selected", String(each === at));
        button.tabIndex = each === at ? 0 : -1;
        panels[each].hidden = each !== at;
      });
      const bar = element("div", { role: "tablist", class: "crowd-tablist" }, ...buttons);
      bar.addEventListener("keydown", (event) => {
        const at = buttons.indexOf(event.target);
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
        if (to === undefined || at < 0) return;
        event.preventDefault();
        const button = buttons.at(to % buttons.length);
        open(buttons.indexOf(button));
        button.focus();
      });
      this.prepend(bar);
      open(0);
      reveal(this, (field) => open(Math.max(0, panels.findIndex((panel) => panel.contains(field)))));
    }
  }

  class CrowdCard extends Crowd {
    draw() {
      const heading = this.getAttribute("heading");
      const image = this.getAttribute("image");
      if (heading) this.prepend(element("p", { class: "crowd-heading" }, heading));
      if (image) this.prepend(element("img", { src: image, alt: "", class: "crowd-picture" }));
    }
  }

  class CrowdModal extends Crowd {
    draw() {
      const text = this.getAttribute("link-text") || "More";
      const close = element("button", { type: "button", class: "crowd-button" }, "Close");
      const opener = element("button", { type: "button", class: this.getAttribute("link-type") === "button" ? "crowd-button" : "crowd-link" }, text);
      this.dialog = element("dialog", { "aria-label": text, class: "crowd-dialog" }, ...contents(this), close);
      opener.addEventListener("click", () => this.open());
      close.addEventListener("click", () => this.close());
      this.append(opener, this.dialog);
      reveal(this, () => this.open());
    }
    open() { if (!this.dialog.open) this.dialog.showModal(); }
    close() { this.dialog.close(); }
  }

  class CrowdAlert extends Crowd {
    draw() {
      this.setAttribute("role", ["error", "warning"].includes(this.getAttribute("type")) ? "alert" : "status");
      if (!flag(this, "dismissible")) return;
      const close = element("button", { type: "button", class: "crowd-icon", "aria-label": "Close" }, "×");
      close.addEventListener("click", () => this.remove());
      this.append(close);
    }
  }

  // Names of iron-icons; any other is shown as its words.
  const ICONS = { add: "+", "arrow-back": "←", "arrow-forward": "→", cancel: "×", check: "✓", clear: "×", close: "×", create: "✎", done: "✓", favorite: "♥",
    help: "?", home: "⌂", info: "i", mail: "✉", menu: "☰", refresh: "↻", remove: "−", search: "⌕", settings: "⚙", star: "★", warning: "⚠" };

  const words = (icon) => icon.split(":").at(-1).replaceAll("-", " ");

  function drawn(icon) {
    if (icon.includes("/")) return element("img", { src: icon, alt: "" });
    return element("span", { "aria-hidden": "true" }, ICONS[icon.split(":").at(-1)] || words(icon));
  }

  class CrowdBadge extends Crowd {
    draw() {
      const icon = this.getAttribute("icon");
      this.append(element("span", { class: "crowd-label-of" }, icon ? drawn(icon) : this.getAttribute("label") || ""));
      const target = document.getElementById(this.getAttribute("for") || "");
      if (target) target.after(this);
    }
  }

  class CrowdIconButton extends Crowd {
    draw() {
      const icon = this.getAttribute("icon") || "";
      const shown = this.getAttribute("label") || "";
      const name = this.getAttribute("aria-label") || this.getAttribute("title") || this.textContent.trim() || shown || words(icon);
      this.control = element("button", { type: "button", class: "crowd-icon", "aria-label": name }, icon ? drawn(icon) : shown);
      copy(this, this.control, ["title"]);
      this.replaceChildren(this.control);
    }
  }

  class CrowdFab extends CrowdIconButton {}

  class CrowdToast extends Crowd {
    draw() {
      this.setAttribute("role", "status");
      if (this.hasAttribute("text")) this.append(this.getAttribute("text"));
      this.opened = flag(this, "opened");
    }
    get opened() { return !this.hidden; }
    set opened(on) {
      clearTimeout(this.ends);
      this.hidden = !on;
      if (on) this.ends = setTimeout(() => this.hide(), Number(this.getAttribute("duration")) || 3000);
    }
    show() { this.opened = true; }
    hide() { this.opened = false; }
  }

  // Every named control of the form, in the documented shapes.
  function answers(form) {
    const found = {};
    for (const control of form.elements) {
      const { type } = control;
      const name = control.dataset.crowdName ?? control.name;
      if (!name || control.disabled || OURS.has(name) || ["submit", "button", "reset", "image", "file", "fieldset", "output"].includes(type)) continue;
      if (control.dataset.crowdLabel !== undefined) {
        if (type === "checkbox") found[name] ??= { labels: [] };
        if (control.checked && type === "checkbox") found[name].labels.push(control.value);
        else if (control.checked) found[name] = { label: control.value };
      } else if (control.dataset.crowdJson !== undefined) {
        found[name] = JSON.parse(control.value);
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
      into.push([path, !Array.isArray(value) ? String(value) : value.some((one) => typeof one === "object") ? JSON.stringify(value) : value.join("|")]);
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
    "crowd-radio-button": CrowdRadioButton, "crowd-checkbox": CrowdCheckbox, "crowd-toggle-button": CrowdToggleButton, "crowd-button": CrowdButton,
    "crowd-classifier": CrowdClassifier, "crowd-classifier-multi-select": class extends CrowdClassifier {}, "crowd-image-classifier": class extends CrowdClassifier {},
    "crowd-image-classifier-multi-select": class extends CrowdClassifier {}, "crowd-entity-annotation": CrowdEntityAnnotation, "crowd-instructions": CrowdInstructions,
    "crowd-tab": class extends HTMLElement {}, "crowd-tabs": CrowdTabs, "crowd-card": CrowdCard, "crowd-modal": CrowdModal, "crowd-alert": CrowdAlert,
    "crowd-badge": CrowdBadge, "crowd-icon-button": CrowdIconButton, "crowd-fab": CrowdFab, "crowd-toast": CrowdToast,
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
