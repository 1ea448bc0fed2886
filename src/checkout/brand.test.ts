/** Whatever colour a merchant chooses, text in it can be read, in light and dark. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brandStyle, isColour } from './brand.ts';

/** WCAG 2.2 relative luminance, written independently from the standard. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => value.toString(16).padStart(6, '0'));

test('text in the colour, and text on it, has a contrast of at least 4.5 on every background of the page', () => {
  fc.assert(
    fc.property(colour, (hex) => {
      const schemes = [...brandStyle(hex).matchAll(/--brand:(#\w+);--on-brand:(#\w+);--tint:(#\w+)/g)];
      expect(schemes).toHaveLength(2);
      const grounds = [
        ['#ffffff', '#f4f6f4'],
        ['#16211e', '#0e1614'],
      ];
      schemes.forEach(([, brand = '', on = '', tint = ''], at) => {
        for (const ground of [...(grounds[at] ?? []), tint, on]) {
          expect(contrast(brand, ground), `${hex}: ${brand} on ${ground}`).toBeGreaterThanOrEqual(4.5);
        }
      });
    }),
  );
});

test('a readable colour stays as chosen', () => {
  expect(brandStyle('0b6e4f')).toMatch(/^:root\{--brand:#0b6e4f;--on-brand:#ffffff/);
});

test.each(['', 'fff', '0B6E4F', '0b6e4f;', 'red', '0b6e4f\n'])('%j is not a colour', (text) => {
  expect(isColour(text)).toBe(false);
});
