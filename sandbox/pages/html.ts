/**
 * A small HTML template that escapes by default.
 * Invariant: only text produced by `html` itself gets into a page unescaped; everything else is escaped, in text and in quoted
 * attributes alike.
 */

const escaped = new WeakSet<SafeHtml>();

export type SafeHtml = { readonly text: string };
export type Part = SafeHtml | string | number | null | undefined | false | readonly Part[];

function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function isSafe(part: object): part is SafeHtml {
  // An object of the same shape that arrived over the network is not in the set, and is never trusted.
  return escaped.has(part as SafeHtml);
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string') return escapeText(part);
  if (typeof part === 'number') return String(part);
  if (isSafe(part)) return part.text;
  // Only lists are left; anything else slipped past the types and is not shown at all.
  return Array.isArray(part) ? part.map(render).join('') : '';
}

/** Builds HTML: html`<p>${name}</p>`. Null, undefined and false render as nothing; arrays are joined. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): SafeHtml {
  let text = strings[0] ?? '';
  parts.forEach((part, index) => {
    text += render(part) + (strings[index + 1] ?? '');
  });
  const safe = { text };
  escaped.add(safe);
  return safe;
}
