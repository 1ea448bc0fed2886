/** Every error has its page in every language, and its example is an envelope of the contract. */

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ENVELOPE_FIELDS } from '../../test/support/envelope.ts';
import { REASONS } from '../domain/reason.ts';
import { REFUSALS } from '../domain/refusal.ts';
import { LANGUAGES, say } from '../messages/messages.ts';
import { WORDS } from '../messages/sentences.ts';
import { openDocsAssets } from './docs/assets.ts';
import { type DocsPage, renderDocument } from './docs/frame.ts';
import { ERROR_CODES, errorCodeOf, renderErrorIndex, renderErrorPage } from './error-page.ts';

const assets = openDocsAssets();
const render = (page: DocsPage): string => renderDocument(assets, page);

function textOf(markup: string): string {
  const plain = markup.replaceAll(/<[^>]*>/g, '');
  return plain.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}

test('1403 names every status that it comes with, including those of the socket', () => {
  const text = textOf(render(renderErrorPage(1403, 'en')));
  for (const status of ['400', '404', '405', '408', '413', '415', '417', '431']) expect(text).toContain(status);
});

describe.each(LANGUAGES)('%s', (language) => {
  test.each(ERROR_CODES)('the page of %s says cause, remedy and status, and shows the envelope', (code) => {
    const markup = render(renderErrorPage(code, language));
    const text = textOf(markup);
    expect(markup).toContain(`<html lang="${language}">`);
    expect(text).toContain(REFUSALS[code].name);
    expect(text).toContain(say(language, `cause.${code}`, { state: 'approved' }));
    expect(text).toContain(say(language, `remedy.${code}`));
    expect(text).toContain(String(REFUSALS[code].http));
    const example = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    expect(Object.keys(example)).toEqual(ENVELOPE_FIELDS);
    expect(example).toMatchObject({ error: true, error_code: String(code), retryable: REFUSALS[code].retryable });
    expect(example.message).not.toContain('…');
  });

  test('the index links every error and lists every detail code and every reason', () => {
    const markup = render(renderErrorIndex(language));
    for (const code of ERROR_CODES) expect(markup).toContain(`href="/docs/errors/${code}?lang=${language}"`);
    for (const code of Object.keys(WORDS)) expect(markup).toContain(`<code>${code}</code>`);
    for (const reason of REASONS) {
      expect(markup).toContain(`<code>${reason}</code>`);
      expect(textOf(markup)).toContain(say(language, `reason.${reason}`));
    }
    expect(textOf(markup)).not.toMatch(/…|undefined|NaN|\[object/);
  });

  test('pages have one heading, a language switch, and neither inline script nor inline style', () => {
    const all = [renderErrorIndex(language), ...ERROR_CODES.map((code) => renderErrorPage(code, language))];
    for (const markup of all.map(render)) {
      expect(markup.match(/<h1/g)).toHaveLength(1);
      expect(markup.match(/hreflang=/g)).toHaveLength(LANGUAGES.length);
      expect(markup.match(/aria-current="true"/g)).toHaveLength(1);
      expect(markup).not.toMatch(
        /<script(?! src="\/docs\/assets\/)|<style|style=|\son[a-z]+=|https?:\/\/(?!pay\.example\.com)/,
      );
    }
  });
});

test('only codes of the table have a page', () => {
  expect(errorCodeOf('1101')).toBe(1101);
  for (const none of ['1206', '', '01101', '1101 ', '1e3', '__proto__']) expect(errorCodeOf(none)).toBeUndefined();
});

test('text has a contrast of at least 4.5 : 1 with its background, light and dark', () => {
  const style = readFileSync(new URL('docs/assets/style.css', import.meta.url), 'utf8');
  const blocks = style.match(/:root \{[^}]*\}/g) ?? [];
  expect(blocks).toHaveLength(2);
  for (const block of blocks) {
    const token = (name: string) => luminance(new RegExp(`--${name}: #([0-9a-f]{6})`).exec(block)?.[1] ?? '');
    for (const text of ['ink', 'soft', 'brand', 'copper']) {
      for (const ground of ['ground', 'paper']) expect(contrast(token(text), token(ground))).toBeGreaterThan(4.5);
    }
    expect(contrast(token('brand'), token('tint'))).toBeGreaterThan(4.5);
  }
});

/** Relative luminance of a colour (WCAG 2). */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}
