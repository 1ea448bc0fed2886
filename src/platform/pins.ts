/**
 * PINs: argon2id with a pepper, computed by a bounded pool.
 *
 * Invariant: a hash verifies for no other account than the one it was made for, unless it has the form of earlier builds, which
 * names none. Never more than two hashes are computed at once and never more than 256 wait, so that a burst of PINs cannot take the
 * processor from the rest of the service; owners take turns, and none fills the queue alone. A hash is useless without the pepper
 * of its key.
 */
import { createHash } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import type { Random } from './platform.ts';

/** Hashes computed at once. Each takes about 10 ms of one core; two leave threads for name resolution and files. */
const AT_ONCE = 2;
/** Hashes that may wait; the last of them waits one and a half seconds on two cores, and three on one. */
const QUEUE = 256;
/** Hashes of one owner that may wait: three others still find room beside one that sends as much as it can. */
const QUEUE_OF_ONE = 64;

/** 19 MiB, two passes, one lane: OWASP's recommendation for argon2id. The algorithm is the library's default. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** 16 random bytes begin each salt. Earlier builds had no others; now as many follow that say whose the hash is. */
const RANDOM_BYTES = 16;
const MARK_BYTES = 16;

/** Too many PINs wait to be computed: the caller answers 1402 and the payer tries again. */
export class PinsBusy extends Error {
  override readonly name = 'PinsBusy';
  constructor() {
    super('too many PIN checks wait');
  }
}

/** A pepper and the id of the key it was derived from; the id precedes each hash. */
export interface Pepper {
  readonly keyId: string;
  readonly secret: Uint8Array;
}

export interface Pins {
  /** `<key id>$argon2id$…`, for that account only. Throws `PinsBusy`. */
  hashPin(pin: string, account: string): Promise<string>;
  /**
   * Hashes a PIN where that can be postponed: undefined while no place is free, so that nobody waits or is refused because of it.
   */
  hashPinIfFree(pin: string, account: string): Promise<string | undefined>;
  /** Whether a hash is as one that is made now: by the active pepper, and bound to that account. Says nothing of any PIN. */
  isPinHashNew(pinHash: string, account: string): boolean;
  /**
   * False for a wrong PIN, a damaged hash, another account's, or one whose key has been removed; without a hash false too, after the
   * same work. `turn` names the owner in whose turn it is computed. Throws `PinsBusy`.
   */
  verifyPin(pin: string, pinHash: string | undefined, account: string, turn: string): Promise<boolean>;
}

/** A hash in the form of the active pepper's, of a PIN that nobody knows: its bytes are all zero. */
export const NOBODYS_HASH = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$${'A'.repeat(43)}$${'A'.repeat(43)}`;

/** The owner of hashes that no merchant asked for: those of the command line. */
const NOBODY = '';

/** The first pepper is used for new hashes; the others verify older ones. */
export function createPins(peppers: readonly [Pepper, ...Pepper[]], random: Random): Pins {
  const { inTurn, ifFree } = createHashTurns();
  const [active] = peppers;
  const hashed = async (pin: string, account: string): Promise<string> => {
    const salt = Buffer.concat([random.bytes(RANDOM_BYTES), markOf(account)]);
    return active.keyId + (await hash(pin, { ...COST, salt, secret: active.secret }));
  };
  return {
    hashPin: (pin, account) => inTurn(NOBODY, () => hashed(pin, account)),
    hashPinIfFree: (pin, account) => ifFree(() => hashed(pin, account)),
    isPinHashNew: (pinHash, account) =>
      pinHash.startsWith(`${active.keyId}$`) && ownerOf(pinHash).equals(markOf(account)),
    async verifyPin(pin, given, account, turn) {
      const pinHash = given ?? active.keyId + NOBODYS_HASH;
      const start = pinHash.indexOf('$');
      if (start < 0) return false;
      const keyId = pinHash.slice(0, start);
      const owner = ownerOf(pinHash);
      const isTheirs = owner.length === 0 || owner.equals(markOf(account));
      for (const pepper of peppers) {
        if (pepper.keyId !== keyId) continue;
        // Another account's hash takes the same work.
        if ((await inTurn(turn, () => matches(pin, pinHash.slice(start), pepper.secret))) && isTheirs) return true;
      }
      return false;
    },
  };
}

/**
 * What in a salt says whose the hash is. It needs no key: nobody can make the hash that belongs to another salt without the pepper.
 * Being in the salt, it is read over by earlier builds, which verify such a hash as their own.
 */
function markOf(account: string): Buffer {
  return createHash('sha256').update('mbongo.v1/pin-account').update(account).digest().subarray(0, MARK_BYTES);
}

/** The mark in a hash; empty if it is of the earlier form, which names no account. The salt is always the last field but one. */
function ownerOf(pinHash: string): Buffer {
  return Buffer.from(pinHash.split('$').at(-2) ?? '', 'base64').subarray(RANDOM_BYTES);
}

async function matches(pin: string, encoded: string, secret: Uint8Array): Promise<boolean> {
  try {
    return await verify(encoded, pin, { secret });
  } catch {
    // The library throws for a hash that it cannot read. Nobody's PIN matches that.
    return false;
  }
}

interface Turns {
  inTurn<T>(turn: string, task: () => Promise<T>): Promise<T>;
  /** Undefined, without running the task, while every place is taken. */
  ifFree<T>(task: () => Promise<T>): Promise<T | undefined>;
}

/** Runs tasks two at a time. Owners take turns, each with its tasks in the order they came. */
export function createHashTurns(): Turns {
  let running = 0;
  let count = 0;
  /** The waiting tasks, by owner; the first owner is next. */
  const waiting = new Map<string, (() => void)[]>();

  const wait = (turn: string): Promise<void> => {
    const mine = waiting.get(turn) ?? [];
    if (count >= QUEUE || mine.length >= QUEUE_OF_ONE) throw new PinsBusy();
    count += 1;
    waiting.set(turn, mine);
    return new Promise((resolve) => mine.push(resolve));
  };

  const takeNext = (): (() => void) | undefined => {
    for (const [turn, [next, ...others]] of waiting) {
      // An owner that has had its turn goes behind the others.
      waiting.delete(turn);
      if (others.length > 0) waiting.set(turn, others);
      count -= 1;
      return next;
    }
    return undefined;
  };

  const inPlace = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task();
    } finally {
      // The place is handed over, not freed and taken again: a newcomer cannot slip in between.
      const next = takeNext();
      if (next === undefined) running -= 1;
      else next();
    }
  };

  return {
    async inTurn(turn, task) {
      if (running < AT_ONCE) running += 1;
      else await wait(turn);
      return inPlace(task);
    },
    async ifFree(task) {
      // A place that a task waits for is handed over directly: so if one is free, nobody waits.
      if (running === AT_ONCE) return undefined;
      running += 1;
      return inPlace(task);
    },
  };
}
