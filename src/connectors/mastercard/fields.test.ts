import { expect, test } from 'vitest';
import { textAt } from './fields.ts';

test.each(['ab\ud800', 'ab\u0000', 'abcdef', ''])('a text that cannot be stored counts as absent: %j', (receipt) => {
  expect(textAt({ transaction: { receipt } }, 'transaction.receipt', 5)).toBeUndefined();
});

test('a text in any script is kept', () => {
  expect(textAt({ transaction: { receipt: 'é 1 \u{1f600}' } }, 'transaction.receipt', 6)).toBe('é 1 \u{1f600}');
});
