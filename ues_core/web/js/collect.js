// One observation of one frame: candidates by the engine's own query, gated, named and cut here, before anything crosses the wire.

import {
  bodyOf, checkVisibility, closedRoots, composedContains, composedParent, frameDocument, isConnected, isHtml,
  legacyFrameDocument, localName, scrollHeight, scrollingElement, titleOf, attr,
} from "./dom.js";
import { candidatesOf, contentName, gate, isContent } from "./candidates.js";
import { factsOf } from "./facts.js";
import { seeker } from "./find.js";
import { after, contentBox, frameOffset, listed, mapOf } from "./frames.js";
import { isInView, meetsViewport, placeOf, roughRect, viewSize, visibleRect } from "./geometry.js";
import { askAbout, askedCount, beginAsking, mayHaveInternals } from "./internals.js";
import { keyOf, nodeOf } from "./keys.js";
import { visibleText } from "./names.js";
import { watchSecrets } from "./secrets.js";
import { bounded, cut, tidy, utf8 } from "./text.js";

const SAMPLE_LIMIT = 8000;
/** The clock is looked at once in so many elements; one of them that is named takes as long as hundreds that are only looked at. */
const GLANCED = 512;
const NAMED = 8;
const now = performance.now.bind(performance);
/** Up to so many matches, each is looked at as closely as those that are shown. */
const CLOSE_LOOKS = 600;
/** Up to so many matches it is counted which of them are hidden; of those after them only where they lie is asked. */
const COUNTED = 4000;

/** Everything observable in this frame, as JSON of the contract's Collected. */
export function collect(request) {
  if (request.frame !== "" && !mayEnter(request)) return JSON.stringify({ foreign: true });
  const root = request.within > 0 ? nodeOf(request.within) : document;
  if (root === null || (request.within > 0 && !isConnected(root))) return JSON.stringify({ gone: true });
  watchSecrets(document);
  closedRoots.begin(request.pierce === true);
  beginAsking();
  const where = {
    page: request.page, frame: request.frame, document: request.document, origin: request.frame === "" ? "" : self.origin,
    offset: request.boxes ? offsetIn(request) : null,
  };
  request.view = viewSize();
  request.until = now() + request.milliseconds;
  const found = candidatesOf(root, request.detail);
  const state = gather(found, where, request);
  return assemble(found, state, where, root, request);
}

const mayEnter = (request) => request.any || request.origins.includes(self.origin) || !isForeign();

// Where this frame's viewport is in the page's: `base` is that of the outermost frame of the same origin, `own` that of this frame
// as its parent saw it. Which of the two holds is asked here, since a frame may have gone to another origin meanwhile.
function offsetIn(request) {
  const offset = frameOffset();
  return offset.owners.length === 0 && request.own !== null ? mapOf(request.own) : after(mapOf(request.base), offset);
}

// A frame may have gone to another origin since its parent looked; what it shows now is not the parent's to show.
function isForeign() {
  try {
    return window.frameElement === null;
  } catch {
    return true;
  }
}

// -- gathering -------------------------------------------------------------------------------------------------------

// What the latest listing began with: a cursor goes on in its order, wherever the page was scrolled to meanwhile.
let begun = new WeakSet();

function gather(found, where, request) {
  const state = {
    json: [], index: new Map(), parents: new Map(), hidden: 0, observable: 0, partial: false, reasons: found.reasons, bytes: 2, frames: [],
    skipped: 0, sample: [], embedded: [],
  };
  const seen = scan(found, request, state);
  const order = inOrder(seen, request);
  show(order, where, request, state);
  for (const el of state.embedded) noteFrame(el, where, state, request);
  return state;
}

// Everything that matches: where it is drawn, and whether a person sees it now. Nothing is named yet, but for what is sought.
function scan(found, request, state) {
  const { elements } = found;
  const limit = Math.min(elements.length, request.scan_window);
  const counts = gate(found, request.detail);
  const isSought = request.find === null ? null : seeker(request.find, request);
  const close = limit <= CLOSE_LOOKS;
  const seen = { elements: [], rects: [], first: [], close };
  for (let at = 0; at < limit; at += 1) {
    if (at % GLANCED === GLANCED - 1 && isLate(request, state)) break;
    const el = elements[at];
    const tag = localName(el);
    if ((tag === "iframe" || tag === "frame") && isHtml(el)) {
      state.embedded.push(el);
      continue;
    }
    if (!counts(el, tag)) continue;
    if (!found.flat && !request.learned && mayHaveInternals(el)) askAbout(el);
    let rect = close ? visibleRect(el) : at < COUNTED ? roughRect(el) : placeOf(el);
    let first = rect !== null && meetsViewport(rect, request.view);
    if (first && !close) rect = visibleRect(el);
    if (rect === null) {
      state.hidden += 1;
      continue;
    }
    if (isSought !== null && (isLate(request, state) || !isSought(el, rect))) continue;
    first = request.skip > 0 ? begun.has(el) : first && isInView(el, rect, request.view);
    seen.elements.push(el);
    seen.rects.push(rect);
    seen.first.push(first);
  }
  state.observable = seen.elements.length;
  state.partial = state.partial || limit > COUNTED;
  if (elements.length > limit) {
    state.reasons.add("scan-window-exceeded");
    state.partial = true;
  }
  return seen;
}

