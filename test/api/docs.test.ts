/**
 * The documentation as it is served: complete, correct, and cached by browsers.
 */

import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCards } from '../../sandbox/cardnet/cards.ts';
import { endings } from '../../sandbox/carriers/endings.ts';
import { CURRENCIES } from '../../src/domain/currency.ts';
import { CARDS, PHONES } from '../../src/http/docs/test-numbers.ts';
import { exampleOf } from '../../src/http/examples.ts';
import { dereferenced } from '../../src/http/testing/dereferenced.ts';
import { credentialRoutes } from '../support/route-samples.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
/** Everything that can be reached from the first page by links, by its path. */
let files: ReadonlyMap<string, string>;
/** Those files that are pages. */
let pages: (readonly [path: string, markup: string])[];

beforeAll(async () => {
  world = await openWorld();
  files = await everything();
  pages = [...files].filter(([path]) => path.startsWith('/docs') && !path.startsWith('/docs/assets/'));
});
afterAll(() => world.close());

async function read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await fetch(world.url + path, { headers: { 'accept-language': 'en', ...headers } });
  expect([answer.status, path]).toEqual([200, path]);
  return answer.text();
}

function refsOf(markup: string): string[] {
  return [...markup.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, ref = '']) => ref.replaceAll('&amp;', '&'));
}

