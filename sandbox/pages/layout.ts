/**
 * What every page of the sandbox shares: the frame, the headers that guard it, and how it is sent.
 * Invariant: no page runs inline script or style, and none loads anything from a third party.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, type Part, type SafeHtml } from './html.ts';

export type Page = {
  readonly title: string;
  readonly language: string;
  readonly main: SafeHtml;
  /** Browser scripts by name, from sandbox/browser. */
  readonly scripts?: readonly string[];
  /** The style sheet in addition to the common one. */
  readonly sheet: 'phone' | 'tools';
  /** Content at the right of the top line. */
  readonly tools?: Part;
  readonly current?: '/' | '/phone' | '/inbox' | '/control';
  /** Names of the top line's links; English unless given. */
  readonly links?: readonly [start: string, phone: string, inbox: string, control: string];
};

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function sendHtml(reply: FastifyReply, content: SafeHtml): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-store')
    .send(content.text);
}

const addresses = ['/', '/phone', '/inbox', '/control'] as const;

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const names = page.links ?? ['Start', 'Phone', 'Inboxes', 'Control'];
  const links = addresses.map(
    (address, index) =>
      html`<a href="${address}"${address === page.current && html` aria-current="page"`}>${names[index]}</a>`,
  );
  const scripts = (page.scripts ?? []).map((name) => html`<script type="module" src="/assets/${name}.js"></script>`);
  const document = html`<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · Mbongo sandbox</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
<link rel="stylesheet" href="/assets/${page.sheet}.css">
${scripts}
</head>
<body>
<header class="top"><a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="28" height="28"><span>Mbongo sandbox</span></a>
<nav class="rooms" aria-label="Mbongo sandbox">${links}</nav>${page.tools}</header>
<main>${page.main}</main>
</body>
</html>
`;
  return sendHtml(reply, document);
}

/** Whether a browser opens the address as a page: what it asks for names HTML, and what a program asks for does not. */
export function opensPage({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}

/** For a person at an address where nothing is. */
export function sendLost(reply: FastifyReply): FastifyReply {
  const main = html`<div class="sheetless"><h1>There is no such page</h1>
    <p class="lead">The address may be mistyped, or belong to something that this sandbox has forgotten. <a href="/">The start page</a> lists what there is, and <a href="/shop">the shop</a> is open.</p></div>`;
  return sendPage(reply.code(404), { title: 'No such page', language: 'en', sheet: 'tools', main });
}
