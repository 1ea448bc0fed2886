/**
 * The explorer: a page on which the calls of the API can be tried.
 *
 * Invariant: all of it comes from this gateway, and its policy lets it talk to no other host. It does not replace the
 * documentation: a reader without scripts is led back there.
 */

import { html } from '../../messages/html.ts';
import type { DocsAssets } from './assets.ts';
import { DOCS_HEADERS } from './frame.ts';

/** The library writes styles of its own into the page. Scripts are loaded from our own addresses only, and never inline. */
export const EXPLORER_HEADERS = {
  ...DOCS_HEADERS,
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** The explorer's page as HTML, in English; it is sent with `EXPLORER_HEADERS`. */
export function renderExplorer(assets: DocsAssets): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Explorer · Mbongo</title>
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<link rel="stylesheet" href="${assets.explorerStyle}">
</head>
<body>
<nav class="back" aria-label="Documentation"><a href="/docs">Documentation</a> <a href="/docs/reference">Reference</a></nav>
<noscript><p>The explorer needs JavaScript. The <a href="/docs/reference">reference</a> describes the same calls without it.</p></noscript>
<div id="explorer"></div>
<script src="${assets.explorerGuard}"></script>
<script src="${assets.reference}"></script>
<script src="${assets.explorer}"></script>
</body>
</html>
`.markup;
}
