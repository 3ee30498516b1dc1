// The landing guard: input of ours that does not meet its target, or meets it changed, never reaches the page.

import {
  closedRoots, composedContains, composedPath, deepActive, editContextOf, isConnected, listen, nodeType, preventDefault, stopImmediately, ELEMENT,
} from "./dom.js";
import { canonical, identityOf } from "./facts.js";
import { accepts, hitAt } from "./geometry.js";

const ARRIVALS = ["pointerover", "mouseover", "pointermove", "mousemove", "pointerdown", "mousedown"];
const FOLLOWERS = [
  "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu", "dragstart", "pointerenter", "mouseenter", "pointerout",
  "pointerleave", "mouseout", "mouseleave", "touchstart", "touchend", "selectstart", "focusin", "focus",
];
// A component may act on the release and be gone before the click.
const CLICKS = ["pointerup", "mouseup", "click", "auxclick", "contextmenu"];
const KEYS = ["keydown", "beforeinput"];
const KEY_FOLLOWERS = ["keypress", "keyup", "input"];

let armed = null;

/** Watch for one gesture. kind: pointer | key | none (block everything that arrives in this frame). */
export function arm(target, expect, kind) {
  armed = { target, expect, kind, landed: "", live: null, blocked: false, clicked: "" };
  const context = kind === "key" ? editContextOf(target) : null;
  if (context !== null) listen(context, "textupdate", updated);
}

/** What became of the gesture: {landed, live, clicked}; and stop watching. `clicked` says where the click itself went. */
export function disarm() {
  const was = armed;
  armed = null;
  if (was === null) return { landed: "" };
  return { landed: was.landed, live: was.live, clicked: was.clicked };
}

// The innermost element that an event meets.
function firstOf(event, kind) {
  const path = composedPath(event);
  let first = path[0];
  if (first === undefined || first === window || nodeType(first) !== ELEMENT) first = kind === "key" ? deepActive() : null;
  else if (closedRoots.of(first) !== null) {
    // From out here an event in a closed root shows its host only: what is in there is found as the browser found it.
    first = kind === "key" ? deepActive() : hitAt(event.clientX, event.clientY) ?? first;
  }
  return first;
}

const judge = (event) => (armed.kind === "none" ? "elsewhere" : judgeAt(firstOf(event, armed.kind)));

function judgeAt(first) {
  const { target, expect, kind } = armed;
  if (!isConnected(target)) return "elsewhere";
  if (kind === "key" ? first === null || !composedContains(target, first) : !accepts(target, first)) return "elsewhere";
  const live = canonical(identityOf(target));
  armed.live = live;
  return expect !== "" && live !== expect ? "changed" : "on-target";
}

function stop(event) {
  stopImmediately(event);
  preventDefault(event);
}

function arrives(event) {
  if (armed === null || !event.isTrusted) return;
  const key = KEYS.includes(event.type);
  if (armed.kind !== "none" && key !== (armed.kind === "key")) return;
  if (!armed.blocked && (armed.landed === "" || event.type === "pointerdown")) {
    const verdict = judge(event);
    armed.blocked = verdict !== "on-target";
    armed.landed = verdict;
    tell(verdict);
  }
  if (armed.blocked) stop(event);
}

// Text goes to an EditContext without an event that could be stopped: it is only known that it went there.
function updated() {
  if (armed === null || armed.kind !== "key" || armed.landed !== "") return;
  armed.landed = judgeAt(deepActive());
  tell(armed.landed);
}

function follows(event) {
  if (armed === null || !event.isTrusted) return;
  if (armed.blocked) stop(event);
  else if (armed.kind === "pointer" && CLICKS.includes(event.type) && armed.clicked !== "on-target") {
    // Not stopped: whoever pressed with pointer capture releases on another element. But it is told.
    const first = firstOf(event, "pointer");
    armed.clicked = first !== null && accepts(armed.target, first) ? "on-target" : "elsewhere";
  }
}

// The binding outlives the document: a click that navigates at once is still known to have landed.
function tell(verdict) {
  const bound = Object.getOwnPropertyDescriptor(globalThis, "__ues_tell");
  if (bound !== undefined && typeof bound.value === "function") bound.value(JSON.stringify({ landed: verdict, live: armed.live }));
}

/** Listen, before the page does. Listening again is harmless; after document.open() it is needed. */
export function watch() {
  for (const type of [...ARRIVALS, ...KEYS]) listen(window, type, arrives, { capture: true, passive: false });
  for (const type of [...FOLLOWERS, ...KEY_FOLLOWERS]) listen(window, type, follows, { capture: true, passive: false });
}
