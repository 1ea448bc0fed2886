/** Who reads with a browser is led back; who calls the API hears what it always heard. */

import { afterAll, describe, expect, it } from 'vitest';
import { LANGUAGES, say } from '../../messages/messages.ts';
import { type SmallWorld, smallWorld } from '../testing/small-world.ts';
import { DOCS_HEADERS } from './frame.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const PROGRAMS = [
  undefined,
  '*/*',
  'application/json',
  'application/json, text/html',
  'text/html;q=0.5, application/json',
];

let world: SmallWorld | undefined;

afterAll(() => world?.app.close());

function ask(url: string, accept: string | undefined, more: { method?: 'HEAD' | 'POST'; language?: string } = {}) {
  world ??= smallWorld();
  const { method = 'GET', language = 'en' } = more;
  const headers = { 'accept-language': language, ...(accept === undefined ? {} : { accept }) };
  return world.app.inject({ method, url, headers });
}

describe('a browser', () => {
  it.each(['/', '/?utm_source=x'])('is led from %s to the documentation', async (url) => {
    for (const method of ['GET', 'HEAD'] as const) {
      const answer = await ask(url, BROWSER, method === 'HEAD' ? { method } : {});
      expect([answer.statusCode, answer.headers.location]).toEqual([302, '/docs']);
    }
  });

  it.each(LANGUAGES)('finds a page that leads back, in its language: %s', async (language) => {
    const answer = await ask('/nothing?x=<b>', BROWSER, { language });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(answer.headers).toMatchObject({
      'content-language': language,
      'content-security-policy': DOCS_HEADERS['Content-Security-Policy'],
      'cache-control': 'no-store',
      vary: 'Accept, Accept-Language',
    });
    expect(answer.body).toContain(`<html lang="${language}">`);
    expect(answer.body).toContain(`<h1>${say(language, 'page.not_found')}</h1>`);
    expect(answer.body).toContain(`<a class="back" href="/docs">`);
    expect(answer.body.match(/<h1/g)).toHaveLength(1);
    expect(answer.body).not.toContain('<b>');
    expect(world?.log.lines.at(-1)).toContain('"error_code":1403');
  });

  it('finds the same page where a page of the documentation has no such part', async () => {
    const answer = await ask('/docs/errors/9999', BROWSER);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  });

  it('finds the envelope below /api, which some clients ask like browsers', async () => {
    for (const url of ['/api', '/api/v1/nothing', '/api?x']) {
      expect((await ask(url, BROWSER)).json()).toMatchObject({
        error_code: '1403',
        details: [{ code: 'UNKNOWN_PATH' }],
      });
    }
    expect((await ask('/apiary', BROWSER)).headers['content-type']).toContain('text/html');
  });

  it('hears of a wrong method as everybody does', async () => {
    const answer = await ask('/health', BROWSER, { method: 'POST' });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect(answer.json()).toMatchObject({ error_code: '1403' });
  });
});

describe('a program', () => {
  it.each(PROGRAMS)('that takes %s hears of every unknown path in the envelope', async (accept) => {
    for (const url of ['/', '/nothing', '/docs/errors/9999', '/%zz']) {
      const answer = await ask(url, accept);
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
      expect(answer.headers.vary).toBeUndefined();
      expect(answer.json()).toMatchObject({ error_code: '1403', details: [{ field: 'path', code: 'UNKNOWN_PATH' }] });
    }
  });
});
