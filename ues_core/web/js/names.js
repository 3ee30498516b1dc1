// Accessible names and descriptions by accname 1.2, HTML-AAM and SVG-AAM. Text is never computed through a secret.

import {
  attr, checkVisibility, closestComposed, collectionItem, collectionLength, composedChildren, composedContains, firstElementChild, hasAttr,
  inputType, inputValue, isHtml, localName, matches, nextElement, nodeType, optionText, referred, selectedOptions, shadowRootOf, styleOf,
  styleValue, textContent, textData, textareaValue, ELEMENT, TEXT,
} from "./dom.js";
import { cased, mayHavePseudo, pseudoText } from "./css_text.js";
import { labelsOf } from "./labels.js";
import { isPointed } from "./pointed.js";
import { isEditingHost, isFocusable, NAMED_BY_CONTENT, roleOf, UNNAMED, WIDGETS } from "./roles.js";
import { perRun } from "./run.js";
import { inSecret, isSecret } from "./secrets.js";
import { bounded, cut, normalise, tidy, DESCRIPTION_LIMIT } from "./text.js";

const TEXT_BUDGET = 4000;
/** Levels of elements that a name goes into, at most; a page may nest ten thousand, and the engine's stack ends before two. */
const DEEPEST = 500;
const SHOWN = { visibilityProperty: true };
const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "meta", "link", "datalist", "rp"]);
const OPAQUE = new Set(["iframe", "frame", "object", "embed", "video", "audio", "hr"]);
const LABELLED = new Set(["input", "textarea", "select", "button", "meter", "progress", "output"]);
const BUTTON_DEFAULTS = { submit: "Submit", reset: "Reset", image: "Submit" };
const TYPED = new Set(["text", "search", "tel", "url", "email", "number", "range", "date", "time", "month", "week", "datetime-local"]);
const BY_VALUE = new Set(["textbox", "searchbox", "combobox", "listbox", "slider", "spinbutton", "progressbar", "meter", "scrollbar"]);
const UNCASED = new Set(["none", ""]);

// A walk: the element whose name is sought, the nodes that were read, the characters left, whether it follows a reference
// already, and whether what it started from is hidden, so that hidden parts count, and how deep it is in what names.
const walkFor = (top) => ({ top, seen: new Set([top]), left: TEXT_BUDGET, referenced: false, hiddenToo: false, depth: 0, branches: "" });

// What an item holds below itself is no part of its name: a branch of a tree is not renamed by opening it.
const BRANCHES = { treeitem: "group", menuitem: "menu", menuitemcheckbox: "menu", menuitemradio: "menu" };

/** {name, source}: the accessible name, normalised, and whether it was authored or gathered. */
export function nameOf(el, role) {
  const walk = walkFor(el);
  const authored = normalise(authoredName(el, walk));
  if (authored.trim() !== "") return { name: authored, source: "label" };
  const byContent = isNamedByContent(el, role);
  if (byContent) {
    walk.branches = BRANCHES[role] ?? "";
    const gathered = normalise(gatheredName(el, walk));
    if (gathered.trim() !== "") return { name: gathered, source: "content" };
  }
  const title = isHtml(el) && (byContent || !UNNAMED.has(role)) ? normalise(tooltip(el)) : "";
  if (title.trim() !== "") return { name: title, source: "label" };
  const hint = normalise(attr(el, "placeholder") || attr(el, "aria-placeholder") || "");
  return hint !== "" ? { name: hint, source: "label" } : { name: "", source: "content" };
}

function gatheredName(el, walk) {
  const style = styleOf(el);
  return isSecret(el, style) ? "" : contentOf(el, walk, style);
}

// What can be operated but has no role, a person knows by its text.
function isNamedByContent(el, role) {
  if (NAMED_BY_CONTENT.has(role)) return true;
  if (role === "row") return closestComposed(el, "[role=grid i], [role=treegrid i]") !== null || isFocusable(el);
  if (role !== "generic" && role !== "") return false;
  const tag = localName(el);
  if (tag === "summary" || tag === "label" || tag === "legend") return true;
  if (isEditingHost(el) || OPAQUE.has(tag)) return false;
  return hasAttr(el, "onclick") || hasWidgetRole(el) || isFocusable(el) || isPointed(el);
}

