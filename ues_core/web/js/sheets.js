// What is read out of the style sheets of a document or a shadow root.

import {
  adoptedOf, documentSheets, groupRules, importedSheet, ruleCount, ruleItem, ruleStyle, selectorOf, shadowAdopted, shadowSheets, sheetCount,
  sheetItem, sheetRules, styleValue,
} from "./dom.js";
import { perRun } from "./run.js";

const RULES_READ = 20000;
const POINTED_KEPT = 60;
/** A key that fits every element. */
export const ANY = "*";

// What the last part of a selector asks for at least, before its ::before or ::after.
const SUBJECT = /([^\s>+~,]*?)::?(?:before|after)\b/gi;
const KEY = /^(?:([a-z][\w-]*)|\*)?(?:([.#])((?:[\w-]|[^\0-\x7f]|\\[^0-9a-f\s])+))?/i;
const NOTHING = /^(?:|none|normal|(["'])(?:[\ue000-\uf8ff]|[\udb80-\udbff][\udc00-\udfff])*\1)$/;
const HEX_ESCAPE = /\\[0-9a-f]/i;

const known = new WeakMap();
const perRoot = perRun(() => new Map());

/** {keys, pointed} of a root: what an element must have to get a ::before or ::after, and selectors of what shows the hand. */
export function rulesOf(root) {
  const seen = perRoot();
  let found = seen.get(root);
  if (found === undefined) {
    found = read(root);
    seen.set(root, found);
  }
  return found;
}

function read(root) {
  const found = { keys: new Set(), pointed: new Set() };
  try {
    const shadow = root instanceof ShadowRoot;
    if (!shadow && root !== document) return found; // Not in the page.
    const sheets = shadow ? shadowSheets(root) : documentSheets(root);
    for (let i = 0; i < sheetCount(sheets); i += 1) addSheet(sheetItem(sheets, i), found);
    for (const sheet of shadow ? shadowAdopted(root) : adoptedOf(root)) addSheet(sheet, found);
  } catch {
    found.keys.add(ANY);
  }
  return found;
}

// A sheet is read once, and again when its rules are others: their number, the first or the last of them.
function addSheet(sheet, found) {
  let rules;
  try {
    rules = sheetRules(sheet);
  } catch {
    found.keys.add(ANY); // Of another origin: nobody may read it.
    return;
  }
  const count = ruleCount(rules);
  if (count === 0) return;
  const first = ruleItem(rules, 0);
  const last = ruleItem(rules, count - 1);
  let own = known.get(sheet);
  if (own === undefined || own.count !== count || own.first !== first || own.last !== last) {
    own = { count, first, last, keys: new Set(), pointed: new Set() };
    addRules(rules, own, { left: RULES_READ });
    known.set(sheet, own);
  }
  for (const key of own.keys) found.keys.add(key);
  for (const selector of own.pointed) found.pointed.add(selector);
}

function addRules(rules, found, budget) {
  for (let i = 0; i < ruleCount(rules); i += 1) {
    if ((budget.left -= 1) < 0) {
      found.keys.add(ANY);
      return;
    }
    const rule = ruleItem(rules, i);
    if (rule instanceof CSSImportRule) {
      const sheet = importedSheet(rule);
      if (sheet !== null) addSheet(sheet, found);
      continue;
    }
    if (rule instanceof CSSStyleRule) addRule(rule, found);
    const inner = groupRules(rule);
    if (inner !== null && ruleCount(inner) > 0) addRules(inner, found, budget);
  }
}

function addRule(rule, { keys, pointed }) {
  const style = ruleStyle(rule);
  if (styleValue(style, "cursor") === "pointer") addPointed(selectorOf(rule), pointed);
  if (NOTHING.test(styleValue(style, "content"))) return;
  const selector = selectorOf(rule);
  if (HEX_ESCAPE.test(selector)) {
    keys.add(ANY);
    return;
  }
  for (const [, subject] of selector.matchAll(SUBJECT)) {
    const [, tag, mark, name] = isWhole(subject) ? KEY.exec(subject) : [];
    if (mark !== undefined) keys.add(mark + name.replaceAll("\\", ""));
    else keys.add(tag === undefined ? ANY : tag.toLowerCase());
  }
}

// Alternatives that hold whatever the pointer and the focus are on. What nests in another rule, or has commas of its own, is left out.
function addPointed(selector, pointed) {
  if (/[()"']/.test(selector)) return;
  for (const one of selector.split(",")) {
    if (pointed.size >= POINTED_KEPT) return;
    if (!/[:&]/.test(one)) pointed.add(one.trim());
  }
}

// White space or a comma within brackets ended what was taken for the last part of a selector.
function isWhole(subject) {
  for (const [opens, closes] of ["()", "[]"]) if (subject.split(opens).length !== subject.split(closes).length) return false;
  return true;
}
