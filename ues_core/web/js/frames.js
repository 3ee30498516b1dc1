// How points of one frame are points of another: a map {a, b, c, d, x, y} takes (u, v) to (x + a u + c v, y + b u + d v).

import { clientLeft, clientTop, composedParent, offsetHeight, offsetWidth, rectOf, styleOf, styleValue } from "./dom.js";

const SAME = { a: 1, b: 0, c: 0, d: 1, x: 0, y: 0 };

/** Where this frame's viewport is in the page's, through same-origin frames, and the elements on the way, outermost last. */
export function frameOffset() {
  let map = SAME;
  let foreign = window !== window.parent;
  const owners = [];
  try {
    for (let view = window; view !== view.parent; view = view.parent) {
      const owner = view.frameElement;
      if (owner === null) break;
      foreign = view.parent !== view.parent.parent;
      map = after(contentBox(owner), map);
      owners.push(owner);
    }
  } catch {
    // A cross-origin ancestor: what is known so far is all there is.
    foreign = true;
  }
  return { ...map, owners, foreign };
}

/** The map that does `first`, then `then`. */
export const after = (then, first) => ({
  a: then.a * first.a + then.c * first.b, b: then.b * first.a + then.d * first.b,
  c: then.a * first.c + then.c * first.d, d: then.b * first.c + then.d * first.d, ...onPage(first, then),
});

/** A point of this frame as a point of the page. */
export const onPage = ({ x, y }, map) => ({ x: map.x + map.a * x + map.c * y, y: map.y + map.b * x + map.d * y });

/** A rectangle of this frame as the box around it on the page. */
export function boxOnPage(rect, map) {
  const middle = onPage({ x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 }, map);
  const { width, height } = spread(map, rect.width, rect.height);
  return { x: middle.x - width / 2, y: middle.y - height / 2, width, height };
}

// How wide and high what is `width` by `height` becomes.
const spread = ({ a, b, c, d }, width, height) => ({
  width: Math.abs(a) * width + Math.abs(c) * height, height: Math.abs(b) * width + Math.abs(d) * height,
});

/** A map as a list, and back. */
export const listed = ({ a, b, c, d, x, y }) => [a, b, c, d, x, y];
export const mapOf = ([a, b, c, d, x, y]) => ({ a, b, c, d, x, y });

/** Points by which a map is known. */
export const MARKERS = [{ x: 0, y: 0 }, { x: 1000, y: 0 }, { x: 0, y: 1000 }];

/** Points as a cross-origin ancestor's child knows them, for the ancestor to take on: {up, points}; nothing where there is none. */
export function outward(points, offset = frameOffset()) {
  if (!offset.foreign) return undefined;
  return { up: offset.owners.length, points: points.map((point) => Object.values(onPage(point, offset))) };
}

/** How points of a frame are points of this one, by the frame's element; and the element's rectangle. */
export function contentBox(owner) {
  const rect = rectOf(owner);
  const style = styleOf(owner);
  const [width, height] = [offsetWidth(owner), offsetHeight(owner)];
  const turned = transformOf(owner);
  // What no transform tells of, such as `zoom`, shows in the size.
  const seen = spread(turned, width, height);
  const scale = seen.width > 0 ? rect.width / seen.width : 1;
  const map = { a: turned.a * scale, b: turned.b * scale, c: turned.c * scale, d: turned.d * scale, x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
  const corner = {
    x: clientLeft(owner) + (parseFloat(styleValue(style, "padding-left")) || 0) - width / 2,
    y: clientTop(owner) + (parseFloat(styleValue(style, "padding-top")) || 0) - height / 2,
  };
  // Whatever turns and stretches a box keeps its middle in the middle of the rectangle around it.
  return { ...map, ...onPage(corner, map), rect };
}

// How an element is turned and stretched by itself and all around it. Where it is moved to, its rectangle tells.
function transformOf(el) {
  let map = SAME;
  for (let up = el; up !== null; up = composedParent(up)) {
    const style = styleOf(up);
    for (const own of [styleValue(style, "transform"), scaling(styleValue(style, "scale")), turning(styleValue(style, "rotate"))]) {
      if (own !== "" && own !== "none") map = { ...after(matrixOf(own), map), x: 0, y: 0 };
    }
  }
  return map;
}

const given = (value) => value !== "" && value !== "none";

const scaling = (value) => (given(value) ? `scale3d(${[...value.split(" "), ...(value.includes(" ") ? [] : [value])].concat("1").slice(0, 3).join(",")})` : "");

function turning(value) {
  if (!given(value)) return "";
  const words = value.split(" ");
  if (words.length === 1) return `rotate(${value})`;
  return words.length === 2 ? `rotate${words[0].toUpperCase()}(${words[1]})` : `rotate3d(${words.join(",")})`;
}

function matrixOf(text) {
  const { a, b, c, d } = new DOMMatrix(text);
  return { a, b, c, d, x: 0, y: 0 };
}
