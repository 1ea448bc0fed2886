/**
 * PINs: argon2id with a pepper, computed by a bounded pool.
 *
 * Invariant: never more than two hashes are computed at once and never more than 256 wait, so that a burst of PINs
 * cannot take the processor from the rest of the service; owners take turns, and none fills the queue alone. A hash is
 * useless without the pepper of its key.
 */
import { hash, verify } from '@node-rs/argon2';

/** Hashes computed at once. Each takes about 10 ms of one core; two leave threads for name resolution and files. */
const AT_ONCE = 2;
/** Hashes that may wait; the last of them waits one and a half seconds on two cores, and three on one. */
const QUEUE = 256;
/** Hashes of one owner that may wait: three others still find room beside one that sends as much as it can. */
const QUEUE_OF_ONE = 64;

/** 19 MiB, two passes, one lane: OWASP's recommendation for argon2id. The algorithm is the library's default. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

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
  /** `<key id>$argon2id$…`. Throws `PinsBusy`. */
  hashPin(pin: string): Promise<string>;
  /**
   * Hashes a PIN where that can be postponed: undefined while no place is free, so that nobody waits or is refused because of it.
   */
  hashPinIfFree(pin: string): Promise<string | undefined>;
  /**
   * False for a wrong PIN, a damaged hash, or one whose key has been removed; without a hash false too, after the same work.
   * `turn` names the owner in whose turn it is computed. Throws `PinsBusy`.
   */
  verifyPin(pin: string, pinHash: string | undefined, turn?: string): Promise<boolean>;
}

/** A hash in the form of the active pepper's, of a PIN that nobody knows: its bytes are all zero. */
export const NOBODYS_HASH = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** The owner of hashes that no merchant asked for: those of the command line. */
const NOBODY = '';

/** The first pepper is used for new hashes; the others verify older ones. */
export function createPins(peppers: readonly [Pepper, ...Pepper[]]): Pins {
  const { inTurn, ifFree } = createHashTurns();
  const [active] = peppers;
  const hashed = async (pin: string): Promise<string> =>
    active.keyId + (await hash(pin, { ...COST, secret: active.secret }));
  return {
    hashPin: (pin) => inTurn(NOBODY, () => hashed(pin)),
    hashPinIfFree: (pin) => ifFree(() => hashed(pin)),
    async verifyPin(pin, given, turn = NOBODY) {
      const pinHash = given ?? active.keyId + NOBODYS_HASH;
      const start = pinHash.indexOf('$');
      if (start < 0) return false;
      const keyId = pinHash.slice(0, start);
      for (const pepper of peppers) {
        if (pepper.keyId !== keyId) continue;
        if (await inTurn(turn, () => matches(pin, pinHash.slice(start), pepper.secret))) return true;
      }
      return false;
    },
  };
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
