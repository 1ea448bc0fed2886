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
  const faults = faultsOf('en', new Refusal(1404, { details }));
  expect(faults).toMatchObject({ mayBePaid });
  expect(Object.keys(faults.fields)).toEqual(['phone']);
});
