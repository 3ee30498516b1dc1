// Preparing and checking input. What is typed and clicked goes through the browser's own input, never from here.

import {
  attr, bodyOf, clientHeight, clientWidth, collectionItem, collectionLength, composedContains, composedParent, createRange, deepActive,
  dispatchEvent, focusHtml, getSelection, hasEditContext, inputType, inputValue, isConnected, isHtml, localName, matches, optionSelected, scrollElementBy,
  scrollHeight, scrollIntoView, scrollLeft, scrollTop, scrollWidth, scrollingElement, selectInput, selectMultiple, selectOptions,
  selectTextarea, setInputValue, setOptionSelected, styleOf, styleValue, innerText, textContent, textareaValue,
} from "./dom.js";
import { pictureOf } from "./areas.js";
import { canonical, factsOf, identityOf } from "./facts.js";
import { formDigest } from "./forms.js";
import { frameOffset, MARKERS, onPage, outward } from "./frames.js";
import { hitTest, meetsViewport, visibleRect } from "./geometry.js";
import { arm, watch } from "./guard.js";
import { nodeOf } from "./keys.js";

const SETTABLE = new Set(["date", "time", "datetime-local", "month", "week", "color", "range"]);

function live(request) {
  const el = nodeOf(request.n);
  return el !== null && isConnected(el) ? el : null;
}

const no = (code, detail = "") => ({ code, detail });

/** Live facts, hit test and form digest of one node. */
export function inspect(request) {
  const el = live(request);
  if (el === null) return { connected: false, surface_document: request.main };
  const offset = frameOffset();
  const where = { page: request.page, frame: request.frame, document: request.document, origin: request.frame === "" ? "" : self.origin, offset };
  const clear = offset.foreign ? [] : null;
  const hit = hitTest(el, clear);
  const out = outward([...MARKERS, ...(clear ?? [])], offset);
  if (hit.x !== undefined) {
    Object.assign(hit, onPage(hit, offset));
  }
  return {
    connected: true, facts: factsOf(el, where, visibleRect(el), { boxes: true }), hit, form_digest: formDigest(el),
    surface_document: request.main, out,
  };
}

function checked(request) {
  const el = live(request);
  if (el === null) return { refusal: no("target-gone", "the node is not in the document") };
  const id = identityOf(el);
  const now = canonical(id);
  if (request.expect !== "" && now !== request.expect) return { refusal: { ...no("target-changed"), live: now } };
  return { el, id, now };
}

const REFUSED = { "not-visible": "target-not-visible", "off-viewport": "target-off-viewport", occluded: "target-occluded" };

/** Find a point for the pointer and arm the guard: {x, y} in the page's coordinates, or {code}. */
export function aim(request) {
  const { el, now, refusal } = checked(request);
  if (refusal) return refusal;
  const offset = frameOffset();
  const clear = offset.foreign ? [] : null;
  const hit = hitTest(el, clear);
  if (hit.status !== "clear") return { ...no(REFUSED[hit.status]), covered_by: hit.covered_by ?? "" };
  if (request.rearm) watch();
  if (request.guard) arm(el, request.expect, "pointer");
  return { code: "ok", ...onPage(hit, offset), live: now, out: outward(clear, offset) };
}

/** Focus a node and arm the guard for keys; with `replace`, select all its text. */
export function focus(request) {
  const { el, id, now, refusal } = checked(request);
  if (refusal) return refusal;
  if (request.editable) {
    if (id.disabled) return no("target-disabled");
    if (!id.editable) return no("target-not-editable");
  }
  if (!id.visible) return no("target-not-visible");
  if (id.tag === "input" && request.replace && SETTABLE.has(id.input_type)) return setNative(el, id, request, now);
  const before = deepActive();
  if (before === null || !composedContains(el, before)) focusHtml(el, { preventScroll: true });
  const active = deepActive();
  if (active === null || !composedContains(el, active)) return no("landed-elsewhere", "the node did not take the focus");
  const drawn = hasEditContext(el);
  if (request.replace && !drawn) selectAll(el, id);
  if (request.rearm) watch();
  arm(el, request.expect, "key");
  return { code: "ok", live: now, empty: request.replace && !drawn ? textOf(el) === "" : false, select_by_key: request.replace && drawn };
}

function selectAll(el, id) {
  if (id.tag === "input") selectInput(el);
  else if (id.tag === "textarea") selectTextarea(el);
  else {
    const range = createRange(document);
    range.selectNodeContents(el);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }
}

function setNative(el, id, request, now) {
  focusHtml(el, { preventScroll: true });
  setInputValue(el, request.text);
  announce(el, "input");
  announce(el, "change");
  return { code: "ok", live: now, done: true, value_equal: sameNative(inputValue(el), request.text, id.input_type) };
}

