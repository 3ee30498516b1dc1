// What lies around an element and lets only a part of it be seen: scrollers, boxes that hide their overflow, clip paths.

import { composedParent, bodyOf, documentElement, localName, rectOf, styleOf, styleValue } from "./dom.js";
import { perRun } from "./run.js";

const FAR = 1e9;
// The parts of a table grow with what is in them: they clip nothing away.
const THROUGH = new Set(["td", "th", "tr", "tbody", "thead", "tfoot", "table"]);

const windows = perRun(() => new Map());

/** Whether the box is cut to nothing, wherever things are scrolled to: by its own clip, or by a box without room around it. */
export function isClippedAway(el, rect) {
  if (rect.width <= 1 && rect.height <= 1 && styleValue(styleOf(el), "overflow-x") !== "visible") return !isNative(el);
  const around = windowOf(composedParent(el));
  if (around !== null && around.shut && !escapes(el)) return true;
  return isCutByItself(el, rect);
}

/** Whether a part of the rectangle is seen through everything around the element. */
export function inView(el, rect, view) {
  const around = windowOf(composedParent(el));
  if (around === null) return true;
  const part = meet(boxOf(view), around);
  return hasRoom(meet(part, rect)) || hasRoom(exactPart(el, rect, view));
}

const boxOf = (view) => ({ left: view.left ?? 0, top: view.top ?? 0, right: view.width, bottom: view.height, shut: false });

const WHOLE = { left: -FAR, top: -FAR, width: FAR, height: FAR };

/** Whether nothing of the rectangle is seen through what is around the element, wherever the page itself is scrolled to. */
export const isScrolledOut = (el, rect) => !inView(el, rect, WHOLE);

const isNative = (el) => ["input", "textarea", "select"].includes(localName(el));

const hasRoom = (box) => box.right - box.left > 0 && box.bottom - box.top > 0;

const meet = (a, b) => ({
  left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
  shut: a.shut,
});

// The window through which what lies in an element is seen, as though all were in the flow. Null when nothing clips.
function windowOf(el) {
  const known = windows();
  const chain = [];
  let found = null;
  for (let up = el; up !== null; up = composedParent(up)) {
    const own = known.get(up);
    if (own !== undefined) {
      found = own;
      break;
    }
    chain.push(up);
  }
  for (let i = chain.length - 1; i >= 0; i -= 1) {
    const own = ownWindow(chain[i]);
    if (own !== null) found = found === null ? own : both(found, own);
    known.set(chain[i], found);
  }
  return found;
}

function both(outer, own) {
  const box = meet(outer, own);
  box.shut = outer.shut || own.shut;
  return box;
}

function ownWindow(el) {
  const tag = localName(el);
  if (THROUGH.has(tag) || tag === "slot") return null;
  if (el === documentElement(document) || el === bodyOf(document)) return null; // Theirs is the viewport's.
  const style = styleOf(el);
  const across = styleValue(style, "overflow-x") !== "visible";
  const down = styleValue(style, "overflow-y") !== "visible";
  const path = styleValue(style, "clip-path");
  if (!across && !down && (path === "none" || path === "")) return null;
  if (styleValue(style, "display") === "inline" || styleValue(style, "display") === "contents") return null;
  const rect = rectOf(el);
  const box = { left: -FAR, top: -FAR, right: FAR, bottom: FAR, shut: path !== "none" && isNothing(path, rect) };
  if (across) [box.left, box.right] = [rect.left, rect.right];
  if (down) [box.top, box.bottom] = [rect.top, rect.bottom];
  if ((across && rect.width <= 1) || (down && rect.height <= 1)) box.shut = true;
  return box;
}

// -- positioned out of the flow --------------------------------------------------------------------------------------

const isAnchor = (style) =>
  styleValue(style, "position") !== "static" || styleValue(style, "transform") !== "none" || styleValue(style, "filter") !== "none";

// The elements whose clip holds for one: what is positioned goes by what it is positioned against.
function* clippers(el) {
  let position = styleValue(styleOf(el), "position");
  for (let up = composedParent(el); up !== null; up = composedParent(up)) {
    if (localName(up) === "slot") continue;
    if (position === "fixed" || position === "absolute") {
      const style = styleOf(up);
      const holds = position === "absolute" ? isAnchor(style) : styleValue(style, "transform") !== "none";
      if (!holds) continue;
    }
    yield up;
    position = styleValue(styleOf(up), "position");
  }
}

function escapes(el) {
  for (const up of clippers(el)) {
    const own = ownWindow(up);
    if (own !== null && own.shut) return false;
  }
  return true;
}

function exactPart(el, rect, view) {
  let box = meet(boxOf(view), rect);
  for (const up of clippers(el)) {
    const own = ownWindow(up);
    if (own !== null) box = meet(box, own);
  }
  return box;
}

// -- clips of the element itself -------------------------------------------------------------------------------------

function isCutByItself(el, rect) {
  const style = styleOf(el);
  const path = styleValue(style, "clip-path");
  if (path !== "none" && path !== "" && isNothing(path, rect)) return true;
  const position = styleValue(style, "position");
  if (position !== "absolute" && position !== "fixed") return false;
  const clip = styleValue(style, "clip");
  if (clip === "auto" || clip === "") return false;
  const edges = /^rect\(\s*([^\s,]+)[\s,]+([^\s,]+)[\s,]+([^\s,]+)[\s,]+([^\s,)]+)\s*\)$/.exec(clip);
  if (edges === null) return false;
  const [top, right, bottom, left] = edges.slice(1).map((edge, i) => (edge === "auto" ? [0, rect.width, rect.height, 0][i] : parseFloat(edge)));
  return right - left <= 1 || bottom - top <= 1;
}

const measure = (text, whole) => (text.endsWith("%") ? (parseFloat(text) / 100) * whole : parseFloat(text));

// Whether a clip path leaves nothing of a box: an inset that meets itself, a circle or an ellipse without a radius.
function isNothing(path, rect) {
  const inset = /^inset\(([^)]*)\)/.exec(path);
  if (inset !== null) {
    const edges = inset[1].split(" round ")[0].trim().split(/\s+/);
    const [top, right = top, bottom = top, left = right] = edges;
    return (
      measure(top, rect.height) + measure(bottom, rect.height) >= rect.height - 1 ||
      measure(left, rect.width) + measure(right, rect.width) >= rect.width - 1
    );
  }
  return /^(?:circle|ellipse)\(\s*0(?:px|%)?(?:\s|\))/.test(path);
}
