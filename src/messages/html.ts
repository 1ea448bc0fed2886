/**
 * A template tag for HTML that escapes by default.
 *
 * Invariant: a string never becomes markup. Only what `html` itself made goes in unescaped, and nothing can pose as
 * that, because the marks are kept in a set that only this file holds.
 */

/** A piece of markup that `html` made. */
export interface Html {
  readonly markup: string;
}

/** What may stand between the pieces of a template: text, markup, or a list of them. `undefined` is nothing. */
export type Piece = string | number | Html | undefined | readonly Piece[];

const made = new WeakSet<object>();
const ESCAPED: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** Markup with its values escaped. Values belong in text and in quoted attributes, never in scripts or styles. */
export function html(pieces: TemplateStringsArray, ...values: readonly Piece[]): Html {
  const result = { markup: pieces.reduce((before, piece, i) => before + write(values[i - 1]) + piece) };
  made.add(result);
  return result;
}

function write(value: Piece): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') return String(value).replace(/[&<>"'`]/g, (character) => ESCAPED[character] ?? '');
  if (isList(value)) return value.map(write).join('');
  if (!made.has(value)) throw new TypeError('only what html`` made may go in as markup');
  return value.markup;
}

function isList(value: Html | readonly Piece[]): value is readonly Piece[] {
  return Array.isArray(value);
}
