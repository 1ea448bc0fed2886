/** Which language an Accept-Language header gives: the rules by a table, malformed headers at random. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LANGUAGES } from './messages.ts';
import { negotiate } from './negotiate.ts';

test.each([
  [undefined, 'fr'],
  ['', 'fr'],
  ['en', 'en'],
  ['EN', 'en'],
  ['en-GB', 'en'],
  ['en_US', 'en'],
  ['zh-Hant-TW', 'zh'],
  ['ln-CD', 'ln'],
  ['de', 'fr'],
  ['de, es', 'es'],
  ['de-DE, de;q=0.9, ru;q=0.4, en;q=0.3', 'ru'],
  ['en;q=0.2, es;q=0.8', 'es'],
  ['en;q=0.8, es;q=0.8', 'en'],
  ['en ; q=0.5 , zh ; q=0.9', 'zh'],
  ['en;q=0', 'fr'],
  ['en;q=0, es;q=0.1', 'es'],
  ['*', 'fr'],
  ['fr;q=0, *', 'en'],
  ['fr;q=0, en;q=0, *;q=0.1', 'es'],
  ['es;q=0.3, *;q=0.5', 'fr'],
  ['en;q=1.5, es;q=0.1', 'es'],
  ['en;q=abc', 'fr'],
  ['en;level=1;q=0.5, ru;q=0.1', 'ru'],
  [',,;;==, es', 'es'],
  ['__proto__, constructor, en', 'en'],
])('%s gives %s', (header, language) => {
  expect(negotiate(header)).toBe(language);
});

test('any garbage gives one of the six languages', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('en', 'fr', '*', ';q=', ',', '0.5', '-', 'zh-'),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30, size: 'max' }), (pieces) => {
      expect(LANGUAGES).toContain(negotiate(pieces.join('')));
    }),
  );
});

test('anything beyond the first thousand characters is not read', () => {
  expect(negotiate(`${'xx,'.repeat(3_400)}en`)).toBe('fr');
  expect(negotiate(`es,${'xx,'.repeat(3_400)}en`)).toBe('es');
});

test('the answer is the same however often it is asked', () => {
  for (let i = 0; i < 1_200; i += 1) expect(negotiate(`es;q=0.${i}, ru`)).toBe('ru');
  expect(negotiate('es;q=0.3, ru')).toBe('ru');
});
