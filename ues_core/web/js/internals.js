// Roles and states that a custom element keeps in its internals: no script sees them, so the browser's accessibility tree is asked,
// and what it said is kept here.

import { hasAttr, isHtml, localName } from "./dom.js";

/** Elements asked about in one observation of a frame. */
const MOST = 60;

const learned = new WeakMap();
let asked = [];

/** Whether its role may be in its internals. */
export const mayHaveInternals = (el) => isHtml(el) && localName(el).includes("-") && !hasAttr(el, "role");

/** Begin an observation; nothing is asked about yet. */
export function beginAsking() {
  asked = [];
}

/** Have the browser be asked about an element. */
export function askAbout(el) {
  if (asked.length < MOST) asked.push(el);
}

/** How many are to be asked about. */
export const askedCount = () => asked.length;

/** The elements to ask about, for the browser to name. */
export const askedAbout = () => asked;

/** What the browser said: {facts: [{role, checked, selected, ...}]}, one for each element that was asked about. */
export function learn(request) {
  request.facts.forEach((facts, at) => {
    if (at < asked.length) learned.set(asked[at], facts);
  });
  return {};
}

/** {role, checked, selected, expanded, pressed}, or null. */
export const internalsOf = (el) => learned.get(el) ?? null;
