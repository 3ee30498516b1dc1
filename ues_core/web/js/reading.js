// Reading as a person reads: what is drawn, in its order, blocks as lines; with marks (Markdown) or without. Not the walk that
// names are computed by: there a label stands for what it labels, here it is what stands in it that counts.

import {
  anchorHref, attr, closest, composedChildren, hasAttr, inputChecked, inputType, inputValue, isHtml, localName, matches, nodeType, queryAll,
  selectedOptions, collectionItem, collectionLength, optionText, styleOf, styleValue, tagOf, textData, textareaValue, rootNode, ELEMENT, TEXT,
} from "./dom.js";
import { mayHavePseudo, pseudoText } from "./css_text.js";
import { isHiddenPart } from "./names.js";
import { roleOf } from "./roles.js";
import { isSecret, withheld } from "./secrets.js";
import { scrub, tidy } from "./text.js";

const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "datalist", "iframe", "frame", "object", "embed", "video", "audio", "svg", "canvas"]);
const HEADINGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const EMPHASIS = { strong: "**", b: "**", em: "*", i: "*", del: "~~", s: "~~" };
const TEXTLESS = new Set(["button", "submit", "reset", "image", "hidden", "file", "color", "range", "checkbox", "radio"]);
const LANGUAGE = /(?:^|\s)(?:language|lang|highlight-source|brush:?\s*)-?([A-Za-z0-9+#._-]{1,30})(?=$|\s)/;
const SPECIAL = /[\\`*[\]<>|]/g;
const LINE_START = /^(\s*)([#+~=-]|\d{1,9}[.)])(?=\s|$|[-=~#])/;
/** Tables within cells within tables: so deep and no deeper. */
const NESTED = 6;

// Lines of text, bounded by characters.
class Page {
  lines = [];
  size = 0;
  #line = "";
  #marks = "";
  #gap = false;
  #prefixes = [];

  constructor(marked, limit) {
    this.marked = marked;
    this.limit = limit;
  }

  get full() {
    return this.size > this.limit;
  }

  /** Running text: white space collapses as it does on a page. */
  say(text) {
    let clean = text.toWellFormed().replace(/[ \t\n\r\f]+/g, " ");
    if (this.#line === "" || this.#line.endsWith(" ")) clean = clean.replace(/^ /, "");
    if (clean === "") return;
    if (this.marked) clean = clean.replace(SPECIAL, "\\$&");
    this.#line += this.#marks + clean;
    this.#marks = "";
    if (this.#line.length > this.limit + 100) this.flush();
  }

  /** A mark before the next text; nothing when no text follows. */
  open(mark) {
    if (this.marked) this.#marks += mark;
  }

  /** The mark that ends what `open` began. */
  shut(mark, ending = mark) {
    if (!this.marked) return;
    if (this.#marks.endsWith(mark)) this.#marks = this.#marks.slice(0, -mark.length);
    else this.#line = this.#line.endsWith(" ") ? `${this.#line.trimEnd()}${ending} ` : this.#line + ending;
  }

  /** What is no running text, as it is. */
  put(text) {
    this.#line += this.#marks + text;
    this.#marks = "";
  }

  flush() {
    const line = this.#line.replace(/ +$/, "");
    this.#line = "";
    this.#marks = "";
    if (line.trim() !== "") this.#write(this.marked ? line.replace(LINE_START, "$1\\$2") : line);
  }

  /** A line that begins with a mark of ours. */
  head(mark) {
    this.flush();
    this.#marks = "";
    if (this.marked) this.#prefixes.push({ first: mark, rest: "" });
  }

  endHead() {
    this.flush();
    if (this.marked) this.#prefixes.pop();
  }

  block() {
    this.flush();
    this.#gap = this.lines.length > 0;
  }

  push(first, rest) {
    this.flush();
    this.#prefixes.push({ first, rest });
  }

  pop() {
    this.flush();
    this.#prefixes.pop();
  }

  /** Lines as they are: of code, of a table. */
  verbatim(lines) {
    this.block();
    for (const line of lines) {
      if (this.full) break;
      this.#write(line);
    }
    this.#gap = true;
  }

  #write(line) {
    let before = "";
    for (const prefix of this.#prefixes) {
      before += prefix.first;
      prefix.first = prefix.rest;
    }
    if (this.#gap && this.marked && this.lines.length > 0) {
      this.lines.push("");
      this.size += 1;
    }
    this.#gap = false;
    this.lines.push(before + line);
    this.size += before.length + line.length + 1;
  }
}

/** {text, truncated}: what stands in an element, at most about `limit` characters; with Markdown's marks if `marked`. */
export function readingOf(root, limit, marked) {
  const page = new Page(marked, limit);
  walk(root, page, 0);
  page.flush();
  return { text: page.lines.join("\n").replace(INVISIBLE, ""), truncated: page.full };
}

// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

/** The text of an element in one line. */
export function lineOf(el, limit = 2000, depth = 0) {
  const page = new Page(false, limit);
  walk(el, page, depth);
  page.flush();
  return tidy(page.lines.join(" "));
}

// Without recursion: a page may be ten thousand levels deep. What ends an element waits on the stack below its children.
function walk(root, page, depth) {
  const stack = [root];
  while (stack.length > 0 && !page.full) {
    const next = stack.pop();
    if (typeof next === "function") next();
    else if (nodeType(next) === TEXT) page.say(textData(next));
    else if (nodeType(next) === ELEMENT) enter(next, next === root, page, stack, depth);
  }
}

function enter(el, isRoot, page, stack, depth) {
  const tag = isHtml(el) ? tagOf(el) : "svg";
  if (SKIPPED.has(tag) && !isRoot) return;
  const style = styleOf(el);
  if (isSecret(el, style)) return;
  const hidden = isRoot ? false : isHiddenPart(el, tag, style);
  if (hidden === "all") return;
  const whole = hidden === false;
  if (whole && special(el, tag, page, depth)) return;
  const end = whole ? begin(el, tag, style, page) : null;
  const pseudo = whole && mayHavePseudo(el);
  if (pseudo) page.say(pseudoText(el, "::before"));
  if (pseudo || end !== null) {
    stack.push(() => {
      if (pseudo) page.say(pseudoText(el, "::after"));
      end?.();
    });
  }
  let children = [];
  try {
    children = composedChildren(el);
  } catch {
    return;
  }
  const closed = tag === "details" && !hasAttr(el, "open");
  for (let i = children.length - 1; i >= 0; i -= 1) {
    const child = children[i];
    const type = nodeType(child);
    if (closed && !(type === ELEMENT && localName(child) === "summary")) continue;
    if (type === ELEMENT || (type === TEXT && whole)) stack.push(child);
  }
}

// What is no flow of text: true when it was said here.
function special(el, tag, page, depth) {
  switch (tag) {
    case "br":
      page.flush();
      return true;
    case "hr":
      page.verbatim(page.marked ? ["---"] : []);
      return true;
    case "img": {
      const alt = tidy(attr(el, "alt") || "");
      if (alt !== "") {
        if (page.marked) page.put("![");
        page.say(alt);
        if (page.marked) page.put("]");
      }
      return true;
    }
    case "pre":
      code(el, page);
      return true;
    case "code":
      if (!page.marked) return false;
      phrase(plainText(el, page.limit), page);
      return true;
    case "input":
      page.say(" ");
      if (/^(?:checkbox|radio)$/.test(inputType(el))) page.put(inputChecked(el) ? "[x]" : "[ ]");
      else page.say(inputText(el));
      page.say(" ");
      return true;
    case "textarea":
      page.say(withheld(el) ? "" : ` ${textareaValue(el)} `);
      return true;
    case "select":
      page.say(withheld(el) ? "" : ` ${chosen(el)} `);
      return true;
    default:
      if (!isTable(el, tag) || depth >= NESTED) return false;
      page.verbatim(tableLines(el, page.marked, page.limit - page.size, depth));
      return true;
  }
}

function inputText(el) {
  const type = inputType(el);
  if (type === "button" || type === "submit" || type === "reset") return inputValue(el);
  return TEXTLESS.has(type) || withheld(el) ? "" : inputValue(el);
}

function chosen(el) {
  const found = selectedOptions(el);
  const parts = [];
  for (let i = 0; i < Math.min(collectionLength(found), 20); i += 1) parts.push(tidy(optionText(collectionItem(found, i))));
  return parts.join(", ");
}

// What begins with an element, and the function that ends it; null when it is plain running text.
function begin(el, tag, style, page) {
  if (HEADINGS.has(tag) || (hasAttr(el, "role") && roleOf(el) === "heading")) {
    page.block();
    page.head(`${"#".repeat(levelOf(el, tag))} `);
    return () => {
      page.endHead();
      page.block();
    };
  }
  if (tag === "li") return item(el, page);
  if (tag === "blockquote") {
    page.block();
    if (page.marked) page.push("> ", "> ");
    return () => {
      if (page.marked) page.pop();
      page.block();
    };
  }
  if (tag === "a" && page.marked && hasAttr(el, "href")) {
    page.open("[");
    return () => page.shut("[", `](${scrub(anchorHref(el)).replace(/[()\s]/g, encodeURIComponent)})`);
  }
  const mark = EMPHASIS[tag];
  if (mark !== undefined && page.marked) {
    page.open(mark);
    return () => page.shut(mark);
  }
  const display = tag === "slot" ? "contents" : styleValue(style, "display");
  if (display === "inline" || display === "contents" || display.startsWith("ruby")) return null;
  if (display.startsWith("inline") || display === "table-cell") {
    page.say(" ");
    return () => page.say(" ");
  }
  if (tag === "p" || tag === "ul" || tag === "ol" || tag === "dl") {
    page.block();
    return () => page.block();
  }
  page.flush();
  return () => page.flush();
}

function levelOf(el, tag) {
  const said = Number.parseInt(attr(el, "aria-level") ?? "", 10);
  return said >= 1 && said <= 6 ? said : HEADINGS.has(tag) ? Number(tag[1]) : 2;
}

function item(el, page) {
  if (!page.marked) {
    page.flush();
    return () => page.flush();
  }
  const list = closest(el, "ol,ul,menu");
  const mark = list !== null && localName(list) === "ol" ? `${numberOf(el, list)}. ` : "- ";
  page.push(mark, " ".repeat(mark.length));
  return () => page.pop();
}

function numberOf(el, list) {
  const given = Number.parseInt(attr(el, "value") ?? "", 10);
  if (Number.isFinite(given)) return given;
  let number = Number.parseInt(attr(list, "start") ?? "1", 10) || 1;
  for (const other of queryAll(list, ":scope > li")) {
    if (other === el) break;
    number += 1;
  }
  return number;
}

// -- code ------------------------------------------------------------------------------------------------------------

function code(el, page) {
  const lines = plainText(el, page.limit - page.size + 1000).replace(/\r\n?/g, "\n").replace(/^\n|\n+$/g, "").split("\n");
  if (!page.marked) {
    page.verbatim(lines.filter((line) => line.trim() !== ""));
    return;
  }
  const longest = Math.max(2, ...lines.map((line) => /`{3,}/.exec(line)?.[0].length ?? 0));
  const fence = "`".repeat(longest + 1);
  page.verbatim([fence + languageOf(el), ...lines, fence]);
}

// Code within a line, in as many ticks as it needs.
function phrase(text, page) {
  const clean = text.replace(/\s+/g, " ").trim();
  if (clean === "") return;
  const ticks = "`".repeat(Math.max(0, ...[...clean.matchAll(/`+/g)].map((run) => run[0].length)) + 1);
  const room = clean.startsWith("`") || clean.endsWith("`") ? " " : "";
  page.put(ticks + room + clean + room + ticks);
}

// Every character as it stands, secrets and what is hidden left out.
function plainText(root, limit) {
  const parts = [];
  let left = limit;
  const stack = [root];
  while (stack.length > 0 && left > 0) {
    const node = stack.pop();
    if (nodeType(node) === TEXT) {
      const data = textData(node).slice(0, left);
      left -= data.length;
      parts.push(data);
      continue;
    }
    if (nodeType(node) !== ELEMENT) continue;
    const tag = tagOf(node);
    if (tag === "br") parts.push("\n");
    if (node !== root) {
      const style = styleOf(node);
      if (SKIPPED.has(tag) || isSecret(node, style) || isHiddenPart(node, tag, style) !== false) continue;
      if (styleValue(style, "display") === "block" && parts.length > 0 && !parts.at(-1).endsWith("\n")) parts.push("\n");
    }
    const children = composedChildren(node);
    for (let i = children.length - 1; i >= 0; i -= 1) stack.push(children[i]);
  }
  return parts.join("").toWellFormed();
}

function languageOf(el) {
  const inner = queryAll(el, "code");
  const places = [el, ...(inner.length > 0 ? [inner[0]] : []), closest(el, "[class*=language-],[class*=highlight-source-],[data-lang],[data-language]")];
  for (const place of places) {
    if (place === null) continue;
    const said = attr(place, "data-lang") ?? attr(place, "data-language") ?? LANGUAGE.exec(attr(place, "class") ?? "")?.[1] ?? "";
    const word = said.trim().toLowerCase();
    if (/^[a-z0-9+#._-]{1,30}$/.test(word)) return word;
  }
  return "";
}

// -- tables ----------------------------------------------------------------------------------------------------------

const TABLES = new Set(["table", "grid", "treegrid"]);

function isTable(el, tag) {
  if (tag !== "table" && !hasAttr(el, "role")) return false;
  return TABLES.has(roleOf(el));
}

/** The rows of a table that are shown, each an array of cells; those of tables within it left out. */
export function rowsOf(table) {
  const native = localName(table) === "table" && isHtml(table);
  const [row, cell, around] = native
    ? ["tr", "td,th", "table"]
    : ["[role=row i]", "[role=cell i],[role=gridcell i],[role=columnheader i],[role=rowheader i]", "[role=table i],[role=grid i],[role=treegrid i]"];
  const found = [];
  for (const one of queryAll(table, row)) {
    if (closest(one, around) !== table || isHiddenPart(one, localName(one), styleOf(one)) !== false) continue;
    const cells = [...queryAll(one, cell)].filter((each) => closest(each, row) === one);
    if (cells.length > 0) found.push(cells);
  }
  return found;
}

/** Whether a row of cells is the head of its table. */
export const isHead = (cells) => cells.every((cell) => matches(cell, "th,[role=columnheader i],thead *"));

const row = (parts) => `| ${parts.join(" | ")} |`;

function tableLines(table, marked, room, depth) {
  const out = [];
  const caption = [...queryAll(table, "caption")].find((one) => closest(one, "table") === table);
  if (caption !== undefined && rootNode(caption) === rootNode(table)) out.push(lineOf(caption, room, depth + 1));
  const rows = rowsOf(table);
  let size = 0;
  let width = 0;
  for (const cells of rows) {
    if (size > room) break;
    const texts = cells.map((cell) => lineOf(cell, 2000, depth + 1));
    const first = width === 0;
    width ||= texts.length;
    if (!marked) out.push(texts.filter((text) => text !== "").join(" "));
    else {
      const safe = texts.map((text) => text.replace(SPECIAL, "\\$&"));
      if (first && out.length > 0) out.push("");
      if (first && !isHead(cells)) out.push(row(safe.map(() => "")), row(safe.map(() => "---")));
      out.push(row(safe));
      if (first && isHead(cells)) out.push(row(safe.map(() => "---")));
    }
    size += out.at(-1).length;
  }
  return marked ? out : out.filter((line) => line !== "");
}
