// Waiting inside the document: looked at after changes, at most every tenth of a second.

import { bodyOf, documentElement, isConnected, readyState } from "./dom.js";
import { canonical, identityOf } from "./facts.js";
import { nodeOf } from "./keys.js";
import { contentOf, visibleText } from "./names.js";
import { tidy } from "./text.js";

const LOOK_MS = 100;
const TEXT_LIMIT = 200000;

/** Resolves to the index of the first condition that holds, or -1 after `ms`. */
export function watchFor(request) {
  const start = performance.now();
  let changedAt = start;
  const watches = request.conditions.map((condition) => ({ ...condition, first: null, since: start }));
  for (const watch of watches) watch.first = snapshot(watch);
  return new Promise((resolve) => {
    let timer = 0;
    const observer = new MutationObserver(() => {
      changedAt = performance.now();
    });
    const done = (index) => {
      observer.disconnect();
      clearInterval(timer);
      resolve(index);
    };
    const look = () => {
      const now = performance.now();
      for (let i = 0; i < watches.length; i += 1) {
        if (holds(watches[i], now, changedAt)) return done(i);
      }
      if (now - start >= request.ms) return done(-1);
      return undefined;
    };
    const root = documentElement(document);
    if (root !== null) observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    timer = setInterval(look, LOOK_MS);
    look();
  });
}

function snapshot(watch) {
  const el = watch.n > 0 ? nodeOf(watch.n) : null;
  if (el === null) return "";
  if (watch.kind === "node-changed") return isConnected(el) ? state(el) : "";
  return watch.kind === "node-text-stable" ? nodeText(el) : "";
}

const nodeText = (el) => contentOf(el, { seen: new Set([el]), left: TEXT_LIMIT });
const state = (el) => `${canonical(identityOf(el))}\n${nodeText(el)}`;

function holds(watch, now, changedAt) {
  const el = watch.n > 0 ? nodeOf(watch.n) : null;
  switch (watch.kind) {
    case "text-present":
      return pageText().includes(tidy(watch.text));
    case "text-absent":
      return !pageText().includes(tidy(watch.text));
    case "node-gone":
      return el === null || !isConnected(el);
    case "node-changed":
      return el === null || !isConnected(el) || state(el) !== watch.first;
    case "node-text-stable":
      return el !== null && isStable(watch, el, now);
    case "document-ready":
      return readyState(document) === "complete";
    case "quiet":
      return now - changedAt >= watch.seconds * 1000;
    default:
      return false;
  }
}

function isStable(watch, el, now) {
  const text = nodeText(el);
  if (text !== watch.first) {
    watch.first = text;
    watch.since = now;
  }
  return now - watch.since >= watch.seconds * 1000;
}

function pageText() {
  const body = bodyOf(document);
  return body === null ? "" : visibleText(body, TEXT_LIMIT);
}
