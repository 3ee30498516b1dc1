// What is drawn, and where.

import {
  anyRootOf, checkVisibility, composedChildren, documentHit, inputType, isHtml, localName, nodeType, rectOf, rectsOf, shadowHit,
  styleOf, styleValue, composedContains, labelControl, ELEMENT, composedParent, attr, classNameOf, hasEditContext, hostOf, matches, offsetHeight, offsetWidth, ownerDocument,
  queryAll, rootNode, createRange, firstChild, nextSibling, rangeRect, selectContents, textData, TEXT,
} from "./dom.js";
import { pictureOf, shapeOf } from "./areas.js";
import { inView, isClippedAway } from "./clipping.js";
import { boxOnPage, contentBox, frameOffset, onPage } from "./frames.js";
import { labelsOf } from "./labels.js";
import { inAriaHidden } from "./secrets.js";
import { brief } from "./text.js";

const VISIBLE = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: false };
const UNFADED = { visibilityProperty: true, contentVisibilityAuto: false };
const NATIVE = "input:not([type=hidden i]),button,select,textarea";
const SEARCH = 24;

const drawn = (rect) => rect.width > 0 && rect.height > 0;

/** The rectangle by which a person would operate the element, or null when it is not drawn. */
export function visibleRect(el) {
  if (checkVisibility(el, VISIBLE)) {
    const rect = rectOf(el);
    if (drawn(rect)) {
      if (isTinyControl(el, rect)) return labelRect(el) ?? rect;
      if (!isClippedAway(el, rect) && !isFoundOnly(el)) return rect;
    } else {
      const inner = drawnChild(el, SEARCH);
      if (inner !== null) return inner;
    }
  } else if (isBoxless(el)) {
    const inner = drawnChild(el, SEARCH) ?? textRect(el);
    if (inner !== null) return inner;
  }
  return labelRect(el) ?? overlayRect(el) ?? editorRect(el) ?? areaRect(el);
}

/** As visibleRect, without asking whether something around the element clips it away: for counting what is never shown to anyone. */
export function roughRect(el) {
  if (checkVisibility(el, VISIBLE)) {
    const rect = rectOf(el);
    if (rect.width > 1 && rect.height > 1) return rect;
  }
  return visibleRect(el);
}

/** As roughRect, without asking whether the element is seen there: for telling which of very many lie in the viewport. */
export function placeOf(el) {
  const rect = rectOf(el);
  return rect.width > 1 && rect.height > 1 ? rect : visibleRect(el);
}

// `display: contents`. In what is not rendered at all, a style is dear to ask for, and nothing below can be drawn.
function isBoxless(el) {
  const parent = composedParent(el);
  if (parent === null || !isHtml(el)) return false;
  if (!checkVisibility(parent, VISIBLE) && styleValue(styleOf(parent), "display") !== "contents") return false;
  return styleValue(styleOf(el), "display") === "contents";
}

// Shown only when somebody searches the page for it: its box is there, and nothing in it is drawn.
function isFoundOnly(el) {
  const word = attr(el, "hidden");
  return word !== null && word.toLowerCase() === "until-found";
}

// Text right inside an element that has no box of its own.
function textRect(el) {
  for (let child = firstChild(el); child !== null; child = nextSibling(child)) {
    if (nodeType(child) !== TEXT || textData(child).trim() === "") continue;
    const range = createRange(document);
    selectContents(range, child);
    const rect = rangeRect(range);
    if (drawn(rect) && checkVisibility(composedParent(el), UNFADED)) return rect;
  }
  return null;
}

/** Whether a person sees the element where the page stands now: in the viewport, and not scrolled out of anything around it. */
export const isInView = (el, rect, view) => meetsViewport(rect, view) && inView(pictureOf(el) ?? el, rect, view);

// The hidden-checkbox-with-visible-label is one operable node: its label is where it is drawn.
function labelRect(el) {
  if (localName(el) !== "input" || !isHtml(el)) return null;
  const type = inputType(el);
  if (type !== "checkbox" && type !== "radio" && type !== "file") return null;
  for (const label of labelsOf(el)) {
    if (!checkVisibility(label, VISIBLE)) continue;
    const rect = rectOf(label);
    if (drawn(rect)) return rect;
  }
  return null;
}