function hasWidgetRole(el) {
  const given = attr(el, "role");
  return given !== null && given.toLowerCase().split(/\s+/).some((token) => WIDGETS.has(token));
}

const said = (text) => text !== null && text.trim() !== "";

// An image with an empty alternative text is decoration: what a tooltip says about it is no name.
const tooltip = (el) => (localName(el) === "img" && attr(el, "alt") === "" ? "" : attr(el, "title") || "");

// -- what the author gave --------------------------------------------------------------------------------------------

function authoredName(el, walk) {
  const byLabelled = labelledBy(el, "aria-labelledby", walk);
  if (byLabelled.trim() !== "") return byLabelled;
  const label = attr(el, "aria-label");
  return said(label) ? label : nativeName(el, walk);
}

function labelledBy(el, attribute, walk) {
  if (!hasAttr(el, attribute)) return "";
  const parts = [];
  for (const target of referred(el, attribute)) {
    const inner = { ...walk, referenced: true, hiddenToo: isHidden(target) };
    parts.push(inSecret(target) ? "" : textAlternative(target, inner));
    walk.left = inner.left;
  }
  return parts.join(" ");
}

// Of a node that something refers to, that labels, or that lies within what names: steps 2B to 2I of the computation.
function textAlternative(el, walk) {
  walk.seen.add(el);
  if (!walk.referenced) {
    const byLabelled = labelledBy(el, "aria-labelledby", walk);
    if (byLabelled.trim() !== "") return byLabelled;
  }
  if (el !== walk.top) {
    const embedded = embeddedValue(el, walk);
    if (embedded !== null) return embedded;
  }
  const label = attr(el, "aria-label");
  if (said(label)) return label;
  const native = nativeName(el, walk);
  if (native.trim() !== "") return native;
  const content = OPAQUE.has(localName(el)) ? "" : contentOf(el, walk);
  return content !== "" || !isHtml(el) ? content : tooltip(el);
}

function nativeName(el, walk) {
  const tag = localName(el);
  if (!isHtml(el)) return svgName(el, tag);
  if (LABELLED.has(tag)) {
    const text = labelText(labelsOf(el), walk);
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
    case "table":
      return childText(el, "caption", walk);
    case "optgroup":
    case "option":
      return attr(el, "label") || "";
    case "abbr":
      return attr(el, "title") || "";
    default:
      return "";
  }
}

function inputName(el) {
  const type = inputType(el);
  if (type === "button" || type === "submit" || type === "reset") {
    return hasAttr(el, "value") ? inputValue(el) : BUTTON_DEFAULTS[type] ?? "";
  }
  if (type === "image") return attr(el, "alt") || attr(el, "value") || attr(el, "title") || BUTTON_DEFAULTS.image;
  return "";
}

function labelText(labels, walk) {
  if (labels.length === 0) return "";
  const parts = [];
  for (const label of labels) {
    if (!walk.seen.has(label)) parts.push(labelAlternative(label, walk));
  }
  return tidy(parts.length === 1 ? parts[0] : parts.join(" "));
}

function childText(el, tag, walk) {
  for (let child = firstElementChild(el); child !== null; child = nextElement(child)) {
    if (localName(child) !== tag) continue;
    return walk.seen.has(child) ? "" : labelAlternative(child, walk);
  }
  return "";
}

// Of a label, a legend, a caption. When it is hidden, it names nevertheless, with all that is in it.
function labelAlternative(el, walk) {
  const style = styleOf(el);
  if (inSecret(el, style)) return "";
  const hiddenToo = walk.hiddenToo || (firstElementChild(el) !== null && isHidden(el, style));
  const inner = hiddenToo === walk.hiddenToo ? walk : { ...walk, hiddenToo };
  if (matches(el, NOTABLE)) return textAlternative(el, inner);
  walk.seen.add(el);
  const content = contentOf(el, inner, style);
  walk.left = inner.left;
  return content !== "" ? content : attr(el, "title") || "";
}

function svgName(el, tag) {
  for (let child = firstElementChild(el); child !== null; child = nextElement(child)) {
    if (localName(child) === "title") return textContent(child);
  }
  return tag === "a" ? attr(el, "xlink:title") || "" : "";
}

