"""axe-core's rules for accessible pages, run inside a page."""

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Frame, Page

LOOKS: list[tuple[int, Literal["light", "dark"]]] = [(1280, "light"), (360, "dark")]
_AXE = Axe().axe_script
# Details of what is well, and sending them here, would take longer than looking.
_RUN = """async options => {
    const found = await axe.run({resultTypes: ["violations"], ...options});
    return found.violations.map(({id, nodes}) => `${id} ${JSON.stringify(nodes.map(node => node.target))}`);
}"""


# What axe-core does not look at: the border of a field against the field and its surroundings (3:1, WCAG 1.4.11), the
# border or the ground of a button against its surroundings (3:1), and a placeholder against its field (4.5:1, 1.4.3).
# Colours are read back from a canvas, whatever way they are written in.
_FIELDS = r"""() => {
  const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = colour => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 255] : [255, 255, 255, 255];
  };
  const light = ([r, g, b]) => [[r, 0.2126], [g, 0.7152], [b, 0.0722]].reduce((sum, [part, weight]) => {
    const share = part / 255;
    return sum + weight * (share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4);
  }, 0);
  const contrast = (one, other) => {
    const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const other = ["hidden", "checkbox", "radio", "range", "file", "submit"].map(type => `[type=${type}]`).join();
  const TYPED = `input:not(${other}), select, textarea`;
  const found = [];
  for (const field of document.querySelectorAll(TYPED)) {
    if (field.disabled || field.matches(":disabled") || !field.checkVisibility()) continue;
    const style = getComputedStyle(field), name = field.name || field.id, own = ground(field);
    const edge = rgba(style.borderTopColor);
    const seen = Math.min(contrast(edge, own), contrast(edge, ground(field.parentElement)));
    if (style.borderTopStyle === "none" || seen < 3) found.push(`border of ${name} ${seen.toFixed(2)}:1`);
    const hint = field.placeholder ? contrast(rgba(getComputedStyle(field, "::placeholder").color), own) : 21;
    if (hint < 4.5) found.push(`placeholder of ${name} ${hint.toFixed(2)}:1`);
  }
  const without = colour => colour[3] === 0;
  for (const one of document.querySelectorAll("button, .button, input:is([type=checkbox], [type=radio])")) {
    const style = getComputedStyle(one), isButton = one.localName !== "input";
    if (one.matches(":disabled, :checked") || !one.checkVisibility()) continue;
    if (!isButton && style.appearance !== "none") continue; // as the browser draws it
    const edge = rgba(style.borderBottomColor), own = rgba(style.backgroundColor), around = ground(one.parentElement);
    const bare = style.borderBottomStyle === "none" || without(edge);
    if (isButton && bare && without(own)) continue; // a link to the eye, which tells itself by its words
    const seen = Math.max(bare ? 1 : contrast(edge, around), without(own) ? 1 : contrast(own, around));
    if (seen < 3) found.push(`border of ${one.name || one.id || one.textContent.trim()} ${seen.toFixed(2)}:1`);
  }
  return [...new Set(found)];
}"""


def violations(page: Page | Frame, **options: Any) -> list[str]:
    """One line for each rule that the page breaks, with the places; `options` are those of axe.run.

    Fields and buttons with a border or a placeholder that cannot be seen are among them.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    found: list[str] = page.evaluate(_RUN, options)
    return found + field_contrasts(page)


def faults_in_both_looks(page: Page, **options: Any) -> list[str]:
    """The violations on a wide light and on a narrow dark screen, and where the page is wider than the screen.

    The page stays on the narrow one.
    """
    found = []
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{width} px, {scheme}: {fault}" for fault in violations(page, **options)]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"wider than {width} px")
    return found


def field_contrasts(page: Page | Frame) -> list[str]:
    """The fields and buttons whose border or placeholder is too faint, each with its contrast."""
    found: list[str] = page.evaluate(_FIELDS)
    return found
