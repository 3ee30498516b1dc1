// One observation of one frame: candidates by the engine's own query, gated, named and cut here, before anything crosses the wire.

import {
  bodyOf, checkVisibility, composedChildren, composedContains, composedParent, documentElement, firstChild, frameDocument,
  inputType, isConnected, isHtml, legacyFrameDocument, localName, matches, nextSibling, nodeType, queryAll, scrollHeight,
  scrollingElement, shadowRootOf, textData, titleOf, ELEMENT, TEXT, attr, hostOf, rootNode,
} from "./dom.js";
import { factsOf, identityOf } from "./facts.js";
import { frameOffset, viewSize, visibleRect } from "./geometry.js";
import { keyOf, nodeOf } from "./keys.js";
import { visibleText } from "./names.js";
import { isFocusable, roleOf } from "./roles.js";
import { watchSecrets } from "./secrets.js";
import { cut, tidy, utf8 } from "./text.js";

const CONTROLS =
  "a[href],area[href],button,input,textarea,select,summary,[role],[contenteditable],[tabindex],h1,h2,h3,h4,h5,h6," +
  "dialog[open],iframe,frame,audio[controls],video[controls]";
const CONTENT =
  CONTROLS + ",p,li,dt,dd,td,th,caption,figcaption,blockquote,pre,legend,output,img[alt],progress,meter,nav,main,aside,header,footer," +
  "article,section,form,fieldset,ul,ol,dl,table,tr,address,time";
const STATIC_ROLES = new Set(
  ("paragraph listitem term definition cell gridcell columnheader rowheader caption blockquote code img status alert note log " +
    "time heading").split(" "),
);
const HALVES = new Set(["button", "checkbox", "radio", "switch"]);
const SAMPLE_LIMIT = 8000;

/** Everything observable in this frame, as JSON of the contract's Collected. */
export function collect(request) {
  if (request.frame !== "" && isForeign()) return JSON.stringify({ foreign: true });
  const root = request.within > 0 ? nodeOf(request.within) : document;
  if (root === null || (request.within > 0 && !isConnected(root))) return JSON.stringify({ gone: true });
  watchSecrets(document);
  const where = {
    page: request.page, frame: request.frame, document: request.document, origin: request.frame === "" ? "" : self.origin,
    offset: request.boxes ? frameOffset() : null,
  };
  request.view = viewSize();
  const found = candidatesOf(root, request.detail === "content" ? CONTENT : CONTROLS);
  const state = gather(found, where, request);
  return assemble(found, state, where, root, request);
}

// A frame may have gone to another origin since its parent looked; what it shows now is not the parent's to show.
function isForeign() {
  try {
    return window.frameElement === null;
  } catch {
    return true;
  }
}

// -- candidates ------------------------------------------------------------------------------------------------------

function candidatesOf(root, selector) {
  const found = { elements: [], reasons: new Set(), flat: true };
  if (hasShadow(root)) {
    found.flat = false;
    descend(root, selector, found);
    return found;
  }
  if (nodeType(root) === ELEMENT && matches(root, selector)) found.elements.push(root);
  for (const el of queryAll(root, selector)) found.elements.push(el);
  return found;
}

function hasShadow(root) {
  if (nodeType(root) === ELEMENT && (shadowRootOf(root) !== null || localName(root) === "slot")) return true;
  for (const el of queryAll(root, "*")) {
    if (shadowRootOf(el) !== null) return true;
  }
  return false;
}

// The flattened tree, without recursion: a page may be ten thousand levels deep.
function descend(root, selector, found) {
  const stack = [nodeType(root) === ELEMENT ? root : documentElement(root)];
  while (stack.length > 0) {
    const el = stack.pop();
    if (el === null || nodeType(el) !== ELEMENT) continue;
    if (localName(el) !== "slot" && matches(el, selector)) found.elements.push(el);
    const shadow = shadowRootOf(el);
    if (shadow !== null) watchSecrets(shadow);
    let children;
    try {
      children = composedChildren(el);
    } catch {
      found.reasons.add("slot-unresolved");
      continue;
    }
    for (let i = children.length - 1; i >= 0; i -= 1) stack.push(children[i]);
  }
}

