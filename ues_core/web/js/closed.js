// Closed shadow roots. Script cannot find them; the browser is shown the elements that may have one, and hands the roots over.

import {
  attr, attributeNames, closedRoots, documentElement, firstChild, hostOf, isHtml, localName, nextSibling, nodeType, openRootOf, ELEMENT,
} from "./dom.js";
import { keyOf, nodeOf } from "./keys.js";

// The standard lets these have a shadow root, and every element with a dash in its name.
const HOSTS = new Set("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split(" "));
/** About what the browser's description of one element takes, in bytes, without its attributes. */
const DESCRIBED = 460;

let pending = [];
let frames = [];

/** Begin to look below a node or the whole document: {nodes, frames}; the elements that may be hosts are kept for `hosts`. */
export function seekHosts(request) {
  const root = request.n > 0 ? nodeOf(request.n) : documentElement(document);
  pending = [];
  frames = [];
  if (root === null) return { gone: true };
  const nodes = enlist(root, request.limit);
  return { nodes, frames };
}

function enlist(root, limit) {
  const stack = [root];
  let count = 0;
  while (stack.length > 0 && count <= limit) {
    const node = stack.pop();
    count += 1;
    const type = nodeType(node);
    if (type === ELEMENT && isHtml(node)) {
      const name = localName(node);
      const open = openRootOf(node);
      if (open !== null) stack.push(open);
      else if (HOSTS.has(name) || name.includes("-")) pending.push(node);
      if (name === "iframe" || name === "frame") frames.push(keyOf(node));
    }
    for (let child = firstChild(node); child !== null; child = nextSibling(child)) stack.push(child);
  }
  return count;
}

/** The next slice of what may be hosts: {to, weight}, at least one as long as there are any. */
export function planHosts(request) {
  let to = request.from;
  let weight = 0;
  while (to < pending.length && weight < request.weight) {
    weight += DESCRIBED;
    for (const name of attributeNames(pending[to])) weight += name.length + (attr(pending[to], name) ?? "").length + 8;
    to += 1;
  }
  return { to, weight };
}

/** A slice of what may be hosts, for the browser to describe. */
export const hosts = (from, to) => pending.slice(from, to);

/** Take a closed root that the browser handed over: {nodes, frames, walked}; what is in it is looked at next. */
export function addRoot(root, limit) {
  const known = frames.length;
  closedRoots.add(hostOf(root), root);
  return { nodes: enlist(root, limit), frames: frames.slice(known), walked: closedRoots.wasWalked(root) };
}
