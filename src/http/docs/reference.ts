/**
 * The reference: every call of the API, drawn from the OpenAPI document.
 *
 * Invariant: whatever the document says of a call appears here, and every call's anchor is its operationId.
 */

import { type Html, html, type Piece } from '../../messages/html.ts';
import { curlOf } from './curl.ts';
import type { Field, Shape } from './fields.ts';
import type { Section } from './frame.ts';
import { textAt } from './json.ts';
import { type Answer, groupsOf, type Operation } from './operations.ts';
import { anchor, code, prose } from './prose.ts';

/** The text of the reference, and its sections for the contents. */
export interface Reference {
  readonly main: Html;
  readonly sections: readonly Section[];
}

/** Renders the reference. `api` is where the calls go, for example `http://127.0.0.1:8080/api/v1`. */
export function renderReference(document: unknown, api: string): Reference {
  const groups = groupsOf(document).filter(({ operations }) => operations.length > 0);
  const main = html`<h1>Reference</h1>
<p class="lead">Every call, generated from the OpenAPI document of this gateway (<a href="/openapi.json">JSON</a>, <a href="/openapi.yaml">YAML</a>). All paths are relative to <code>${api}</code>.</p>
<p>${prose(textAt(document, 'info', 'description'))}</p>
<p>The examples use two shell variables: <code>$CREDENTIAL</code>, the merchant’s <code>key_id:secret</code>, and <code>$TOKEN</code>, a session token. <a href="/docs">The first page</a> sets both. You can try each call in the <a href="/docs/explorer">explorer</a>.</p>
${groups.map(
  ({ name, description, operations }) => html`<h2 id="${name}">${titled(name)}${anchor(name, titled(name))}</h2>
<p class="lead">${description}</p>
${operations.map((operation) => renderOperation(operation, api))}`,
)}`;
  const sections = groups.map(({ name, operations }) => ({
    id: name,
    title: titled(name),
    sections: operations.map(({ id, summary }) => ({ id, title: summary })),
  }));
  return { main, sections };
}

function titled(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

const CREDENTIALS = {
  merchant: 'Needs the merchant credential: call it from your backend only.',
  session: 'Needs a session token: an app, a web page or your backend may call it.',
  none: 'Needs no credential.',
} as const;

function renderOperation(operation: Operation, api: string): Html {
  const { id, method, path, summary, description, credential, parameters, body, answers } = operation;
  return html`<section class="op" id="${id}">
<h3>${summary}${anchor(id, summary)}</h3>
<p class="call"><span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code></p>
<p>${prose(description)}</p>
<p>${CREDENTIALS[credential]}</p>
${section(
  'Parameters',
  parameters.filter(({ location }) => location !== 'header').map(({ location, field }) => renderField(field, location)),
)}
${body === undefined ? undefined : renderBody(body.types, body.shapes)}
${code('Example with curl', curlOf(operation, api))}
${answers.map(renderAnswer)}
${renderRefusals(operation)}
${renderHeaders(operation)}
</section>`;
}

function renderBody(types: readonly string[], shapes: readonly Shape[]): Html {
  return html`<h4>Body, <code>${types.join(' or ')}</code></h4>${shapes.map(renderShape)}`;
}

function renderAnswer({ statuses, shapes, example, table }: Answer): Html {
  const title = `Answer ${statuses.join(', ')}`;
  return html`${example === undefined ? undefined : code(title, JSON.stringify(example, null, 2))}
<details class="more"><summary>Fields of the answer ${statuses.join(', ')}</summary>${shapes.map(renderShape)}${
    table === '' ? undefined : html`<p>As <code>text/csv</code>: ${prose(table)}</p>`
  }</details>`;
}

function renderRefusals({ refusals }: Operation): Html {
  const links = refusals.flatMap(({ status, codes }) =>
    codes.map(
      ({ code: number, name }) =>
        html`<li><a href="/docs/errors/${number}">${number} <code>${breakable(name)}</code></a> <span class="http">HTTP ${status}</span></li>`,
    ),
  );
  return html`<details class="more"><summary>Errors</summary><ul class="codes">${links}</ul></details>`;
}

/** Headers are the same for many calls, so they are folded away. */
function renderHeaders({ parameters }: Operation): Html | undefined {
  const headers = parameters.filter(({ location }) => location === 'header');
  if (headers.length === 0) return undefined;
  return html`<details class="more"><summary>Headers</summary><dl class="fields">${headers.map(({ field }) =>
    renderField(field),
  )}</dl></details>`;
}

function section(title: string, fields: readonly Html[]): Html | undefined {
  return fields.length === 0 ? undefined : html`<h4>${title}</h4><dl class="fields">${fields}</dl>`;
}

function renderShape({ name, fields }: Shape): Html {
  return html`${name === '' ? undefined : html`<p>${prose(name)}</p>`}<dl class="fields">${fields.map((field) => renderField(field))}</dl>`;
}

function renderField({ name, form, required, options, limits, meaning, fields }: Field, location = ''): Html {
  return html`<div><dt><code>${name}</code> <span class="kind">${[location, form, limits].filter((one) => one !== '').join(', ')}</span>${
    required ? html` <span class="must">required</span>` : undefined
  }</dt><dd>${optionsOf(options)}<p>${prose(meaning)}</p>${
    fields.length === 0 ? undefined : html`<dl class="fields">${fields.map((inner) => renderField(inner))}</dl>`
  }</dd></div>`;
}

function optionsOf(options: readonly string[]): Html | undefined {
  if (options.length === 0) return undefined;
  return html`<p>${options.map((option, index) => html`${index === 0 ? '' : ', '}<code>${option}</code>`)}</p>`;
}

/** Lets a long path or name break after its slashes and underscores. */
function breakable(text: string): Piece {
  return text.split(/(?<=[/_])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`));
}
