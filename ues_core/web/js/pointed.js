// Elements over which the page shows the hand: its way of saying that they take clicks, where nothing else says so.

import {
  bodyOf, closest, closestComposed, composedParent, documentElement, listLength, matches, nodeType, parentNode, queryAll, queryFirst, rootNode,
  ELEMENT,
} from "./dom.js";
import { perRun } from "./run.js";
import { rulesOf } from "./sheets.js";

const INLINE = "[style*='cursor:pointer' i],[style*='cursor: pointer' i]";
const OPERATED =
  "a[href],button,input,select,textarea,summary,label,iframe,[tabindex],[contenteditable],[onclick],[role=button i],[role=link i]," +
  "[role=checkbox i],[role=radio i],[role=switch i],[role=tab i],[role=option i],[role=menuitem i],[role=treeitem i]";

const perRoot = perRun(() => new Map());

/** A selector of what shows the hand in a document or shadow root; empty where nothing does. */
export function pointedIn(root) {
  const known = perRoot();
  let list = known.get(root);
  if (list === undefined) {
    const parts = [...rulesOf(root).pointed];
    if (hasStyled(root) && listLength(queryAll(root, INLINE)) > 0) parts.push(INLINE);
    list = parts.join(",");
    known.set(root, list);
  }
  return list;
}

// Most large pages have no style in attributes: to find that out is cheaper than to look for one of them.
function hasStyled(root) {
  if (root !== document) return root instanceof ShadowRoot;
  const top = documentElement(document);
  return top !== null && queryFirst(top, "[style]") !== null;
}

/** Whether an element takes clicks by the hand alone: the outermost one, with nothing else to be operated in it or around it. */
export function isPointed(el) {
  const list = pointedIn(rootNode(el));
  if (list === "" || !matches(el, list) || matches(el, OPERATED) || el === bodyOf(document) || el === documentElement(document)) return false;
  const around = composedParent(el);
  if (around !== null && closestComposed(around, OPERATED) !== null) return false;
  const parent = parentNode(el);
  if (parent !== null && nodeType(parent) === ELEMENT) {
    const outer = closest(parent, list);
    if (outer !== null && outer !== bodyOf(document) && outer !== documentElement(document)) return false;
  }
  return queryFirst(el, OPERATED) === null;
}
