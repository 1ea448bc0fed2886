/**
 * The issuer's challenges: questions that wait for the customer, each for ten minutes.
 * Invariant: a challenge ends once, by an answer or by timing out; repeating the answer gives the same form fields, and a
 * different or late answer changes nothing.
 */
import { randomUUID } from 'node:crypto';
import type { World } from '../world.ts';
import { type CallbackFields, callbackFields } from './callback.ts';

/** Milliseconds: ten minutes. */
const challengeLife = 600_000;
const challengesKept = 100_000;

export const challengeAnswers = ['pass', 'fail', 'cancel'] as const;
export type ChallengeAnswer = (typeof challengeAnswers)[number];

export type NewChallenge = {
  readonly orderId: string;
  readonly transactionId: string;
  /** The network's own identifier of the authentication. */
  readonly acsTransactionId: string;
  /** Where the browser posts its result afterwards. */
  readonly redirectResponseUrl: string;
};

export type Challenge = NewChallenge & {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** `timeout` if the customer did not answer within the challenge's life. */
  readonly answer?: ChallengeAnswer | 'timeout';
  /** What the browser posts; present once the challenge has ended. */
  readonly fields?: CallbackFields;
};

export type Answer =
  | { readonly kind: 'answered'; readonly fields: CallbackFields }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'closed' };

export type Challenges = {
  /** `ended` is called once, with the outcome. */
  readonly open: (challenge: NewChallenge, ended: (answer: ChallengeAnswer | 'timeout') => void) => Challenge;
  readonly find: (id: string) => Challenge | undefined;
  /** The newest challenge of an order, by the order's id or by one of the authentication's ids. */
  readonly findBy: (name: string) => Challenge | undefined;
  readonly answer: (id: string, answer: ChallengeAnswer) => Answer;
};

export type ChallengeParts = { readonly world: World; readonly callbackSecret: string };

type Slot = { challenge: Challenge; readonly ended: (answer: ChallengeAnswer | 'timeout') => void };

export function createChallenges({ world, callbackSecret }: ChallengeParts): Challenges {
  const slots = new Map<string, Slot>();
  const newestOf = new Map<string, string>();
  const forget = (id: string, { orderId }: Challenge) => {
    slots.delete(id);
    if (newestOf.get(orderId) === id) newestOf.delete(orderId);
  };
  const end = (slot: Slot, answer: ChallengeAnswer | 'timeout'): CallbackFields => {
    const { orderId, transactionId } = slot.challenge;
    const result = answer === 'pass' ? 'AUTHENTICATED' : 'REJECTED';
    const fields = callbackFields({ orderId, transactionId, result, at: world.now() }, callbackSecret);
    slot.challenge = { ...slot.challenge, answer, fields };
    slot.ended(answer);
    return fields;
  };
  const expire = (slot: Slot) => {
    if (slot.challenge.answer === undefined) end(slot, 'timeout');
  };

  return {
    open: (given, ended) => {
      const expiresAt = world.now() + challengeLife;
      const slot: Slot = { challenge: { ...given, id: randomUUID(), expiresAt }, ended };
      const { id, orderId } = slot.challenge;
      slots.set(id, slot);
      newestOf.set(orderId, id);
      const [oldest] = slots;
      if (slots.size > challengesKept && oldest !== undefined) forget(oldest[0], oldest[1].challenge);
      world.schedule(challengeLife, () => expire(slot));
      return slot.challenge;
    },
    find: (id) => slots.get(id)?.challenge,
    findBy: (name) => {
      const newest = slots.get(newestOf.get(name) ?? name)?.challenge;
      if (newest !== undefined) return newest;
      const all = [...slots.values()].map(({ challenge }) => challenge);
      return all.findLast((one) => one.acsTransactionId === name || one.transactionId === name);
    },
    answer: (id, answer) => {
      const slot = slots.get(id);
      if (slot === undefined) return { kind: 'unknown' };
      const { answer: before, fields } = slot.challenge;
      if (before === undefined) return { kind: 'answered', fields: end(slot, answer) };
      return before === answer && fields !== undefined ? { kind: 'answered', fields } : { kind: 'closed' };
    },
  };
}
