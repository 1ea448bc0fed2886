/**
 * PINs: argon2id with a pepper, computed by a bounded pool.
 *
 * Invariant: never more than two hashes are computed at once and never more than 64 wait, so that a burst of PINs
 * cannot take the processor from the rest of the service. A hash is useless without the pepper of its key.
 */
import { hash, verify } from '@node-rs/argon2';

/** Each takes about 10 ms of one core; two leave threads for name resolution and files. */
const AT_ONCE = 2;
const QUEUE = 64;

/** 19 MiB, two passes, one lane: OWASP's recommendation for argon2id. The algorithm is the library's default. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Too many PINs wait to be computed: the caller answers 1402 and the payer tries again. */
export class PinsBusy extends Error {
  override readonly name = 'PinsBusy';
  constructor() {
    super('too many PIN checks wait');
  }
}

/** A pepper and the id of the key it was derived from; the id stands in front of each hash. */
export interface Pepper {
  readonly keyId: string;
  readonly secret: Uint8Array;
}

export interface Pins {
  /** `<key id>$argon2id$…`. Throws `PinsBusy`. */
  hashPin(pin: string): Promise<string>;
  /** False for a wrong PIN, a damaged hash, and one whose key is long gone. Throws `PinsBusy`. */
  verifyPin(pin: string, pinHash: string): Promise<boolean>;
}

/** The first pepper is used for new hashes; the others verify older ones. */
export function createPins(peppers: readonly [Pepper, ...Pepper[]]): Pins {
  const inTurn = createTurns();
  const [active] = peppers;
  return {
    async hashPin(pin) {
      const text = await inTurn(() => hash(pin, { ...COST, secret: active.secret }));
      return active.keyId + text;
    },
    async verifyPin(pin, pinHash) {
      const start = pinHash.indexOf('$');
      if (start < 0) return false;
      const keyId = pinHash.slice(0, start);
      for (const pepper of peppers) {
        if (pepper.keyId !== keyId) continue;
        if (await inTurn(() => matches(pin, pinHash.slice(start), pepper.secret))) return true;
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

/** Runs tasks two at a time, the others in the order they came. */
function createTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running < AT_ONCE) {
      running += 1;
    } else {
      if (waiting.length >= QUEUE) throw new PinsBusy();
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await task();
    } finally {
      // The place is handed over, not freed and taken again: a newcomer cannot slip in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
