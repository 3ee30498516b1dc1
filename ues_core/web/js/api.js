// What the driver may call. Each call takes one plain object and gives one text, so an operation is one round trip.

import { aim, focus, inspect, scroll, select, takesFiles, verify } from "./act.js";
import { addRoot, hosts, planHosts, seekHosts } from "./closed.js";
import { collect, surfaceOf } from "./collect.js";
import { isScrolledOut } from "./clipping.js";
import { attr, isConnected, queryDocument, readyState, rectOf } from "./dom.js";
import { identityOf } from "./facts.js";
import { sha256 } from "./forms.js";
import { boxOnPage, frameOffset, MARKERS, outward } from "./frames.js";
import { hitTest, isInView, through, viewSize, visibleRect } from "./geometry.js";
import { askedAbout, learn } from "./internals.js";
import { arm, disarm, watch } from "./guard.js";
import { keyOf, nodeOf } from "./keys.js";
import { read } from "./read.js";
import { watchSecrets } from "./secrets.js";
import { normalise, utf8 } from "./text.js";
import { watchFor } from "./waiting.js";

const text = (operation) => (request) => JSON.stringify(operation(request));

// Where nodes are in the page, for boxes in a picture; `beyond` is said of what only the page's own scrolling keeps out of view.
function boxes(request) {
  const offset = frameOffset();
  return request.ns.map((n) => {
    const el = nodeOf(n);
    if (el === null) return { omitted: "unbound" };
    if (!isConnected(el)) return { omitted: "detached" };
    const rect = visibleRect(el);
    if (rect === null) return { omitted: "hidden" };
    const clear = offset.foreign ? [] : null;
    const { status } = hitTest(el, clear);
    return {
      box: boxOnPage(rect, offset), out: outward([...MARKERS, ...(clear ?? [])], offset), beyond: isBeyond(el, rect, offset),
      omitted: status === "occluded" || status === "off-viewport" ? status : "",
    };
  });
}

function isBeyond(el, rect, { owners, foreign }) {
  if (owners.length === 0 && !foreign) return !isScrolledOut(el, rect);
  if (!isInView(el, rect, viewSize())) return false;
  const outermost = owners.at(-1);
  return outermost === undefined || !isScrolledOut(outermost, rectOf(outermost));
}

// What points of a frame are in this one.
function throughFrame(request) {
  const el = nodeOf(request.n);
  if (el === null || !isConnected(el)) return { gone: true };
  return through(el, request.points);
}

// What every element that a selector finds is taken for; `mark` is an attribute by which the asker tells them apart.
function identities(request) {
  const out = [];
  for (const el of document.querySelectorAll(request.selector)) out.push({ mark: attr(el, request.mark) || "", ...identityOf(el) });
  return out;
}

const FRAMES_WAIT = 250;

// Once what changed was drawn twice: only then a pointer meets a frame of another process where it is now. A hidden page draws nothing.
const drawn = () =>
  new Promise((done) => {
    setTimeout(done, FRAMES_WAIT, "");
    requestAnimationFrame(() => requestAnimationFrame(() => done("")));
  });

const api = {
  collect,
  surface: text(surfaceOf),
  inspect: text(inspect),
  aim: text(aim),
  focus: text(focus),
  verify: text(verify),
  select: text(select),
  scroll: text(scroll),
  takesFiles: text(takesFiles),
  disarm: text(disarm),
  block: text(() => {
    arm(null, "", "none");
    return {};
  }),
  askedAbout,
  learn: text(learn),
  seekHosts: text(seekHosts),
  planHosts: text(planHosts),
  hosts,
  addRoot: (root, limit) => JSON.stringify(addRoot(root, limit)),
  read: text(read),
  boxes: text(boxes),
  identities: text(identities),
  through: text(throughFrame),
  outward: text(() => ({ out: outward(MARKERS) })),
  watchFor: (request) => watchFor(request).then(String),
  drawn: () => drawn(),
  node: (n) => nodeOf(n),
  keyOf: (node) => keyOf(node),
  begin,
  early: () => String(early),
  nothing: () => "",
  normalise: (request) => normalise(request.text),
  sha256: (request) => sha256(utf8(request.text)),
};

// Whether the collector was here before any script of the page could run.
let early = false;

function begin() {
  early = readyState(document) === "loading" && queryDocument(document, "script, body").length === 0;
  watch();
  watchSecrets(document);
}

/** Install once per world. The document after a blank one may inherit the world: then only what looks at documents is renewed. */
export function install() {
  if (Object.hasOwn(globalThis, "__ues")) {
    globalThis.__ues.begin();
    return;
  }
  Object.defineProperty(globalThis, "__ues", { value: Object.freeze(api) });
  begin();
}
