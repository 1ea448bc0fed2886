/**
 * What must hold of every payment once a race is over, whatever it was paid with: what was told, what was answered, what was sent.
 *
 * Invariant: each finding is one sentence that names its transaction; no finding means that everything holds.
 */
import { isFinal } from '../../src/domain/payment.ts';
import type { Payment } from '../../src/domain/records.ts';
import { hooksAbout } from '../support/flows.ts';
import { groupBy } from '../support/invariants.ts';
import type { World } from '../support/world.ts';
import type { Heard } from './race-calls.ts';
import type { Asked } from './unruly-way.ts';

/** Rows as the driver returns them: amounts are text. */
export type PaymentRow = Pick<Payment, 'id' | 'session_id' | 'status' | 'method' | 'attempt_id'> & {
  readonly refunding_minor: string;
};

/** A payment has ended; each of its final states was told once, and no answer had named another one. `refunds`: how many completed. */
export function judgeTelling(
  world: World,
  { id, status, method, refunding_minor }: PaymentRow,
  refunds: number,
  heard: readonly Heard[],
): string[] {
  const found: string[] = [];
  const expect = (holds: boolean, otherwise: string): void => {
    if (!holds) found.push(`${id} (${method}, ${status}): ${otherwise}`);
  };
  expect(isFinal(status), 'has not ended');
  expect(refunding_minor === '0', 'some of it is still on its way back');
  const first = status === 'refunded' ? 'approved' : status;
  const hooks = hooksAbout(world, id).map(({ body }) => body.status);
  const due = [first, ...Array.from({ length: refunds }, () => 'refunded')];
  expect(hooks.toSorted().join() === due.toSorted().join(), `told ${hooks.join()} in place of ${due.join()}`);
  for (const { call, transactionId, answer } of heard) {
    const was = answer.status < 300 && transactionId === id && call !== 'refund' ? answer.json.status : undefined;
    const isSame = was === status || (was === 'approved' && status === 'refunded');
    expect(was === undefined || !isFinal(was) || isSame, `${call} had answered ${was}`);
  }
  return found;
}

/** No request for money is sent twice. */
export function judgeAsked(asked: readonly Asked[]): string[] {
  return [...groupBy(asked, ({ reference }) => reference)].flatMap(([reference, { length }]) =>
    length > 1 ? [`${reference} was requested ${length} times`] : [],
  );
}