async function everything(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const open = ['/docs'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    const markup = await read(path);
    found.set(path, markup);
    if (path.startsWith('/openapi') || path.startsWith('/docs/assets/')) continue;
    open.push(...refsOf(markup).flatMap((ref) => (ref.startsWith('/') ? [ref.replace(/#.*/, '')] : [])));
  }
  return found;
}

describe('pages', () => {
  test('every link leads somewhere, and every anchor exists', () => {
    expect(pages.length).toBeGreaterThan(200);
    const dead = pages.flatMap(([path, markup]) =>
      refsOf(markup).filter((ref) => {
        const [to = '', id] = ref.split('#');
        if (id === undefined || /^https?:/.test(ref)) return false;
        return files.get(to === '' ? path : to)?.includes(` id="${id}"`) !== true;
      }),
    );
    expect([...new Set(dead)]).toEqual([]);
  });

  test('load nothing from elsewhere, and run nothing inline', () => {
    for (const [path, markup] of pages) {
      expect(markup, path).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?! src="\/docs\/assets\/)|src="(?!\/)/);
      expect(markup.match(/<h1/g)?.length ?? 0, path).toBe(path === '/docs/explorer' ? 0 : 1);
      expect(markup.replaceAll(/<pre.*?<\/pre>/gs, ''), path).not.toMatch(/undefined|\[object|NaN/);
    }
  });

  test('can be reached from the sandbox’s first page', async () => {
    const start = await (await fetch(world.sandboxUrl)).text();
    expect(start).toContain('/docs"');
    expect(await read('/docs')).toContain(`${world.sandboxUrl}/inbox/demo`);
  });

  test('have heading anchors that are unique on their page', () => {
    for (const [path, markup] of pages) {
      const ids = [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(new Set(ids).size, path).toBe(ids.length);
    }
  });
});

describe('browser caching', () => {
  test('a page is revalidated, and not sent again', async () => {
    for (const path of ['/docs', '/docs/reference', '/docs/errors/1101']) {
      const first = await fetch(world.url + path);
      const tag = first.headers.get('etag') ?? '';
      expect(first.headers.get('cache-control')).toBe('no-cache');
      const again = await fetch(world.url + path, { headers: { 'if-none-match': `"x", ${tag}` } });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag]);
      const other = await fetch(world.url + path, { headers: { 'if-none-match': '"x"' } });
      expect(other.status).toBe(200);
    }
  });

  test('files are cached for ever, and an unknown one is not a page', async () => {
    const markup = await read('/docs/explorer');
    const files = refsOf(markup).filter((ref) => ref.startsWith('/docs/assets/'));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const answer = await fetch(world.url + file);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(answer.headers.get('content-type')).toMatch(/^(text\/(css|javascript); charset=utf-8|image\/svg\+xml)$/);
      await answer.arrayBuffer();
    }
    for (const file of ['style.css', 'style.000000000000.css', '..%2fpages.ts', '__proto__']) {
      expect((await fetch(`${world.url}/docs/assets/${file}`)).status, file).toBe(404);
    }
  });

  test('responses are compressed as the browser accepts', async () => {
    const [file = ''] = refsOf(await read('/docs/explorer')).filter((ref) => ref.includes('reference.'));
    for (const [accepted, given] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
      ['br;q=0, gzip', 'gzip'],
      ['gzip;q=0.0, br; q=0', null],
      ['br;q=0.5', 'br'],
    ] as const) {
      const answer = await fetch(world.url + file, { headers: { 'accept-encoding': accepted } });
      expect(answer.headers.get('content-encoding')).toBe(given);
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      expect((await answer.text()).length).toBeGreaterThan(3_000_000);
    }
  });

  test('an error page differs by language, and says so', async () => {
    const french = await fetch(`${world.url}/docs/errors/1101`, { headers: { 'accept-language': 'fr' } });
    const lingala = await fetch(`${world.url}/docs/errors/1101?lang=ln`, { headers: { 'accept-language': 'fr' } });
    expect([french, lingala].map(({ headers }) => headers.get('content-language'))).toEqual(['fr', 'ln']);
    expect(french.headers.get('vary')).toBe('Accept-Encoding, Accept-Language');
    expect(await french.text()).not.toBe(await lingala.text());
  });

  test('no page can be framed, and none may load anything but our own files', async () => {
    for (const path of ['/docs', '/docs/errors/1101', '/docs/explorer']) {
      const { headers } = await fetch(world.url + path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
  });
});

describe('the reference', () => {
  test('has every call of the document, with its example', async () => {
    const markup = await read('/docs/reference');
    for (const { operationId, summary } of credentialRoutes(world)) {
      expect(markup).toContain(`<section class="op" id="${operationId}">`);
      expect(markup).toContain(summary.replaceAll("'", '&#39;'));
    }
    expect(markup).toContain('id="cardCallback"');
    expect(markup.match(/Example with curl<\/figcaption>/g)).toHaveLength(credentialRoutes(world).length + 1);
  });

  test('says what every field and parameter means', async () => {
    const document: unknown = JSON.parse(await read('/openapi.json'));
    expect(unexplained(dereferenced(document), '')).toEqual([]);
  });
});

/** Fields and parameters without a description. */
function unexplained(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (path.endsWith('/value')) return [];
  const here = Object.entries(value).flatMap(([name, inner]) => unexplained(inner, `${path}/${name}`));
  const isField = /\/properties\/[^/]+$/.test(path);
  const isParameter = /\/parameters\/\d+$/.test(path);
  if (!isField && !isParameter) return here;
  return JSON.stringify(value).includes('"description":"') ? here : [path, ...here];
}

describe('an example', () => {
  test('exists for every call', () => {
    expect(credentialRoutes(world).filter(({ operationId }) => exampleOf(operationId) === undefined)).toEqual([]);
  });

  test('is a call that its schemas accept, with an answer that they promise', () => {
    for (const { operationId, body, answers, upload } of credentialRoutes(world)) {
      const example = exampleOf(operationId);
      const [, answer] = Object.entries(answers)[0] ?? [];
      if (answer === undefined) throw new Error(`${operationId} answers nothing`);
      expect([...Compile(answer).Errors(example?.answer)], operationId).toEqual([]);
      // A file is not JSON.
      if (body !== undefined && upload === undefined) {
        expect([...Compile(body).Errors(example?.body)], operationId).toEqual([]);
      }
    }
  });
});

test('every currency is listed with its decimals', async () => {
  const markup = await read('/docs/payments');
  const table = /aria-label="Decimals of each currency".*?<\/table>/s.exec(markup)?.[0] ?? '';
  for (const currency of CURRENCIES) expect(table).toContain(`<code>${currency}</code>`);
  expect(table).toContain('<code>&quot;12.50&quot;</code>');
  expect(table).toContain('<code>&quot;1250&quot;</code>');
});

test('the test numbers are those of the sandbox', () => {
  expect(PHONES.map(({ ending }) => ending)).toEqual(endings);
  const known = testCards.map(({ number }) => number);
  expect(CARDS.map(({ number }) => number.replaceAll(' ', ''))).toEqual(known.slice(0, CARDS.length));
});