// -- gating and naming -----------------------------------------------------------------------------------------------

function gather(found, where, request) {
  const state = {
    json: [], index: new Map(), parents: new Map(), hidden: 0, partial: false, reasons: found.reasons, bytes: 2, frames: [], skipped: 0,
    sample: [], matched: 0,
  };
  const limit = Math.min(found.elements.length, request.scan_window);
  let at = 0;
  for (; at < limit; at += 1) {
    const el = found.elements[at];
    const tag = localName(el);
    if ((tag === "iframe" || tag === "frame") && isHtml(el)) {
      noteFrame(el, state);
      continue;
    }
    if (!isCandidate(el, tag, request)) continue;
    state.matched += 1;
    const rect = visibleRect(el);
    if (rect === null) {
      state.hidden += 1;
      continue;
    }
    if (request.find !== null && !isSought(el, rect, request.find)) continue;
    if (state.skipped < request.skip) {
      state.skipped += 1;
      continue;
    }
    if (state.json.length >= request.max_nodes) {
      state.reasons.add("node-budget-exceeded");
      break;
    }
    if (!emit(el, rect, where, request, state)) {
      state.reasons.add("byte-budget-exceeded");
      break;
    }
  }
  state.stopped = at < limit;
  if (!state.stopped && found.elements.length > limit) state.reasons.add("scan-window-exceeded");
  state.partial = state.stopped || found.elements.length > limit;
  if (state.stopped) countFrames(found, at, state);
  return state;
}

function isCandidate(el, tag, request) {
  if (tag === "input" && isHtml(el) && inputType(el) === "hidden") return false;
  const role = roleOf(el);
  if (role === "none" || isInnerHalf(el, role)) return false;
  if (request.detail !== "content") return true;
  return role !== "generic" || matches(el, CONTROLS) || hasOwnText(el);
}

// A component that says itself that it is a checkbox has another one inside: to a person the two are one.
function isInnerHalf(el, role) {
  if (!HALVES.has(role)) return false;
  const root = rootNode(el);
  return root instanceof ShadowRoot && roleOf(hostOf(root)) === role && isFocusable(hostOf(root));
}

function hasOwnText(el) {
  for (let child = firstChild(el); child !== null; child = nextSibling(child)) {
    if (nodeType(child) === TEXT && textData(child).trim() !== "") return true;
  }
  return false;
}

function isSought(el, rect, find) {
  const id = identityOf(el, rect);
  if (find.role !== "" && id.role !== find.role) return false;
  if (find.text === "") return true;
  const wanted = tidy(find.text).toLowerCase();
  if (id.name.toLowerCase().includes(wanted)) return true;
  const facts = factsOf(el, { page: "", frame: "", document: "", origin: "", offset: null }, rect, { boxes: false });
  return (facts.value ?? "").toLowerCase().includes(wanted) || (facts.description ?? "").toLowerCase().includes(wanted);
}

function emit(el, rect, where, request, state) {
  const facts = factsOf(el, where, rect, request);
  if (request.detail === "content" && STATIC_ROLES.has(facts.role) && !facts.interactive) {
    facts.content = true;
    if (!facts.name) {
      const text = cut(visibleText(el, 300), 300);
      if (text !== "") facts.name = cut(text, 180);
    }
  }
  const parent = parentIndex(el, state);
  if (parent !== null) facts.parent = parent;
  const json = JSON.stringify(facts);
  const bytes = json.length === 0 ? 0 : sizeOf(json) + 1;
  if (state.bytes + bytes > request.max_bytes) return false;
  state.bytes += bytes;
  state.index.set(el, state.json.length);
  state.json.push(json);
  if (request.detail === "content" && facts.name) state.sample.push(facts.name);
  return true;
}

const ASCII = /^[\x20-\x7e]*$/;
const sizeOf = (json) => (ASCII.test(json) ? json.length : utf8(json).length);

