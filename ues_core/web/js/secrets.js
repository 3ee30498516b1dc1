// What is secret is decided by structure, never by looking at a value; and once secret, a node stays so.

import { attr, closest, inputType, isHtml, listen, localName, matches, nodeType, queryAll, styleOf, styleValue, composedParent } from "./dom.js";

const remembered = new WeakSet();
const watched = new WeakSet();
const SECRET_AUTOCOMPLETE = /(?:^|[\s,])(?:one-time-code|current-password|new-password|cc-[a-z-]+)(?:$|[\s,])/i;

// "Show password" turns the type to text; the attribute's old value tells.
const observer = new MutationObserver((records) => {
  for (const record of records) {
    if ((record.oldValue || "").trim().toLowerCase() === "password") remembered.add(record.target);
  }
});

/** Watch a document or shadow root for fields that stop being passwords. */
export function watchSecrets(root) {
  if (watched.has(root)) return;
  watched.add(root);
  observer.observe(root, { subtree: true, attributes: true, attributeFilter: ["type"], attributeOldValue: true });
  for (const el of queryAll(root, "input[type=password i]")) remembered.add(el);
}

listen(window, "focusin", (event) => {
  const el = event.target;
  if (el instanceof HTMLInputElement && inputType(el) === "password") remembered.add(el);
}, true);

/** Whether a node's value must not be read. */
export function isSecret(el) {
  if (remembered.has(el)) return true;
  const tag = localName(el);
  if (!isHtml(el)) return false;
  if (tag === "input" && inputType(el) === "password") {
    remembered.add(el);
    return true;
  }
  const hint = attr(el, "autocomplete");
  if (hint !== null && SECRET_AUTOCOMPLETE.test(hint)) {
    remembered.add(el);
    return true;
  }
  if (tag === "input" && matches(el, ":autofill")) return true;
  return isMasked(el);
}

/** Whether text is drawn as dots: the page itself treats it as a secret. */
export function isMasked(el) {
  const shown = styleValue(styleOf(el), "-webkit-text-security");
  return shown !== "none" && shown !== "";
}

/** Whether the node, or something around it, is secret: for text computed through it. */
export function inSecret(node) {
  for (let el = node; el !== null; el = composedParent(el)) {
    if (nodeType(el) === 1 && remembered.has(el)) return true;
  }
  return false;
}

/** A value under aria-hidden was meant for nobody. */
export const inAriaHidden = (el) => closest(el, "[aria-hidden=true i]") !== null;