const sameNative = (kept, asked, type) =>
  type === "range" ? Number(kept) === Number(asked) : kept.toLowerCase() === asked.trim().toLowerCase();

const announce = (el, type) => dispatchEvent(el, new Event(type, { bubbles: true, composed: true }));

function textOf(el) {
  const tag = localName(el);
  if (tag === "input" && isHtml(el)) return inputValue(el);
  if (tag === "textarea" && isHtml(el)) return textareaValue(el);
  return textContent(el);
}

/** Whether a node now has exactly this text: {equal}. The text itself stays here. */
export function verify(request) {
  const el = live(request);
  if (el === null) return no("target-gone");
  const tag = localName(el);
  const asked = request.text.toWellFormed();
  if (tag === "input" && isHtml(el)) return { code: "ok", equal: inputValue(el) === asked };
  if (tag === "textarea" && isHtml(el)) return { code: "ok", equal: textareaValue(el) === asked.replace(/\r\n?/g, "\n") };
  const wanted = loose(asked);
  const equal = loose(textContent(el)) === wanted || loose(innerText(el)) === wanted;
  // With an EditContext the page keeps the text where it likes: that it is not here says nothing.
  return { code: "ok", equal: equal || !hasEditContext(el) ? equal : null };
}

const loose = (text) => text.replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ").replace(/\n{2,}/g, "\n").replace(/\n+$/, "");

/** Choose one option of a select by index. */
export function select(request) {
  const { el, id, now, refusal } = checked(request);
  if (refusal) return refusal;
  if (id.tag !== "select" || !isHtml(el)) return no("not-a-select");
  if (id.disabled) return no("target-disabled");
  const options = selectOptions(el);
  const option = request.index < collectionLength(options) ? collectionItem(options, request.index) : null;
  if (option === null) return no("option-missing", "there is no option with this index");
  if (matches(option, ":disabled")) return no("option-missing", "the option is disabled");
  focusHtml(el, { preventScroll: true });
  if (selectMultiple(el)) {
    for (let i = 0; i < collectionLength(options); i += 1) setOptionSelected(collectionItem(options, i), i === request.index);
  } else {
    setOptionSelected(option, true);
  }
  announce(el, "input");
  announce(el, "change");
  return { code: "ok", live: now, selected: optionSelected(option) };
}

/** Bring a node into view, or scroll the page or a node's scroller. */
export function scroll(request) {
  if (request.direction === "") return intoView(request);
  let scroller = scrollingElement(document) ?? bodyOf(document);
  if (request.n > 0) {
    const el = live(request);
    if (el === null) return no("target-gone");
    scroller = scrollerOf(el, request.direction) ?? scroller;
  }
  if (scroller === null) return no("scroll-target-unreachable", "there is nothing to scroll");
  const sideways = request.direction === "left" || request.direction === "right";
  const page = sideways ? clientWidth(scroller) : clientHeight(scroller);
  const amount = (request.amount ?? page) * (request.direction === "up" || request.direction === "left" ? -1 : 1);
  const before = sideways ? scrollLeft(scroller) : scrollTop(scroller);
  scrollElementBy(scroller, { left: sideways ? amount : 0, top: sideways ? 0 : amount, behavior: "instant" });
  const after = sideways ? scrollLeft(scroller) : scrollTop(scroller);
  return { code: "ok", scrolled: after - before };
}

function intoView(request) {
  const el = live(request);
  if (el === null) return no("target-gone");
  const before = visibleRect(el);
  scrollIntoView(pictureOf(el) ?? el, { block: "center", inline: "nearest", behavior: "instant" });
  const rect = visibleRect(el);
  const shown = rect !== null && meetsViewport(rect);
  return {
    code: shown ? "ok" : "scroll-target-unreachable", scrolled: before === null || rect === null ? 0 : before.top - rect.top, in_viewport: shown,
    out: rect === null ? undefined : outward([{ x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 }]),
  };
}

function scrollerOf(el, direction) {
  const sideways = direction === "left" || direction === "right";
  for (let up = el; up !== null; up = composedParent(up)) {
    const flow = styleValue(styleOf(up), sideways ? "overflow-x" : "overflow-y");
    const room = sideways ? scrollWidth(up) - clientWidth(up) : scrollHeight(up) - clientHeight(up);
    if (room > 0 && /^(?:auto|scroll|overlay)$/.test(flow)) return up;
  }
  return null;
}

/** Whether a node takes files: {code}. */
export function takesFiles(request) {
  const { el, id, now, refusal } = checked(request);
  if (refusal) return refusal;
  if (id.tag !== "input" || inputType(el) !== "file") return no("target-not-editable", "the node is no file input");
  if (id.disabled) return no("target-disabled");
  return { code: "ok", live: now, multiple: attr(el, "multiple") !== null };
}