// Ancestors come before their descendants, so what was found about one holds for all below it.
function parentIndex(el, state) {
  const passed = [];
  let found = null;
  for (let up = composedParent(el); up !== null; up = composedParent(up)) {
    const own = state.index.get(up);
    if (own !== undefined) {
      found = own;
      break;
    }
    const known = state.parents.get(up);
    if (known !== undefined) {
      found = known;
      break;
    }
    passed.push(up);
  }
  for (const up of passed) state.parents.set(up, found);
  return found;
}

// -- frames ----------------------------------------------------------------------------------------------------------

function noteFrame(el, state) {
  let same = false;
  try {
    same = (localName(el) === "iframe" ? frameDocument(el) : legacyFrameDocument(el)) !== null;
  } catch {
    same = false;
  }
  state.frames.push({
    n: keyOf(el), same, shown: checkVisibility(el, { visibilityProperty: true, opacityProperty: true }) && visibleRect(el) !== null,
    parent: parentIndex(el, state), src: cut((attr(el, "src") || "").toWellFormed(), 2000),
  });
}

function countFrames(found, from, state) {
  for (let i = from; i < found.elements.length; i += 1) {
    const el = found.elements[i];
    const tag = localName(el);
    if ((tag === "iframe" || tag === "frame") && isHtml(el)) noteFrame(el, state);
  }
}

// -- the whole -------------------------------------------------------------------------------------------------------

/** The surface's own facts. */
export function surfaceOf(where) {
  return {
    page: where.page,
    document: where.document,
    location: cut(window.location.href.toWellFormed(), 8192),
    title: cut(tidy(titleOf(document)), 300),
    viewport: {
      width: clamp(Math.round(window.innerWidth), 64, 10000),
      height: clamp(Math.round(window.innerHeight), 64, 10000),
      scale: clamp(window.devicePixelRatio, 0.5, 4),
    },
  };
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

function assemble(found, state, where, root, request) {
  const scroller = scrollingElement(document);
  const head = {
    surface: surfaceOf(where),
    candidates: state.matched,
    hidden_matches: state.hidden,
    hidden_matches_partial: state.partial,
    reasons: [...state.reasons],
    scroll_x: window.scrollX,
    scroll_y: window.scrollY,
    content_height: scroller === null ? 0 : scrollHeight(scroller),
  };
  if (request.skip > 0) head.emitted_from = state.skipped;
  if (root !== document) head.root = factsOf(root, where, visibleRect(root), request);
  if (request.anchor > 0) head.anchor = anchorOf(request.anchor, state, root);
  if (request.detail === "content") {
    const body = bodyOf(document);
    head.text_sample = cut(state.sample.join("\n").slice(0, SAMPLE_LIMIT), SAMPLE_LIMIT) || (body === null ? "" : visibleText(body, SAMPLE_LIMIT));
  }
  const json = JSON.stringify(head);
  const nodes = `${json.slice(0, -1)},"nodes":[${state.json.join(",")}]}`;
  return state.frames.length === 0 ? nodes : `${JSON.stringify(state.frames)}\n${nodes}`;
}

function anchorOf(n, state, root) {
  const el = nodeOf(n);
  if (el === null || !isConnected(el)) return { connected: false, contained: root === document ? null : false };
  const index = state.index.get(el);
  return {
    connected: true,
    index: index === undefined ? null : index,
    contained: root === document ? null : composedContains(root, el),
  };
}


/** How many nodes a subtree has in the flattened tree, counted up to a little more than `limit`. */
export function countNodes(request) {
  const root = request.n > 0 ? nodeOf(request.n) : documentElement(document);
  if (root === null) return 0;
  const stack = [root];
  let count = 0;
  while (stack.length > 0 && count <= request.limit) {
    const node = stack.pop();
    count += 1;
    if (nodeType(node) !== ELEMENT) continue;
    for (let child = firstChild(node); child !== null; child = nextSibling(child)) stack.push(child);
    const shadow = shadowRootOf(node);
    if (shadow !== null) for (let child = firstChild(shadow); child !== null; child = nextSibling(child)) stack.push(child);
  }
  return count;
}