// A control that something else draws lies unseen over the drawing: in a component's own shadow root, or right inside what is shown.
function overlayRect(el) {
  if (!isHtml(el) || !matches(el, NATIVE) || inAriaHidden(el) || !checkVisibility(el, UNFADED)) return null;
  const drawing = drawingOf(el);
  if (drawing === null || !checkVisibility(drawing, VISIBLE) || styleValue(styleOf(el), "pointer-events") === "none") return null;
  const rect = rectOf(el);
  return drawn(rect) ? rect : null;
}

// A part of an image map has no box: it is where its shape lies on the picture that shows the map.
function areaRect(el) {
  const picture = pictureOf(el);
  if (picture === null || !checkVisibility(picture, VISIBLE)) return null;
  const box = contentBox(picture);
  const [left, top, right, bottom] = shapeOf(el) ?? [0, 0, offsetWidth(picture), offsetHeight(picture)];
  const shape = boxOnPage({ left, top, width: right - left, height: bottom - top }, box);
  const [x, y] = [Math.max(shape.x, box.rect.left), Math.max(shape.y, box.rect.top)];
  const rect = new DOMRect(x, y, Math.min(shape.x + shape.width, box.rect.right) - x, Math.min(shape.y + shape.height, box.rect.bottom) - y);
  return drawn(rect) && !isClippedAway(picture, rect) ? rect : null;
}

// What takes text through an EditContext may be as wide as a caret, or lie beneath the drawing of the text: the editor around it
// is where a person would point.
function editorAround(el) {
  if (!isHtml(el) || !hasEditContext(el)) return null;
  if (drawn(rectOf(el)) && !styleValue(styleOf(el), "z-index").startsWith("-")) return null;
  for (let up = composedParent(el), left = 4; up !== null && left > 0; up = composedParent(up), left -= 1) {
    if (drawn(rectOf(up))) return up;
  }
  return null;
}

function editorRect(el) {
  const editor = editorAround(el);
  if (editor === null || !checkVisibility(el, UNFADED) || !checkVisibility(editor, VISIBLE)) return null;
  const rect = rectOf(editor);
  return isClippedAway(editor, rect) ? null : rect;
}

// A component has one control, or the two ends of a range; a whole page in a shadow root is no component.
function drawingOf(el) {
  const root = rootNode(el);
  if (root instanceof ShadowRoot && queryAll(root, NATIVE).length <= 2) return hostOf(root);
  return localName(el) === "input" && /^(?:checkbox|radio|range)$/.test(inputType(el)) ? composedParent(el) : null;
}

function isTinyControl(el, rect) {
  return rect.width <= 1 && rect.height <= 1 && localName(el) === "input";
}

function drawnChild(el, left) {
  let budget = left;
  const queue = [el];
  while (queue.length > 0 && budget > 0) {
    for (const child of composedChildren(queue.shift())) {
      if (nodeType(child) !== ELEMENT || budget-- <= 0) continue;
      if (checkVisibility(child, VISIBLE)) {
        const rect = rectOf(child);
        if (drawn(rect) && !isClippedAway(child, rect)) return rect;
      }
      queue.push(child);
    }
  }
  return null;
}

/** Whether a rectangle meets the viewport of this frame. */
export const meetsViewport = (rect, view = viewSize()) =>
  rect.top < view.height && rect.bottom > 0 && rect.left < view.width && rect.right > 0;

/** Size of this frame's viewport; read once per operation, because reading it makes the engine check the layout. */
export const viewSize = () => ({ width: window.innerWidth, height: window.innerHeight });

/** Points of a frame as points of this one, and whether a pointer there would meet the frame: {up, points}. */
export function through(owner, points) {
  const box = contentBox(owner);
  const offset = frameOffset();
  const mapped = points.map(([inX, inY]) => {
    const { x, y } = onPage({ x: inX, y: inY }, box);
    const out = { ...onPage({ x, y }, offset), status: "clear", covered_by: "" };
    const view = viewSize();
    if (x < Math.max(0, box.rect.left) || y < Math.max(0, box.rect.top) || x >= Math.min(view.width, box.rect.right)
      || y >= Math.min(view.height, box.rect.bottom)) return { ...out, status: "off-viewport" };
    const hit = hitAt(x, y);
    const cover = hit === owner ? coverInParents({ x, y }) : hit;
    if (cover === BEYOND) return { ...out, status: "off-viewport" };
    return hit === owner && cover === null ? out : { ...out, status: "occluded", covered_by: describe(cover) };
  });
  return { up: offset.foreign ? offset.owners.length : -1, points: mapped };
}

