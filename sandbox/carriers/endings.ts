/**
 * What a number does by itself when it is charged or paid, as decided by its last two digits (contract §11).
 * Invariant: this table is the only place that knows the endings; simulators and pages read it.
 */

export const endings = ['01', '02', '03', '04', '05', '06', '07', '08'] as const;
export type Ending = (typeof endings)[number];

/**
 * `approve` after the self-decision delay, `no_funds` and `reject` shortly after, `never` until the prompt expires, `person` on
 * the virtual phone.
 */
export type Decision = 'approve' | 'no_funds' | 'reject' | 'never' | 'person';

/**
 * The outcome of money sent to a number: `pay` after the self-decision delay, `no_account` and `blocked` shortly after,
 * `never` stays open for ever.
 */
export type PayoutDecision = 'pay' | 'no_account' | 'blocked' | 'never';

export type Behaviour<D = Decision> = {
  readonly decision: D;
  /** `hangs`: the request is taken, but its HTTP answer never comes. */
  readonly answer: 'normal' | 'hangs' | 'down';
  readonly callback: 'once' | 'thrice_out_of_order' | 'none';
};

const normal: Behaviour = { decision: 'person', answer: 'normal', callback: 'once' };

const byEnding: Readonly<Record<Ending, Behaviour>> = {
  '01': { ...normal, decision: 'approve' },
  '02': { ...normal, decision: 'no_funds' },
  '03': { ...normal, decision: 'reject' },
  '04': { ...normal, decision: 'never' },
  '05': { ...normal, decision: 'approve', answer: 'hangs' },
  '06': { ...normal, decision: 'never', answer: 'down' },
  '07': { ...normal, decision: 'approve', callback: 'thrice_out_of_order' },
  '08': { ...normal, decision: 'approve', callback: 'none' },
};

const paid: Behaviour<PayoutDecision> = { decision: 'pay', answer: 'normal', callback: 'once' };

const payoutByEnding: Readonly<Record<Ending, Behaviour<PayoutDecision>>> = {
  '01': paid,
  '02': { ...paid, decision: 'no_account' },
  '03': { ...paid, decision: 'blocked' },
  '04': { ...paid, decision: 'never' },
  '05': { ...paid, answer: 'hangs' },
  '06': { ...paid, decision: 'never', answer: 'down' },
  '07': { ...paid, callback: 'thrice_out_of_order' },
  '08': { ...paid, callback: 'none' },
};

/** The ending of a number, if it is one that decides by itself. */
export function endingOf(msisdn: string): Ending | undefined {
  const last = msisdn.slice(-2);
  return endings.find((ending) => ending === last);
}

export function behaviourOf(msisdn: string): Behaviour {
  const ending = endingOf(msisdn);
  return ending === undefined ? normal : byEnding[ending];
}

/** The behaviour of a number that receives money: nobody has to do anything for it. */
export function payoutBehaviourOf(msisdn: string): Behaviour<PayoutDecision> {
  const ending = endingOf(msisdn);
  return ending === undefined ? paid : payoutByEnding[ending];
}
