// Parts of image maps.

import { attr, closest, isHtml, localName, queryAll, rootNode } from "./dom.js";

/** The picture on which a part of an image map lies; null for any other element, and where no picture shows the map. */
export function pictureOf(el) {
  if (localName(el) !== "area" || !isHtml(el)) return null;
  const map = closest(el, "map");
  if (map === null) return null;
  const name = `#${attr(map, "name") ?? ""}`;
  for (const picture of queryAll(rootNode(map), "img[usemap]")) if (attr(picture, "usemap").trim() === name) return picture;
  return null;
}

const COORDINATES = 400;
const NOTHING = [0, 0, 0, 0];

/** [left, top, right, bottom] of the box around a part, in CSS pixels of its picture; null for the whole picture. */
export function shapeOf(area) {
  const shape = (attr(area, "shape") ?? "").trim().toLowerCase();
  if (shape === "default") return null;
  const at = (attr(area, "coords") ?? "").split(/[\s,;]+/, COORDINATES).filter(Boolean).map((one) => Number.parseFloat(one) || 0);
  if (shape.startsWith("circ")) return at.length < 3 ? NOTHING : [at[0] - at[2], at[1] - at[2], at[0] + at[2], at[1] + at[2]];
  if (at.length < 4) return NOTHING;
  const across = at.filter((_, i) => i % 2 === 0);
  const down = at.filter((_, i) => i % 2 === 1);
  return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
}
