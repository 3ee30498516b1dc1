// The labels of controls, by one look at all labels: to ask each control for its own makes the engine walk the document each time.

import { labelControl, queryAll, rootNode } from "./dom.js";
import { perRun } from "./run.js";

const NONE = [];

const perRoot = perRun(() => new Map());

/** The labels of a control in the order of the tree. */
export function labelsOf(el) {
  const root = rootNode(el);
  const known = perRoot();
  let labels = known.get(root);
  if (labels === undefined) {
    labels = new Map();
    for (const label of queryAll(root, "label")) {
      const control = labelControl(label);
      if (control === null) continue;
      const own = labels.get(control);
      if (own === undefined) labels.set(control, [label]);
      else own.push(label);
    }
    known.set(root, labels);
  }
  return labels.get(el) ?? NONE;
}
