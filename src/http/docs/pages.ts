/**
 * The pages of the documentation, and where they are found.
 *
 * Invariant: each is made once, at its first request, and is the same for everybody who reads its language.
 */

import type { FastifyRequest } from 'fastify';
import { prefersHtml } from '../../messages/accept.ts';
import { html } from '../../messages/html.ts';
import { isLanguage, type Language } from '../../messages/messages.ts';
import { negotiate } from '../../messages/negotiate.ts';
import { unknownPath } from '../envelope.ts';
import { errorCodeOf, renderErrorIndex, renderErrorPage } from '../error-page.ts';
import type { PageReply, ServicePage } from '../service-page.ts';
import { openDocsAssets } from './assets.ts';
import { answerWith, type Content, compressed } from './content.ts';
import { EXPLORER_HEADERS, renderExplorer } from './explorer.ts';
import { DOCS_HEADERS, renderDocument } from './frame.ts';
import type { Guide, Installation, SandboxInfo } from './guide.ts';
import { goingLiveGuide } from './guide-going-live.ts';
import { idempotencyGuide } from './guide-idempotency.ts';
import { paymentsGuide } from './guide-payments.ts';
import { payoutsGuide } from './guide-payouts.ts';
import { reconcileGuide } from './guide-reconcile.ts';
import { refundsGuide } from './guide-refunds.ts';
import { startGuide } from './guide-start.ts';
import { testNumbersGuide } from './guide-test-numbers.ts';
import { webhooksGuide } from './guide-webhooks.ts';
import { renderReference } from './reference.ts';

export interface DocsParts {
  readonly publicUrl: string;
  /** This gateway's sandbox; none in production. */
  readonly sandbox?: SandboxInfo;
  /** The OpenAPI document, with every part in its place. */
  document(): unknown;
}

/** Where things are of a gateway and its sandbox that were started without settings. */
const ON_YOUR_MACHINE = {
  api: 'http://127.0.0.1:8080/api/v1',
  sandbox: 'http://127.0.0.1:8090',
  demoFile: '.data/demo.json',
};

const PAGE = 'text/html; charset=utf-8';
const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };

const NOTHING_HERE: Guide = {
  title: 'No such page',
  sections: [],
  main: html`<h1>There is no such page</h1>
<p class="lead">The address may be mistyped, or the page may have been renamed. The contents list every page, and
<a href="/docs/errors">each error</a> has a page of its own.</p>
<p><a class="back" href="/docs">To the first page</a></p>`,
};

/**
 * The pages below `/docs`, and the files that they load. Pages of errors are in the reader's language, all others in English. An
 * address that no page has is 404: to a browser as a page, to a program in the envelope.
 */
export function docsPages(parts: DocsParts): ServicePage[] {
  const assets = openDocsAssets();
  const made = new Map<string, Promise<Content>>();
  const once = (key: string, make: () => string): Promise<Content> => {
    const known = made.get(key) ?? compressed(PAGE, make());
    made.set(key, known);
    return known;
  };
  const installation = installationOf(parts);
  const guide = (path: string, write: () => Guide): ServicePage => ({
    path,
    async show({ headers }) {
      const content = await once(path, () =>
        renderDocument(assets, { ...write(), path, language: 'en', skip: 'Skip to the text' }),
      );
      return answerWith(content, headers, DOCS_HEADERS);
    },
  });
  const inLanguage = async (request: FastifyRequest, path: string, write: (language: Language) => string) => {
    const language = languageOf(request);
    const content = await once(`${path} ${language}`, () => write(language));
    return answerWith(content, request.headers, {
      ...DOCS_HEADERS,
      'Content-Language': language,
      Vary: 'Accept-Encoding, Accept-Language',
    });
  };
  /** The page for people; programs get the envelope. */
  const nothingHere = async ({ headers }: FastifyRequest): Promise<PageReply> => {
    if (!prefersHtml(headers.accept)) throw unknownPath();
    const content = await once('nothing here', () =>
      renderDocument(assets, { ...NOTHING_HERE, path: '', language: 'en', skip: 'Skip to the text' }),
    );
    const { 'accept-encoding': coding } = headers;
    const answer = answerWith(
      content,
      { 'accept-encoding': coding },
      { ...DOCS_HEADERS, Vary: 'Accept, Accept-Encoding' },
    );
    return { ...answer, status: 404 };
  };
  return [
    guide('/docs', () => startGuide(installation)),
    guide('/docs/payments', paymentsGuide),
    guide('/docs/refunds', refundsGuide),
    guide('/docs/payouts', () => payoutsGuide(installation)),
    guide('/docs/reconcile', reconcileGuide),
    guide('/docs/webhooks', () => webhooksGuide(installation)),
    guide('/docs/idempotency', idempotencyGuide),
    guide('/docs/test-numbers', () => testNumbersGuide(installation)),
    guide('/docs/going-live', goingLiveGuide),
    guide('/docs/reference', () => ({
      title: 'Reference',
      ...renderReference(parts.document(), `${parts.publicUrl}/api/v1`),
    })),
    {
      path: '/docs/errors',
      show: (request) =>
        inLanguage(request, '/docs/errors', (language) => renderDocument(assets, renderErrorIndex(language))),
    },
    {
      path: '/docs/errors/:code',
      show(request) {
        const code = errorCodeOf((request.params as { readonly code: string }).code);
        if (code === undefined) return nothingHere(request);
        return inLanguage(request, `/docs/errors/${code}`, (language) =>
          renderDocument(assets, renderErrorPage(code, language)),
        );
      },
    },
    {
      path: '/docs/explorer',
      show: async ({ headers }) =>
        answerWith(await once('/docs/explorer', () => renderExplorer(assets)), headers, EXPLORER_HEADERS),
    },
    {
      path: '/docs/assets/:file',
      async show({ params, headers }): Promise<PageReply> {
        const content = await assets.file((params as { readonly file: string }).file);
        if (content === undefined) throw unknownPath();
        return answerWith(content, headers, FOR_EVER);
      },
    },
    { path: '/docs/', show: () => ({ status: 308, type: PAGE, body: '', headers: { Location: '/docs' } }) },
    { path: '/docs/*', show: nothingHere },
  ];
}

function installationOf({ publicUrl, sandbox }: DocsParts): Installation {
  if (sandbox === undefined) return { ...ON_YOUR_MACHINE, isSandbox: false };
  return { api: `${publicUrl}/api/v1`, sandbox: sandbox.url, demoFile: sandbox.demoFile, isSandbox: true };
}

/** `?lang=` if the reader chose one, else what the browser asks for. */
function languageOf(request: FastifyRequest): Language {
  const { lang } = request.query as { readonly lang?: unknown };
  return isLanguage(lang) ? lang : negotiate(request.headers['accept-language']);
}