// A control inside a label counts by its value: "flash the screen [3] times". Null for what is no such control.
function embeddedValue(el, walk) {
  const tag = isHtml(el) ? localName(el) : "";
  if (tag !== "") {
    if (tag === "input" && !hasAttr(el, "role")) return TYPED.has(inputType(el)) ? inputValue(el) : null;
    if (tag === "textarea") return textareaValue(el);
    if (tag === "select") return chosenText(el);
  }
  const role = tag === "meter" || tag === "progress" || hasAttr(el, "role") ? roleOf(el) : "";
  if (!BY_VALUE.has(role)) return null;
  switch (role) {
    case "textbox":
    case "searchbox":
      return tag === "input" ? inputValue(el) : contentOf(el, walk);
    case "combobox":
      return tag === "input" ? inputValue(el) : selectedText(el, walk) ?? contentOf(el, walk);
    case "listbox":
      return selectedText(el, walk) ?? "";
    default:
      return attr(el, "aria-valuetext") ?? attr(el, "aria-valuenow") ?? (tag === "input" ? inputValue(el) : attr(el, "value") ?? "");
  }
}

function chosenText(el) {
  const chosen = selectedOptions(el);
  const parts = [];
  for (let i = 0; i < collectionLength(chosen); i += 1) parts.push(optionText(collectionItem(chosen, i)));
  return parts.join(" ");
}

function selectedText(el, walk) {
  const parts = [];
  for (const root of [el, ...referred(el, "aria-owns"), ...referred(el, "aria-controls")]) {
    for (const option of optionsIn(root)) if (!inSecret(option)) parts.push(contentOf(option, walk));
  }
  return parts.length === 0 ? null : parts.join(" ");
}

function optionsIn(root) {
  const found = [];
  const stack = [root];
  while (stack.length > 0) {
    const el = stack.pop();
    if (matches(el, "[role=option i][aria-selected=true i]")) found.push(el);
    else for (const child of composedChildren(el).toReversed()) if (nodeType(child) === ELEMENT) stack.push(child);
  }
  return found;
}

// -- what lies within ------------------------------------------------------------------------------------------------

/** The text of an element as its name would have it: hidden parts skipped, blocks apart, controls by their value. */
export function contentOf(el, walk, style = null) {
  const shadow = shadowRootOf(el);
  const plain = firstElementChild(el) === null && shadow === null && localName(el) !== "slot" && !hasAttr(el, "aria-owns");
  const text = plain ? cased(textContent(el).slice(0, walk.left), caseOf(el, style)) : innerText(el, walk, style);
  return mayHavePseudo(el) ? pseudoText(el, "::before") + text + pseudoText(el, "::after") : text;
}

const caseOf = (el, style) => styleValue(style ?? styleOf(el), "text-transform");

function innerText(el, walk, style) {
  let out = "";
  let letters = null;
  const closed = localName(el) === "details" && isHtml(el) && !hasAttr(el, "open") && !walk.hiddenToo;
  for (const child of composedChildren(el)) {
    if (walk.left <= 0) break;
    const type = nodeType(child);
    if (type === TEXT) {
      if (closed) continue;
      const data = textData(child).slice(0, walk.left);
      walk.left -= data.length;
      letters ??= caseOf(el, style);
      out += UNCASED.has(letters) ? data : cased(data, letters);
    } else if (type === ELEMENT) {
      out += partOf(child, walk);
    }
  }
  if (hasAttr(el, "aria-owns")) {
    for (const owned of referred(el, "aria-owns")) if (!composedContains(owned, el)) out += ` ${partOf(owned, walk)} `;
  }
  return out;
}

