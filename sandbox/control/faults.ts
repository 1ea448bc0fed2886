/**
 * Deliberate faults per upstream, drawn from a seed so that a run can be repeated.
 * Invariant: the same seed, plan and order of requests give the same faults; changing one rate does not shift another's draws.
 */

/** The upstreams that call back about an order when they have decided it. */
export const carriers = ['mtn'] as const;
export const upstreams = [...carriers, 'cardnet', 'inbox', 'sms'] as const;
export type Upstream = (typeof upstreams)[number];

/** An HTTP status of 400 or more, and the `code` of the error's body. */
export type MoneyRefusal = { readonly status: number; readonly code: string };

/** Rates range from 0 (never) to 1 (always). */
export type FaultPlan = {
  /** Every request waits this long before anything else happens. */
  readonly delay_ms: number;
  /** The request vanishes before it is taken; the connection hangs until the caller gives up. */
  readonly drop_rate: number;
  /** 503 before anything is taken. */
  readonly refuse_rate: number;
  /** 500 before anything is taken. */
  readonly error_rate: number;
  /** What MTN answers every well-formed request to pay or transfer, without taking it; null: what it would answer anyway. */
  readonly refusal: MoneyRefusal | null;
  /** The request is taken, then the connection is cut without an answer. */
  readonly answer_lost_rate: number;
  /** A callback is sent twice. */
  readonly duplicate_callback_rate: number;
  /** A callback is never sent. */
  readonly lose_callback_rate: number;
  /** The status that an inbox answers; null means 200. */
  readonly status: number | null;
  /** An inbox catches the webhook and never answers. */
  readonly hang: boolean;
};

export type RequestFate = {
  readonly delay_ms: number;
  readonly end: 'none' | 'drop' | 'refuse' | 'error';
  readonly answer_lost: boolean;
};

export type Faults = {
  readonly seed: () => string;
  readonly plans: () => Record<Upstream, FaultPlan>;
  /** Changes the given parts of one upstream's plan and restarts its draws from the seed. */
  readonly set: (upstream: Upstream, change: Partial<FaultPlan>) => void;
  readonly clear: () => void;
  /** Takes another seed and restarts every draw. */
  readonly reseed: (seed: string) => void;
  readonly drawRequest: (upstream: Upstream) => RequestFate;
  /** How many times the next callback is sent: 0, 1 or 2. */
  readonly drawCallback: (upstream: Upstream) => 0 | 1 | 2;
};

const noFaults: FaultPlan = {
  delay_ms: 0,
  drop_rate: 0,
  refuse_rate: 0,
  error_rate: 0,
  refusal: null,
  answer_lost_rate: 0,
  duplicate_callback_rate: 0,
  lose_callback_rate: 0,
  status: null,
  hang: false,
};

const unharmed: RequestFate = { delay_ms: 0, end: 'none', answer_lost: false };

/** FNV-1a, 32 bits: turns the seed's text into the generator's first state. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return state >>> 0;
}

/** mulberry32: small, even enough for rates, and the same on every machine. Numbers from 0 to below 1. */
export function seededRandom(seed: string): () => number {
  let state = hash(seed);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Stream = { plan: FaultPlan; requests: () => number; callbacks: () => number };

function forEach<T>(make: (upstream: Upstream) => T): Record<Upstream, T> {
  return Object.fromEntries(upstreams.map((upstream) => [upstream, make(upstream)])) as Record<Upstream, T>;
}

export function createFaults(firstSeed: string): Faults {
  let seed = firstSeed;
  const fresh = (upstream: Upstream, plan: FaultPlan): Stream => ({
    plan,
    requests: seededRandom(`${seed}/${upstream}/requests`),
    callbacks: seededRandom(`${seed}/${upstream}/callbacks`),
  });
  const all = (planOf: (upstream: Upstream) => FaultPlan) => forEach((upstream) => fresh(upstream, planOf(upstream)));
  let streams = all(() => noFaults);

  return {
    seed: () => seed,
    plans: () => forEach((upstream) => streams[upstream].plan),
    set: (upstream, change) => {
      streams = { ...streams, [upstream]: fresh(upstream, { ...streams[upstream].plan, ...change }) };
    },
    clear: () => {
      streams = all(() => noFaults);
    },
    reseed: (next) => {
      seed = next;
      const before = streams;
      streams = all((upstream) => before[upstream].plan);
    },
    drawRequest: (upstream) => {
      const { plan, requests } = streams[upstream];
      if (plan === noFaults) return unharmed;
      // Always four draws per request, so that the fates of later requests do not depend on which rates are zero.
      const [drop, refuse, error, lost] = [requests(), requests(), requests(), requests()];
      const fate = { delay_ms: plan.delay_ms, answer_lost: lost < plan.answer_lost_rate };
      if (drop < plan.drop_rate) return { end: 'drop', ...fate };
      if (refuse < plan.refuse_rate) return { end: 'refuse', ...fate };
      return { end: error < plan.error_rate ? 'error' : 'none', ...fate };
    },
    drawCallback: (upstream) => {
      const { plan, callbacks } = streams[upstream];
      if (plan === noFaults) return 1;
      const [lost, twice] = [callbacks(), callbacks()];
      if (lost < plan.lose_callback_rate) return 0;
      return twice < plan.duplicate_callback_rate ? 2 : 1;
    },
  };
}
