// Private numbers of nodes, kept weakly: a number is never given twice in a document, and keeps no node alive.

const numbers = new WeakMap();
const nodes = new Map();
const forget = new FinalizationRegistry((n) => nodes.delete(n));
let last = 0;

/** The number of a node; minted at the first call. */
export function keyOf(node) {
  let n = numbers.get(node);
  if (n === undefined) {
    n = ++last;
    numbers.set(node, n);
    nodes.set(n, new WeakRef(node));
    forget.register(node, n);
  }
  return n;
}

/** The node of a number, or null when it was collected. */
export function nodeOf(n) {
  const ref = nodes.get(n);
  return ref === undefined ? null : ref.deref() ?? null;
}
