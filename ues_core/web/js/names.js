// Accessible names and descriptions by the basics of accname 1.2. Text is never computed through a secret.

import {
  attr, buttonLabels, byId, checkVisibility, closest, composedChildren, firstElementChild, nextElement, inputLabels, inputType, inputValue, isHtml, matches,
  localName, meterLabels, nodeType, outputLabels, progressLabels, selectLabels, selectedOptions, optionText,
  shadowRootOf, styleOf, styleValue, textContent, textData, textareaLabels, textareaValue, ELEMENT, TEXT, collectionItem,
  collectionLength,
} from "./dom.js";
import { isEditingHost, NAMED_BY_CONTENT, roleOf } from "./roles.js";
import { isSecret } from "./secrets.js";
import { cut, normalise, tidy, DESCRIPTION_LIMIT } from "./text.js";

const TEXT_BUDGET = 4000;
const SHOWN = { visibilityProperty: true };
const GROUPED = ":is(fieldset, [role=group], [role=radiogroup]) *";
const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "meta", "link", "title", "datalist"]);
const LABELS = {
  input: inputLabels, textarea: textareaLabels, select: selectLabels, button: buttonLabels, meter: meterLabels,
  progress: progressLabels, output: outputLabels,
};
const BUTTON_DEFAULTS = { submit: "Submit", reset: "Reset", image: "Submit" };

/** {name, source}: the accessible name, normalised, and whether it was authored or gathered. */
export function nameOf(el, role) {
  const walk = { seen: new Set([el]), left: TEXT_BUDGET };
  const authored = normalise(authoredName(el, walk));
  if (authored !== "") return { name: authored, source: "label" };
  if (NAMED_BY_CONTENT.has(role) || isNamedAnyway(el, role)) {
    const gathered = normalise(isSecret(el) ? "" : contentOf(el, walk));
    if (gathered !== "") return { name: gathered, source: "content" };
  }
  const title = normalise(attr(el, "title") || "");
  if (title !== "") return { name: title, source: "label" };
  const hint = normalise(attr(el, "placeholder") || attr(el, "aria-placeholder") || "");
  return hint !== "" ? { name: hint, source: "label" } : { name: "", source: "content" };
}

// A focusable thing without a role, a label, a summary: a person knows it by its text.
function isNamedAnyway(el, role) {
  const tag = localName(el);
  if (tag === "label" || tag === "summary" || tag === "legend") return true;
  return (role === "generic" || role === "") && !isEditingHost(el);
}

function authoredName(el, walk) {
  const byLabelled = labelledBy(el, "aria-labelledby", walk);
  if (byLabelled !== "") return byLabelled;
  const label = attr(el, "aria-label");
  if (label !== null && label.trim() !== "") return label;
  return isHtml(el) ? nativeName(el, walk) : svgTitle(el);
}

function labelledBy(el, attribute, walk) {
  const ids = attr(el, attribute);
  if (ids === null || ids.trim() === "") return "";
  const parts = [];
  for (const id of ids.trim().split(/\s+/)) {
    const target = byId(el, id);
    if (target === null) continue;
    const inner = { seen: new Set(), left: walk.left, hiddenToo: !checkVisibility(target, SHOWN) };
    const own = target === el ? "" : attr(target, "aria-label");
    parts.push(own !== null && own.trim() !== "" ? own : referencedText(target, inner));
  }
  return parts.join(" ");
}

function referencedText(target, walk) {
  const role = roleOf(target);
  const embedded = embeddedValue(target, role);
  if (embedded !== null) return embedded;
  const native = isHtml(target) ? nativeName(target, walk) : svgTitle(target);
  return native.trim() !== "" ? native : contentOf(target, walk);
}

function nativeName(el, walk) {
  const tag = localName(el);
  const labelsOf = LABELS[tag];
  if (labelsOf !== undefined) {
    const text = labelText(el, labelsOf(el), walk);
    if (text !== "") return text;
  }
  switch (tag) {
    case "input":
      return inputName(el);
    case "img":
    case "area":
      return attr(el, "alt") || "";
    case "fieldset":
      return childText(el, "legend", walk);
    case "figure":
      return childText(el, "figcaption", walk);
    case "table":
      return childText(el, "caption", walk);
    case "optgroup":
    case "option":
      return attr(el, "label") || "";
    default:
      return "";
  }
}

function inputName(el) {
  const type = inputType(el);
  if (type === "button" || type === "submit" || type === "reset") {
    const value = inputValue(el);
    return value !== "" ? value : BUTTON_DEFAULTS[type] ?? "";
  }
  if (type === "image") return attr(el, "alt") || attr(el, "title") || BUTTON_DEFAULTS.image;
  return "";
}

