/** Every text of the hosted page is in every language, names the same values, and is in its own language. */

import { describe, expect, test } from 'vitest';
import { LANGUAGES } from '../messages.ts';
import { en } from './en.ts';
import { type CheckoutWord, checkoutTemplate, checkoutText } from './words.ts';

const words = Object.keys(en) as CheckoutWord[];
const namesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').sort();

/** Brands and words that a language really shares with English. */
const SHARED = new Set(['hint_card', 'total', 'pin', 'transaction', 'copy', 'date']);

describe.each(LANGUAGES)('%s', (language) => {
  test('has every word, with the values that English names', () => {
    for (const word of words) {
      const text = checkoutTemplate(language, word);
      expect(text.trim(), word).toBe(text);
      expect(text, word).not.toBe('');
      expect(namesIn(text), word).toEqual(namesIn(en[word]));
    }
  });

  test('ends its sentences, and uses typographic apostrophes', () => {
    for (const word of words) {
      expect(checkoutTemplate(language, word), word).not.toMatch(/['"<>]/);
      if (word.endsWith('_text')) expect(checkoutTemplate(language, word), word).toMatch(/[.。]$/);
    }
  });

  test('fills in every value, and shows an ellipsis for a missing one', () => {
    for (const word of words) {
      const values = Object.fromEntries(namesIn(en[word]).map((name) => [name, `«${name}»`]));
      expect(checkoutText(language, word, values), word).not.toMatch(/[{}…]/);
      if (Object.keys(values).length > 0) expect(checkoutText(language, word), word).toContain('…');
    }
  });

  test.runIf(language !== 'en')('is not English', () => {
    for (const word of words.filter((one) => !SHARED.has(one))) {
      expect(checkoutTemplate(language, word), word).not.toBe(en[word]);
    }
  });
});

test('a line of French never begins with its punctuation', () => {
  for (const word of words) expect(checkoutTemplate('fr', word), word).not.toMatch(/ [:;?!»]|« /);
  expect(checkoutTemplate('fr', 'which_number')).toMatch(/\u00a0\?$/);
});

test.each(LANGUAGES)('no line of %s breaks within “3‑D Secure”', (language) => {
  for (const word of words) expect(checkoutTemplate(language, word), word).not.toMatch(/3-D|3\u2011D /);
  expect(checkoutTemplate(language, 'hint_card')).toContain('3\u2011D\u00a0Secure');
});

test('no line of Russian breaks within the word for a PIN', () => {
  for (const word of words) expect(checkoutTemplate('ru', word), word).not.toMatch(/ПИН-код/);
});
