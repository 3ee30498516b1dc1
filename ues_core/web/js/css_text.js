// What style sheets add to text: the content of ::before and ::after, and letters that are drawn in another case.

import {
  ELEMENT, assignedSlot, attr, composedParent, documentElement, composedChildren, localName, nodeType, rootNode, shadowRootOf, styleOf,
  styleValue,
} from "./dom.js";
import { perRun } from "./run.js";
import { ANY, rulesOf } from "./sheets.js";

const COUNTED_ELEMENTS = 2000;
const ICONS = /[\ue000-\uf8ff]|[\udb80-\udbff][\udc00-\udfff]/g;

// -- whether there can be any ----------------------------------------------------------------------------------------

/** Whether a style sheet could give the element a ::before or ::after with a text. Errs towards yes. */
export function mayHavePseudo(el) {
  if (mayFrom(document, el)) return true;
  const root = rootNode(el);
  if (root !== document && mayFrom(root, el)) return true;
  const shadow = shadowRootOf(el);
  if (shadow !== null && mayFrom(shadow, el)) return true;
  const slot = assignedSlot(el);
  return slot !== null && mayFrom(rootNode(slot), el);
}

function mayFrom(root, el) {
  const { keys } = rulesOf(root);
  if (keys.size === 0) return false;
  if (keys.has(ANY) || keys.has(localName(el))) return true;
  const id = attr(el, "id");
  if (id !== null && keys.has(`#${id}`)) return true;
  const classes = attr(el, "class");
  return classes !== null && classes.split(/\s+/).some((name) => keys.has(`.${name}`));
}

// -- the text of a pseudo-element ------------------------------------------------------------------------------------

/** The text that ::before or ::after adds, with spaces around it when it is a box of its own or stands for one. Icon glyphs are left out. */
export function pseudoText(el, which) {
  const style = styleOf(el, which);
  const content = styleValue(style, "content");
  if (content === "none" || content === "normal" || content === "") return "";
  const display = styleValue(style, "display");
  if (display === "none" || styleValue(style, "visibility") !== "visible") return "";
  const { raw, alternative } = contentText(content, el, which);
  const text = cased(raw, styleValue(style, "text-transform")).replace(ICONS, "");
  return !alternative && (display === "inline" || display === "contents") ? text : ` ${text} `;
}

const TOKEN = /"((?:[^"\\]|\\.)*)"|(counters?)\(([^)]*)\)|(open-quote)|(close-quote)|(\/)|[a-z-]+\((?:[^()"]|"(?:[^"\\]|\\.)*"|\([^()]*\))*\)/gi;

// The alternative text after a slash stands for all that is before it, as that of an image does.
function contentText(content, el, which) {
  let out = "";
  let alternative = false;
  for (const [, string, counter, args, opens, closes, slash] of content.matchAll(TOKEN)) {
    if (slash !== undefined) {
      out = "";
      alternative = true;
    } else if (string !== undefined) out += unescaped(string);
    else if (counter !== undefined) out += counterText(el, which, counter.toLowerCase(), args);
    else if (opens !== undefined) out += "\u201c";
    else if (closes !== undefined) out += "\u201d";
  }
  return { raw: out, alternative };
}

const unescaped = (text) =>
  text.includes("\\") ? text.replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, hex, one) => (hex ? codePoint(hex) : one)) : text;

function codePoint(hex) {
  const code = Number.parseInt(hex, 16);
  return code === 0 || code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
}

