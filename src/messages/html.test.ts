/** The template tag never lets a value become markup. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Html, html } from './html.ts';

test('a value in text or in a quoted attribute stays text', () => {
  const evil = '"><script>alert(`1`)</script>\'&';
  expect(html`<a title="${evil}">${evil}</a>`.markup).toBe(
    '<a title="&quot;&gt;&lt;script&gt;alert(&#96;1&#96;)&lt;/script&gt;&#39;&amp;">' +
      '&quot;&gt;&lt;script&gt;alert(&#96;1&#96;)&lt;/script&gt;&#39;&amp;</a>',
  );
});

test('results of the tag nest, lists are joined, and null values render as nothing', () => {
  const items = ['<a>', 'b'].map((text) => html`<li>${text}</li>`);
  expect(html`<ul>${items}</ul>${undefined}${7}`.markup).toBe('<ul><li>&lt;a&gt;</li><li>b</li></ul>7');
});

test('an object that only looks like markup is refused', () => {
  const posing: Html = JSON.parse('{"markup":"<script>"}');
  expect(() => html`${posing}`).toThrow(TypeError);
  expect(() => html`${[posing]}`).toThrow(TypeError);
});

test('no text whatsoever yields a character that opens markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string()), (text, list) => {
      const inside = html`${text}${list}`.markup;
      expect(inside).not.toMatch(/[<>"'`]/);
      expect(inside.replaceAll(/&(amp|lt|gt|quot|#39|#96);/g, '')).not.toContain('&');
    }),
  );
});