function labelText(el, labels, walk) {
  if (labels === null) return "";
  const parts = [];
  for (const label of labels) {
    const inner = { seen: walk.seen, left: walk.left };
    const own = attr(label, "aria-label");
    parts.push(own !== null && own.trim() !== "" ? own : contentOf(label, inner));
  }
  return tidy(parts.join(" "));
}

function childText(el, tag, walk) {
  for (let child = firstElementChild(el); child !== null; child = nextElement(child)) {
    if (localName(child) === tag) return contentOf(child, walk);
  }
  return "";
}

function svgTitle(el) {
  for (let child = firstElementChild(el); child !== null; child = nextElement(child)) {
    if (localName(child) === "title") return textContent(child);
  }
  return "";
}

/** The text of an element as its name would have it: hidden parts skipped, blocks apart, controls by their value. */
export function contentOf(el, walk) {
  if (firstElementChild(el) === null && shadowRootOf(el) === null && localName(el) !== "slot") {
    return textContent(el).slice(0, walk.left);
  }
  let out = "";
  for (const child of composedChildren(el)) {
    if (walk.left <= 0) break;
    if (nodeType(child) === TEXT) {
      const data = textData(child).slice(0, walk.left);
      walk.left -= data.length;
      out += data;
    } else if (nodeType(child) === ELEMENT) {
      out += partOf(child, walk);
    }
  }
  return out;
}

function partOf(el, walk) {
  const tag = localName(el);
  if (SKIPPED.has(tag) || walk.seen.has(el)) return "";
  if (tag === "br") return " ";
  if (!walk.hiddenToo && (attr(el, "aria-hidden") === "true" || (tag !== "slot" && !checkVisibility(el, SHOWN) && !isContents(el)))) return "";
  if (isSecret(el)) return "";
  walk.seen.add(el);
  const role = roleOf(el);
  const label = attr(el, "aria-label");
  let text;
  if (label !== null && label.trim() !== "") {
    text = label;
  } else {
    text = embeddedValue(el, role);
    if (text === null) {
      const native = isHtml(el) ? nativeName(el, walk) : svgTitle(el);
      text = native.trim() !== "" ? native : contentOf(el, walk);
      if (text.trim() === "") text = attr(el, "title") || "";
    }
  }
  const display = tag === "slot" ? "contents" : styleValue(styleOf(el), "display");
  return display === "inline" || display === "contents" ? text : ` ${text} `;
}

const isContents = (el) => styleValue(styleOf(el), "display") === "contents";

// A control inside a label counts by its value: "flash the screen [3] times".
function embeddedValue(el, role) {
  const tag = localName(el);
  if (isSecret(el)) return "";
  if (tag === "input" && (role === "textbox" || role === "searchbox" || role === "spinbutton" || role === "slider")) return inputValue(el);
  if (tag === "textarea") return textareaValue(el);
  if (tag === "select") {
    const chosen = selectedOptions(el);
    const parts = [];
    for (let i = 0; i < collectionLength(chosen); i += 1) parts.push(optionText(collectionItem(chosen, i)));
    return parts.join(" ");
  }
  if (role === "slider" || role === "spinbutton" || role === "progressbar" || role === "meter" || role === "scrollbar") {
    return attr(el, "aria-valuetext") ?? attr(el, "aria-valuenow") ?? "";
  }
  return null;
}

/** The description: aria-describedby, aria-description, or a title that did not become the name. */
export function descriptionOf(el, name) {
  const walk = { seen: new Set([el]), left: TEXT_BUDGET };
  const text = labelledBy(el, "aria-describedby", walk) || attr(el, "aria-description") || attr(el, "title") || "";
  if (text === "") return "";
  const tidied = cut(tidy(text), DESCRIPTION_LIMIT);
  return tidied === name ? "" : tidied;
}

/** The group in which a name is meant: legend or named group around it. */
export function groupOf(el) {
  const around = closestGroup(el);
  if (around === null) return "";
  return normalise(authoredName(around, { seen: new Set([around]), left: TEXT_BUDGET }));
}

function closestGroup(el) {
  if (!matches(el, GROUPED)) return null;
  return closest(el, "fieldset, [role=group], [role=radiogroup]");
}

/** Visible text of a subtree, tidied, at most `limit` characters; secrets left out. */
export function visibleText(root, limit) {
  return cut(tidy(contentOf(root, { seen: new Set(), left: limit * 4 })), limit);
}

