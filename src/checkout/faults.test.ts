/** What a refusal says on the page. */

import { expect, test } from 'vitest';
import { type DetailCode, Refusal } from '../domain/refusal.ts';
import { faultsOf } from './faults.ts';

test.each<[DetailCode, boolean]>([
  ['EARLIER_PROMPT_OPEN', true],
  ['PAID_BEFORE', true],
  ['CARRIER_DOWN', false],
])('a number that is refused with %s: whether an earlier try may have paid is %s', (code, mayBePaid) => {
  const details = [{ field: 'mobile_money_phone_number', code, words: { carrier: 'MTN' } }] as const;
  const faults = faultsOf('en', new Refusal(1404, { details }), 'choose');
  expect(faults).toMatchObject({ mayBePaid });
  expect(Object.keys(faults.fields)).toEqual(['phone']);
});

test.each([
  new Refusal(1201),
  new Refusal(1301, { details: [{ field: 'payment_id', code: 'TEXTS_USED', words: { seconds: 60 } }] }),
  new Refusal(1401),
])('where a code is asked for, no refusal says to pay another way: the session has been used up (%s)', (refusal) => {
  expect(faultsOf('en', refusal, 'choose').general).toContain('pay another way');
  expect(faultsOf('en', refusal, 'code').general).not.toContain('another way');
});
