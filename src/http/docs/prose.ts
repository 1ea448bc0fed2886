/**
 * The pieces that pages of the documentation are made of: code, tables, sentences with code in them.
 *
 * Invariant: every block of code can be reached by keyboard and has a name; every table may be wider than its screen.
 */

import { type Html, html, type Piece } from '../../messages/html.ts';

/** A block of code. `label` says what it is: a language, `Answer`. */
export function code(label: string, text: string): Html {
  return html`<figure class="code"><figcaption>${label}</figcaption><pre tabindex="0" aria-label="${label}" role="group"><code>${text}</code></pre></figure>`;
}

/** Text in which what stands between backticks is code. */
export function prose(text: string): Piece {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

/**
 * A table: its name for those who do not see it, its heads, its rows. The first cell of a row is the row's name. Roles are given
 * explicitly, because on a narrow screen the style makes a list of it, and browsers then no longer take it for a table.
 */
export function table(name: string, heads: readonly string[], rows: readonly (readonly Piece[])[]): Html {
  const titles = heads.map((head) => html`<th scope="col" role="columnheader">${head}</th>`);
  const lines = rows.map(([first, ...rest]) => {
    const cells = rest.map(
      (cell, index) => html`<td role="cell" data-head="${heads[index + 1]}">${written(cell)}</td>`,
    );
    return html`<tr role="row"><th scope="row" role="rowheader">${written(first)}</th>${cells}</tr>`;
  });
  return html`<div class="table" tabindex="0" role="group" aria-label="${name}"><table role="table"><thead role="rowgroup"><tr role="row">${titles}</tr></thead><tbody role="rowgroup">${lines}</tbody></table></div>`;
}

/** A heading that can be linked to. */
export function heading(id: string, title: string): Html {
  return html`<h2 id="${id}">${title}${anchor(id, title)}</h2>`;
}

/** The link beside a heading that leads to itself. `id` is the heading's; `title` names the link for those who do not see it. */
export function anchor(id: string, title: string): Html {
  return html`<a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a>`;
}

function written(cell: Piece): Piece {
  return typeof cell === 'string' ? prose(cell) : cell;
}