/** The topmost element at a point of this frame, through open shadow roots. */
export function hitAt(x, y) {
  let hit = documentHit(document, x, y);
  while (hit !== null) {
    const root = anyRootOf(hit);
    if (root === null) return hit;
    const inner = shadowHit(root, x, y);
    if (inner === null || inner === hit || !composedContains(hit, inner)) return hit;
    hit = inner;
  }
  return null;
}

/** Whether input that meets `hit` operates `target`: the target, something inside it, its label or its component. */
export function accepts(target, hit) {
  if (hit === null) return false;
  if (composedContains(target, hit)) return true;
  for (let el = hit; el !== null; el = composedParent(el)) {
    if (localName(el) === "label" && isHtml(el) && labelControl(el) === target) return true;
  }
  const editor = editorAround(target);
  return (editor !== null && composedContains(editor, hit)) || isTakenByHost(target, hit);
}

// A component's only control may let the pointer through, so that the component itself takes the click.
function isTakenByHost(target, hit) {
  const root = rootNode(target);
  return root instanceof ShadowRoot && hostOf(root) === hit && queryAll(root, NATIVE).length === 1 && matches(target, NATIVE)
    && styleValue(styleOf(target), "pointer-events") === "none";
}

/** A few points that a pointer could be put on, best first, within the viewport. */
export function candidatePoints(el) {
  const points = [];
  const rects = [...rectsOf(el)].filter((rect) => drawn(rect) && meetsViewport(rect));
  if (rects.length === 0 || (rects.length === 1 && isTinyControl(el, rects[0]))) {
    const rect = visibleRect(el);
    if (rect !== null && meetsViewport(rect)) rects.unshift(rect);
  }
  for (const rect of rects.slice(0, 3)) {
    const left = Math.max(rect.left, 0);
    const top = Math.max(rect.top, 0);
    const width = Math.min(rect.right, window.innerWidth) - left;
    const height = Math.min(rect.bottom, window.innerHeight) - top;
    for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75]]) {
      points.push({ x: left + width * fx, y: top + height * fy });
    }
  }
  return points;
}

/** What a pointer aimed at the element would meet: {status, x, y, covered_by} in this frame's coordinates; `clear` takes all clear points. */
export function hitTest(el, clear = null) {
  const rect = visibleRect(el);
  if (rect === null) return { status: "not-visible" };
  const points = candidatePoints(el);
  if (points.length === 0) return { status: "off-viewport" };
  let cover = null;
  let isBeyond = true;
  for (const point of points) {
    const hit = hitAt(point.x, point.y);
    if (accepts(el, hit)) {
      const outer = coverInParents(point);
      if (outer === BEYOND) continue;
      isBeyond = false;
      if (outer === null && clear === null) return { status: "clear", x: point.x, y: point.y };
      if (outer === null) clear.push(point);
      cover ??= outer;
    } else {
      isBeyond = false;
      cover ??= hit;
    }
  }
  if (isBeyond) return { status: "off-viewport" };
  if (clear !== null && clear.length > 0) return { status: "clear", x: clear[0].x, y: clear[0].y };
  return { status: "occluded", x: points[0].x, y: points[0].y, covered_by: describe(cover) };
}

/** Said of a point that a parent of the frame has scrolled away. */
const BEYOND = Symbol("beyond");

// A frame may itself be covered in its parent, or scrolled away there: the parent's own hit test must meet the frame's element.
function coverInParents(point) {
  let { x, y } = point;
  try {
    for (let view = window; view !== view.parent; view = view.parent) {
      const owner = view.frameElement;
      if (owner === null) return null;
      ({ x, y } = onPage({ x, y }, contentBox(owner)));
      const outside = view.parent;
      if (x < 0 || y < 0 || x >= outside.innerWidth || y >= outside.innerHeight) return BEYOND;
      let hit = documentHit(ownerDocument(owner), x, y);
      while (hit !== null && hit !== owner && anyRootOf(hit) !== null) {
        const inner = shadowHit(anyRootOf(hit), x, y);
        if (inner === null || inner === hit) break;
        hit = inner;
      }
      if (hit !== owner) return hit ?? owner;
    }
  } catch {
    return null;
  }
  return null;
}

/** A short description of what covers a node. */
export function describe(el) {
  if (el === null) return "nothing in this document";
  const parts = [attr(el, "role") || localName(el)];
  const id = attr(el, "id");
  if (id) parts.push(`#${id}`);
  const first = classNameOf(el).trim().split(/\s+/)[0];
  if (first) parts.push(`.${first}`);
  const label = attr(el, "aria-label");
  if (label) parts.push(` "${label}"`);
  return brief(parts.join(""), 200);
}