// What there was time for is told, and that it is not all.
function isLate(request, state) {
  if (now() <= request.until) return false;
  state.reasons.add("time-budget-exceeded");
  state.partial = true;
  return true;
}

// First what is in the viewport, with the nodes around it, then the rest; each in the order of the tree.
function inOrder(seen, request) {
  const { elements, first } = seen;
  if (request.skip === 0) {
    const around = new Set();
    for (let i = 0; i < elements.length; i += 1) {
      if (!first[i]) continue;
      for (let up = composedParent(elements[i]); up !== null && !around.has(up); up = composedParent(up)) around.add(up);
    }
    begun = new WeakSet();
    for (let i = 0; i < elements.length; i += 1) {
      first[i] = first[i] || around.has(elements[i]);
      if (first[i]) begun.add(elements[i]);
    }
  }
  return seen;
}

function* ordered({ first }) {
  for (let i = 0; i < first.length; i += 1) if (first[i]) yield i;
  for (let i = 0; i < first.length; i += 1) if (!first[i]) yield i;
}

function show(seen, where, request, state) {
  for (const at of ordered(seen)) {
    const el = seen.elements[at];
    const rect = seen.close ? seen.rects[at] : visibleRect(el);
    if (rect === null) {
      state.hidden += 1;
      state.observable -= 1;
      continue;
    }
    if (state.skipped < request.skip) {
      state.skipped += 1;
      state.index.set(el, EARLIER);
      continue;
    }
    if (state.json.length % NAMED === NAMED - 1 && isLate(request, state)) return;
    const full = state.json.length >= request.max_nodes;
    if (full || !emit(el, rect, where, request, state)) {
      state.reasons.add(full ? "node-budget-exceeded" : "byte-budget-exceeded");
      state.partial = state.partial || !seen.close;
      return;
    }
  }
}

function emit(el, rect, where, request, state) {
  const facts = factsOf(el, where, rect, request);
  if (request.detail === "content" && isContent(el, facts.role ?? "", facts.interactive === true)) {
    facts.content = true;
    if (!facts.name) {
      const text = contentName(el, facts.role ?? "");
      if (text !== "") facts.name = text;
    }
  }
  putParent(facts, el, where, state);
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

// A parent that an earlier page of the listing told of is named by its key: the host knows it by its ref.
const EARLIER = -1;

function putParent(facts, el, where, state) {
  const { at, up } = parentOf(el, state);
  if (at === EARLIER) facts.parent_key = { page: where.page, frame: where.frame, document: where.document, n: keyOf(up) };
  else if (at !== null) facts.parent = at;
}

const NOWHERE = { at: null, up: null };

// Ancestors come before their descendants, so what was found about one holds for all below it.
function parentOf(el, state) {
  const passed = [];
  let found = NOWHERE;
  for (let up = composedParent(el); up !== null; up = composedParent(up)) {
    const own = state.index.get(up);
    if (own !== undefined) {
      found = { at: own, up };
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

function noteFrame(el, where, state, request) {
  let same = false;
  try {
    same = (localName(el) === "iframe" ? frameDocument(el) : legacyFrameDocument(el)) !== null;
  } catch {
    same = false;
  }
  const box = contentBox(el);
  const map = request.boxes ? after(offsetIn(request), box) : box;
  const around = { parent: null };
  putParent(around, el, where, state);
  state.frames.push({
    ...around,
    n: keyOf(el), same, map: listed(map), seen: meetsViewport(box.rect), shown: checkVisibility(el, { visibilityProperty: true, opacityProperty: true }) && visibleRect(el) !== null,
    src: cut((attr(el, "src") || "").toWellFormed(), 2000),
  });
}

// -- the whole -------------------------------------------------------------------------------------------------------

/** The surface's own facts. */
export function surfaceOf(where) {
  return {
    page: where.page,
    document: where.document,
    location: cut(window.location.href.toWellFormed(), 8192),
    title: cut(tidy(bounded(titleOf(document))), 300),
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
    candidates: state.observable + state.hidden,
    hidden_matches: state.hidden,
    hidden_matches_partial: state.partial,
    reasons: [...state.reasons],
    scroll_x: window.scrollX,
    scroll_y: window.scrollY,
    content_height: scroller === null ? 0 : scrollHeight(scroller),
  };
  if (found.pierced > 0) head.pierced = found.pierced;
  if (request.skip > 0) head.emitted_from = state.skipped;
  if (root !== document) head.root = factsOf(root, where, visibleRect(root), request);
  if (request.anchor > 0) head.anchor = anchorOf(request.anchor, state, root);
  if (request.detail === "content") {
    const body = bodyOf(document);
    head.text_sample = cut(state.sample.join("\n").slice(0, SAMPLE_LIMIT), SAMPLE_LIMIT) || (body === null ? "" : visibleText(body, SAMPLE_LIMIT));
  }
  const json = JSON.stringify(head);
  const nodes = `${json.slice(0, -1)},"nodes":[${state.json.join(",")}]}`;
  const asked = askedCount();
  return state.frames.length + asked === 0 ? nodes : `${JSON.stringify({ frames: state.frames, asked })}\n${nodes}`;
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