/** Text as it is drawn under a `text-transform`. */
export function cased(text, transform) {
  switch (transform) {
    case "none":
    case "":
      return text;
    case "uppercase":
      return text.toUpperCase();
    case "lowercase":
      return text.toLowerCase();
    default:
      return transform.includes("capitalize")
        ? text.replace(/(^|[^\p{L}\p{N}\p{M}'\u2019_])(\p{L})/gu, (_, before, letter) => before + letter.toUpperCase())
        : text;
  }
}

// -- counters --------------------------------------------------------------------------------------------------------

const counted = perRun(countAll);

function counterText(el, which, kind, args) {
  const [name, ...rest] = args.split(",").map((part) => part.trim());
  const values = counted()?.get(el)?.[which]?.get(name);
  if (values === undefined) return "";
  const [separator, style] = kind === "counters" ? [unescaped((rest[0] ?? "").slice(1, -1)), rest[1]] : ["", rest[0]];
  const shown = kind === "counters" ? values : values.slice(-1);
  return shown.map((value) => numbered(value, style ?? "decimal")).join(separator);
}

// Values of every counter at each pseudo-element, by a walk in document order. Null on a page that is too large for it.
function countAll() {
  const out = new Map();
  const counters = new Map();
  const stack = [{ el: documentElement(document), leave: false }];
  let left = COUNTED_ELEMENTS;
  while (stack.length > 0) {
    const { el, leave } = stack.pop();
    if (leave) {
      const after = passed(el, "::after", counters);
      if (after !== null) out.set(el, { ...out.get(el), "::after": after });
      for (const made of counters.values()) while (made.length > 0 && made.at(-1).parent === el) made.pop();
      continue;
    }
    if ((left -= 1) < 0) return null;
    const style = styleOf(el);
    if (styleValue(style, "display") === "none") continue;
    count(style, composedParent(el), counters);
    const before = passed(el, "::before", counters);
    if (before !== null) out.set(el, { "::before": before });
    stack.push({ el, leave: true });
    const children = composedChildren(el);
    for (let i = children.length - 1; i >= 0; i -= 1) if (nodeType(children[i]) === ELEMENT) stack.push({ el: children[i], leave: false });
  }
  return out;
}

function passed(el, which, counters) {
  const style = styleOf(el, which);
  const content = styleValue(style, "content");
  if (content === "none" || content === "normal") return null;
  count(style, el, counters);
  if (!content.includes("counter")) return null;
  return new Map([...counters].map(([name, made]) => [name, made.map((counter) => counter.value)]));
}

function count(style, parent, counters) {
  for (const [name, value] of pairs(styleValue(style, "counter-reset"))) {
    const made = counters.get(name) ?? [];
    if (made.length > 0 && made.at(-1).parent === parent) made.pop();
    made.push({ parent, value });
    counters.set(name, made);
  }
  for (const [name, value] of pairs(styleValue(style, "counter-increment"))) innermost(counters, name, parent).value += value;
  for (const [name, value] of pairs(styleValue(style, "counter-set"))) innermost(counters, name, parent).value = value;
}

function innermost(counters, name, parent) {
  let made = counters.get(name);
  if (made === undefined) counters.set(name, (made = []));
  if (made.length === 0) made.push({ parent, value: 0 });
  return made.at(-1);
}

function pairs(text) {
  if (text === "none" || text === "") return [];
  return [...text.matchAll(/([^\s()]+|reversed\([^)]*\))\s+(-?\d+)/g)].map(([, name, value]) => [name, Number(value)]);
}

const ROMAN = [[1000, "m"], [900, "cm"], [500, "d"], [400, "cd"], [100, "c"], [90, "xc"], [50, "l"], [40, "xl"], [10, "x"], [9, "ix"], [5, "v"], [4, "iv"], [1, "i"]];

function numbered(value, style) {
  switch (style) {
    case "none":
    case "disc":
    case "circle":
    case "square":
      return "";
    case "decimal-leading-zero":
      return value >= 0 && value < 10 ? `0${value}` : String(value);
    case "lower-roman":
      return roman(value);
    case "upper-roman":
      return roman(value).toUpperCase();
    case "lower-alpha":
    case "lower-latin":
      return letters(value);
    case "upper-alpha":
    case "upper-latin":
      return letters(value).toUpperCase();
    default:
      return String(value);
  }
}

function roman(value) {
  if (value < 1 || value > 3999) return String(value);
  let out = "";
  let left = value;
  for (const [worth, sign] of ROMAN) {
    while (left >= worth) {
      out += sign;
      left -= worth;
    }
  }
  return out;
}

function letters(value) {
  if (value < 1) return String(value);
  let out = "";
  for (let left = value; left > 0; left = Math.floor((left - 1) / 26)) out = String.fromCharCode(97 + ((left - 1) % 26)) + out;
  return out;
}
