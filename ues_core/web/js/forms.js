// A digest of what a form would send: names and values never leave the page, only 32 hex characters do.

import { attr, collectionItem, collectionLength, formElements, inputChecked, inputFiles, inputType, inputValue, isHtml, localName, optionValue, selectedOptions, textareaValue } from "./dom.js";
import { formOf } from "./facts.js";
import { withheld } from "./secrets.js";
import { utf8 } from "./text.js";

const K = new Uint32Array(64);
const INITIAL = new Uint32Array(8);

// The constants of SHA-256 are the first 32 bits of the fractional parts of roots of primes (FIPS 180-4).
const fraction = (x) => ((x - Math.floor(x)) * 4294967296) >>> 0;

(() => {
  let found = 0;
  for (let n = 2; found < 64; n += 1) {
    let prime = true;
    for (let d = 2; d * d <= n; d += 1) if (n % d === 0) prime = false;
    if (!prime) continue;
    if (found < 8) INITIAL[found] = fraction(Math.sqrt(n));
    K[found] = fraction(Math.cbrt(n));
    found += 1;
  }
})();

const turn = (x, by) => (x >>> by) | (x << (32 - by));

/** SHA-256 of bytes, as 64 hex characters. */
export function sha256(bytes) {
  const length = bytes.length;
  const padded = new Uint8Array(((length + 8) >> 6 << 6) + 64);
  padded.set(bytes);
  padded[length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(length / 0x20000000));
  view.setUint32(padded.length - 4, (length << 3) >>> 0);
  const state = Uint32Array.from(INITIAL);
  const w = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) block(view, at, w, state);
  let hex = "";
  for (const word of state) hex += word.toString(16).padStart(8, "0");
  return hex;
}

function block(view, at, w, state) {
  for (let i = 0; i < 16; i += 1) w[i] = view.getUint32(at + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const x = w[i - 15];
    const y = w[i - 2];
    w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  const step = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < 8; i += 1) state[i] += step[i];
}

/** Digest over names and values of the node's form; values of secrets are left out by their names. Empty without a form. */
export function formDigest(el) {
  const form = formOf(el);
  if (form === null) return "";
  const rows = [];
  const controls = formElements(form);
  for (let i = 0; i < collectionLength(controls); i += 1) {
    const control = collectionItem(controls, i);
    const name = attr(control, "name") ?? "";
    rows.push([name, withheld(control) ? null : valueOf(control)]);
  }
  return sha256(utf8(JSON.stringify(rows))).slice(0, 32);
}

function valueOf(control) {
  if (!isHtml(control)) return "";
  switch (localName(control)) {
    case "input": {
      const type = inputType(control);
      if (type === "checkbox" || type === "radio") return [inputValue(control), inputChecked(control)];
      if (type === "file") return [...inputFiles(control)].map((file) => [file.name, file.size]);
      return inputValue(control);
    }
    case "textarea":
      return textareaValue(control);
    case "select": {
      const chosen = selectedOptions(control);
      const out = [];
      for (let i = 0; i < collectionLength(chosen); i += 1) out.push(optionValue(collectionItem(chosen, i)));
      return out;
    }
    default:
      return "";
  }
}