function partOf(el, walk) {
  const tag = localName(el);
  if (SKIPPED.has(tag) || walk.seen.has(el) || walk.depth >= DEEPEST) return "";
  if (tag === "br") return "\n";
  if (tag === "title" || tag === "desc" || tag === "metadata" || tag === "defs") if (!isHtml(el)) return "";
  const style = styleOf(el);
  if (isSecret(el, style)) return "";
  if (walk.branches !== "" && hasAttr(el, "role") && roleOf(el) === walk.branches) return "";
  const hidden = !walk.hiddenToo && isHiddenPart(el, tag, style);
  if (hidden === "all") return "";
  walk.seen.add(el);
  walk.depth += 1;
  if (hidden === "itself") {
    const parts = visiblePartsOf(el, walk);
    walk.depth -= 1;
    return parts;
  }
  const before = walk.left;
  const text = partText(el, tag, walk, style);
  walk.depth -= 1;
  if (walk.left === before) walk.left -= text.length;
  return isInline(el, tag, style) ? text : ` ${text} `;
}

function partText(el, tag, walk, style) {
  if (tag === "slot") return innerText(el, walk, style);
  if (!isPlainPart(el, tag)) return textAlternative(el, walk);
  const text = contentOf(el, walk, style);
  return text !== "" ? text : attr(el, "title") || "";
}

// Most parts are plain boxes around text: nothing that could give them another text needs to be asked.
const PLAIN_PARTS = new Set(["span", "div", "b", "i", "em", "strong", "p", "small", "a", "code", "li", "td", "th", "u", "s", "mark", "sub", "sup"]);
const NOTABLE = "[role],[aria-label],[aria-labelledby]";
const isPlainPart = (el, tag) => PLAIN_PARTS.has(tag) && isHtml(el) && !matches(el, NOTABLE);

// What is drawn in the flow of the text adds no space; a control or an image, or a text that stands for something, does.
function isInline(el, tag, style) {
  const display = tag === "slot" ? "contents" : styleValue(style, "display");
  if (display !== "inline" && display !== "contents") return false;
  return tag !== "img" && tag !== "svg" && !OPAQUE.has(tag) && tag !== "canvas" && !said(attr(el, "aria-label")) && !hasAttr(el, "aria-labelledby");
}

/** "all" when nothing of an element is shown, "itself" when parts of it may be, else false. */
export function isHiddenPart(el, tag, style) {
  const said = attr(el, "aria-hidden");
  if (said !== null && said.trim().toLowerCase() === "true") return "all";
  if (tag === "slot" || checkVisibility(el, SHOWN) || styleValue(style, "display") === "contents") return false;
  if (!isHtml(el) && tag === "title") return false;
  return styleValue(style, "visibility") !== "visible" && checkVisibility(el) ? "itself" : "all";
}

function visiblePartsOf(el, walk) {
  let out = "";
  for (const child of composedChildren(el)) if (nodeType(child) === ELEMENT) out += partOf(child, walk);
  return out;
}

function isHidden(el, style = null) {
  if (!checkVisibility(el, SHOWN) && localName(el) !== "slot" && styleValue(style ?? styleOf(el), "display") !== "contents") return true;
  return closestComposed(el, "[aria-hidden=true i]") !== null;
}

// -- what is said about it -------------------------------------------------------------------------------------------

/** The description: aria-describedby, aria-description, or a title that did not become the name. */
export function descriptionOf(el, name) {
  const text = labelledBy(el, "aria-describedby", walkFor(el)) || attr(el, "aria-description") || attr(el, "title") || "";
  if (text === "") return "";
  const tidied = cut(tidy(bounded(text)), DESCRIPTION_LIMIT);
  return tidied === name ? "" : tidied;
}

const GROUPS = "fieldset, [role=group i], [role=radiogroup i]";

// A group is no part of a node's identity, and is asked for by each node in it.
const groupNames = perRun(() => new Map());

/** The group in which a name is meant: legend or named group around it. */
export function groupOf(el) {
  const around = closestComposed(el, GROUPS);
  return around === null || around === el ? "" : groupName(around);
}

function groupName(around) {
  const names = groupNames();
  let name = names.get(around);
  if (name === undefined) {
    name = normalise(authoredName(around, walkFor(around)));
    names.set(around, name);
  }
  return name;
}

/** Visible text of a subtree, tidied, at most `limit` characters; secrets left out. */
export function visibleText(root, limit) {
  if (nodeType(root) === ELEMENT && isSecret(root)) return "";
  return cut(tidy(contentOf(root, { ...walkFor(root), left: limit * 4 })), limit);
}
