// What is secret is decided by structure, never by looking at a value; and once secret, a node stays so.

import {
  attr, closestComposed, composedParent, composedPath, hostOf, inputType, isHtml, listen, localName, matches, queryAll, rootNode, styleOf,
  styleValue,
} from "./dom.js";

const remembered = new WeakSet();
const watched = new WeakSet();
// What secret fields are called, for each document or shadow root: an id means nothing outside of its own.
const called = new WeakMap();
const CALLED_KEPT = 1000;
let calledCount = 0;
const SECRET_AUTOCOMPLETE = /(?:^|[\s,])(?:one-time-code|current-password|new-password|cc-[a-z-]+)(?:$|[\s,])/i;
const FIELDS = new Set(["input", "textarea", "select"]);
const MAY_BE_SECRET = "input, textarea, select, [autocomplete]:not(form)";
let hosts = 0;

// "Show password" turns the type to text; the attribute's old value tells.
const observer = new MutationObserver((records) => note(records));

function note(records) {
  for (const record of records) {
    if ((record.oldValue || "").trim().toLowerCase() === "password") remember(record.target);
  }
}

// Some pages put a new field in the place of the old one, under the old one's name.
function remember(el) {
  if (remembered.has(el)) return;
  remembered.add(el);
  if (calledCount >= CALLED_KEPT || !isHtml(el) || localName(el) !== "input") return;
  for (const [root, name] of callsOf(el)) {
    let names = called.get(root);
    if (names === undefined) called.set(root, (names = new Set()));
    names.add(name);
    calledCount += 1;
  }
}

const ownCalls = (el) => ["id", "name"].map((attribute) => [attribute, attr(el, attribute)]).filter(([, value]) => value !== null && value !== "")
  .map(([attribute, value]) => `${attribute}=${value}`);

// [root, name] of each way a field is called: in its own root and, since a component may be drawn anew whole, as a part of its host.
function callsOf(el) {
  const root = rootNode(el);
  const own = ownCalls(el);
  const found = own.map((name) => [root, name]);
  if (root instanceof ShadowRoot) {
    const host = hostOf(root);
    for (const outer of ownCalls(host)) for (const name of own) found.push([rootNode(host), `${outer} ${name}`]);
  }
  return found;
}

/** Watch a document or shadow root for fields that stop being passwords. */
export function watchSecrets(root) {
  note(observer.takeRecords());
  if (watched.has(root)) return;
  watched.add(root);
  observer.observe(root, { subtree: true, attributes: true, attributeFilter: ["type"], attributeOldValue: true });
  for (const el of queryAll(root, "input[type=password i]")) remember(el);
}

listen(window, "focusin", (event) => {
  const [el] = composedPath(event);
  if (el instanceof HTMLInputElement && inputType(el) === "password") remember(el);
}, true);

/** Whether a node's value must not be read. `style` may be given when it was asked for already. */
export function isSecret(el, style = null) {
  return isKnownSecret(el) || isMasked(el, style);
}

// By what it is or was, without asking for its style.
function isKnownSecret(el) {
  if (remembered.has(el)) return true;
  if (!isHtml(el)) return false;
  const tag = localName(el);
  if (tag === "input" && (inputType(el) === "password" || hasSecretName(el))) {
    remember(el);
    return true;
  }
  const hint = attr(el, "autocomplete");
  if (hint !== null && SECRET_AUTOCOMPLETE.test(hint) && tag !== "form") {
    remembered.add(el);
    if (!FIELDS.has(tag)) hosts += 1;
    return true;
  }
  return FIELDS.has(tag) && matches(el, ":autofill");
}

function hasSecretName(el) {
  if (calledCount === 0) return false;
  const type = inputType(el);
  if (type !== "text" && type !== "tel" && type !== "number") return false;
  return callsOf(el).some(([root, name]) => called.get(root)?.has(name) === true);
}

/** Whether text is drawn as dots: the page itself treats it as a secret. */
export function isMasked(el, style = null) {
  const shown = styleValue(style ?? styleOf(el), "-webkit-text-security");
  return shown !== "none" && shown !== "";
}

/** Whether the node, or something around it, is secret: for text computed through it. */
export function inSecret(el, style = null) {
  if (isMasked(el, style)) return true;
  let up = hosts > 0 ? el : closestComposed(el, MAY_BE_SECRET);
  while (up !== null) {
    if (isKnownSecret(up)) return true;
    up = composedParent(up);
    if (up !== null && hosts === 0) up = closestComposed(up, MAY_BE_SECRET);
  }
  return false;
}

/** A value under aria-hidden was meant for nobody. */
export const inAriaHidden = (el) => closestComposed(el, "[aria-hidden=true i]") !== null;

/** Whether a node's value is withheld: a secret, or meant for nobody. */
export const withheld = (el) => isSecret(el) || inAriaHidden(el);
