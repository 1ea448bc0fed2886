/**
 * What is said of a credit's reference: whether giving the command again would credit again.
 */

import type { AccountCredited } from '../usecases/credit-account.ts';
import { type Output, timeOf } from './output.ts';

/** What the reference of a credit has done, or would have done. */
export function toldOfCredit({
  reference,
  creditedAt,
  isRepeated,
}: Pick<AccountCredited, 'reference' | 'creditedAt' | 'isRepeated'>): Output {
  if (reference === null) {
    const advice = 'Given again, this command credits again: with --reference it would credit once.';
    return { document: {}, lines: [advice] };
  }
  const credited_at = timeOf(creditedAt);
  const repeated = `Nothing was credited now: this amount was already credited as ${reference} at ${credited_at}.`;
  return {
    document: { reference, credited_at, repeated: isRepeated },
    lines: [isRepeated ? repeated : `Credited as ${reference}: given again, this command changes nothing.`],
  };
}
