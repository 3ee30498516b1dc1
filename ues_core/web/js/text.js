// One normaliser for observing and re-checking: both must derive the same characters from the same page.

export const NAME_LIMIT = 180;
export const DESCRIPTION_LIMIT = 300;

// Zero-width, soft-hyphen, byte-order, bidirectional controls: invisible, and able to reorder or fake what is shown.
// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;
// ASCII white space, controls, and what ends a line; other spaces, such as the one that does not break, are characters of a text.
// eslint-disable-next-line no-control-regex
const SPACE = /[ \u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
const EDGES = /^ | $/g;
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The longest prefix of whole graphemes with at most `limit` UTF-16 units. */
export function cut(text, limit) {
  if (text.length <= limit) return text;
  let end = 0;
  for (const part of segmenter.segment(text.slice(0, limit + 64))) {
    const next = part.index + part.segment.length;
    if (next > limit) break;
    end = next;
  }
  return text.slice(0, end).replace(/ $/, "");
}

/** Characters of a name or an attribute that are looked at, at most: a page may give megabytes, and an expression has only so much stack. */
const LONGEST = 65536;

/** The part of a text that is looked at. */
export const bounded = (text) => (text.length <= LONGEST ? text : text.trimStart().slice(0, LONGEST));

/** Invisible characters removed, white space collapsed, lone surrogates replaced. */
export function tidy(text) {
  if (text.length <= LONGEST && PLAIN.test(text)) return text;
  return text.toWellFormed().replace(INVISIBLE, "").replace(SPACE, " ").replace(EDGES, "");
}

/** A text as people search for it: every kind of space is one, capitals count for nothing. */
export const folded = (text) => tidy(text).replace(/\s+/g, " ").trim().toLowerCase();

/** A name, as it is compared and shown. */
export const normalise = (text) => cut(tidy(bounded(text)), NAME_LIMIT);

/** An attribute for display, tidied and cut. */
export const brief = (text, limit) => (text === null || text === "" ? "" : cut(tidy(bounded(text)), limit));

// Many controls of a form go to one address, and parsing an address costs more than all else about a control.
const scrubbed = new Map();
const SCRUBBED_KEPT = 256;

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export const utf8 = (text) => encoder.encode(text);

/** An http(s) URL without user information, query and fragment; empty for everything else. */
export function scrub(url) {
  if (url === "" || !/^https?:/i.test(url)) return "";
  let clean = scrubbed.get(url);
  if (clean === undefined) {
    clean = withoutSecrets(url);
    if (scrubbed.size >= SCRUBBED_KEPT) scrubbed.clear();
    scrubbed.set(url, clean);
  }
  return clean;
}

function withoutSecrets(url) {
  try {
    const parsed = new URL(url);
    return cut(parsed.origin + parsed.pathname, 500);
  } catch {
    return "";
  }
}
