/**
 * The inbox pages: the list of inboxes, and what one of them caught.
 * Invariant: bodies and headers are untrusted text; they are only ever shown escaped.
 */
import { html, type SafeHtml } from '../pages/html.ts';
import { formatMoment } from '../pages/languages.ts';
import type { InboxSummary, InboxView } from './inboxes.ts';

const shownOnPage = 50;

/** The body as text, with JSON indented; bytes that are not text are described, not shown. */
function readableBody(body: Buffer): string {
  const text = body.toString('utf8');
  if (text.includes('\ufffd')) return `${body.length} bytes that are not text`;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function messageCard(message: InboxView['messages'][number]): SafeHtml {
  const { headers } = message;
  const names = Object.keys(headers).sort();
  const body = readableBody(message.body);
  return html`<article class="card hook">
    <div class="hook-top"><h2>${headers['webhook-event'] ?? 'webhook'} <span class="hook-id">${headers['webhook-id']}</span></h2>
      <time class="soft" datetime="${new Date(message.at).toISOString()}">${formatMoment('en', message.at)}</time></div>
    <div class="hook-top"><p class="verdict ${message.verdict}">${message.why}</p>
      <p class="soft">${message.attempt > 1 && html`attempt ${message.attempt} · `}answered ${message.answered ?? 'nothing'}</p></div>
    ${body === '' ? html`<p class="soft">No body.</p>` : html`<pre tabindex="0" aria-label="Body">${body}</pre>`}
    <details data-key="${message.id}"><summary>${names.length} headers</summary><div class="scroll"><table class="headers"><tbody>
      ${names.map((name) => html`<tr><th scope="row">${name}</th><td>${headers[name]}</td></tr>`)}</tbody></table></div></details>
  </article>`;
}

function emptyInbox(address: string): SafeHtml {
  return html`<div class="card stack"><h2>Nothing caught yet</h2>
    <p class="soft">Give the address above as <code>notify_url</code> when you collect, or send something by hand:</p>
    <pre tabindex="0">curl -X POST ${address} \\
  -H 'Content-Type: application/json' \\
  -d '{"hello":"inbox"}'</pre></div>`;
}

/** The part of the page that is fetched again after each catch. */
export function inboxMessages(view: InboxView, address: string): SafeHtml {
  const { messages, total } = view;
  const shown = messages.slice(0, shownOnPage);
  const latest = messages[0];
  return html`<div data-screen><div data-part="messages" data-version="${total}-${messages.length}-${latest?.verdict ?? ''}"><div class="stack">
    ${messages.length === 0 && emptyInbox(address)}
    ${shown.map(messageCard)}
    ${messages.length > shown.length && html`<p class="soft">Showing the newest ${shown.length} of ${messages.length}; the rest is in the JSON.</p>`}
    </div></div><p class="hush" role="status" aria-live="polite" data-announce>${latest && `Webhook ${latest.id}: ${latest.why}`}</p></div>`;
}

export type InboxPage = { readonly view: InboxView; readonly address: string; readonly badSecret: boolean };

export function inboxMain({ view, address, badSecret }: InboxPage): SafeHtml {
  const { name, hasSecret } = view;
  return html`<div class="sheetless"><div class="head"><h1>Inbox ${name}</h1><a href="/inbox/${name}/messages">JSON</a></div>
    <div class="columns">
      <section class="card stack"><h2>Address</h2><p class="address">${address}</p>
        <div class="buttons"><button class="quiet copy-page" type="button" data-copy="${address}" data-copied="Copied">Copy address</button></div></section>
      <section class="card stack"><h2><label for="secret">Webhook secret</label></h2>
        <form method="post" action="/inbox/${name}/secret" class="stack">
          <span class="row"><input id="secret" name="secret" type="password" autocomplete="off"${badSecret && html` aria-invalid="true" aria-describedby="secret-error"`}>
          <button class="main">${hasSecret ? 'Replace' : 'Use'}</button></span>
          ${badSecret && html`<p class="wrong" id="secret-error" role="alert">A secret is whsec_ and base64. Copy it from where the merchant was made.</p>`}
          <p class="soft">${hasSecret ? 'A secret is set; it is not shown again.' : 'No secret known yet: paste it here, whsec_ included, and signatures are checked.'}</p></form></section>
    </div>
    <section data-live="/inbox/${name}/list" data-events="/inbox/${name}/events">${inboxMessages(view, address)}<p class="wrong" role="status" data-offline="Connection lost. Trying again…"></p></section>
    <form method="post" action="/inbox/${name}/clear"><button class="quiet">Empty this inbox</button></form></div>`;
}

/** `wrong`: what was given as a name, and cannot be one. */
export function inboxList(inboxes: readonly InboxSummary[], root: string, wrong?: string): SafeHtml {
  const lines = inboxes
    .slice(0, 200)
    .map(
      (one) =>
        html`<li><a href="/inbox/${one.name}">${one.name}</a><span class="soft">${one.total} caught${one.last_at !== null && html` · ${formatMoment('en', one.last_at)}`}</span></li>`,
    );
  return html`<div class="sheetless"><h1>Inboxes</h1>
    <p class="lead">An inbox catches the webhooks sent to it, shows them as they come, and says whether their signatures verify.</p>
    <form class="card open" method="get" action="/inbox"><label for="name">Open an inbox by name</label>
      <span class="row"><input id="name" name="name" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]{0,63}" value="${wrong ?? 'demo'}" autocomplete="off" required${wrong !== undefined && html` aria-invalid="true" aria-describedby="name-fault" autofocus`}><button class="main">Open</button></span>
      ${wrong !== undefined && html`<p class="wrong" id="name-fault">No inbox can have this name: it has 1 to 64 letters, digits, dots and dashes, and begins with a letter or a digit.</p>`}
      <p class="soft">Letters, digits, dots and dashes. It exists as soon as something is sent to it.</p></form>
    ${lines.length > 0 ? html`<ul class="card list">${lines}</ul>` : html`<div class="card stack"><h2>No inbox has caught anything yet</h2><p class="soft">Send something, or use the address as <code>notify_url</code>:</p><pre tabindex="0">curl -X POST ${root}/inbox/demo -d 'hello'</pre></div>`}</div>`;
}
