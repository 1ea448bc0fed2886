/**
 * The way between gateways and an upstream, on which requests and answers are lost or late.
 *
 * Invariant: a request arrives at most once, and no later than a minute after it was sent. The upstream carries out what it
 * has turned away only where that was planned.
 */
import type { Clock, Outbound, OutboundAnswer, OutboundRequest } from '../../src/platform/platform.ts';
import { pause } from '../../src/usecases/patience.ts';
import type { Chance } from './chance.ts';

/** What a way has to know about the upstream at its end. */
export interface Upstream {
  /** Whether the request moves money if it is carried out. */
  isMoney(request: OutboundRequest): boolean;
  /** What the upstream knows the attempt by that a request is about. */
  referenceOf(request: OutboundRequest): string;
  /** What plans for that request are made by. */
  orderOf(request: OutboundRequest): string | undefined;
  /** How often a request is disturbed, as a share of the trouble. */
  shareOf(request: OutboundRequest): number;
  /** The body with which it turns a request away for now, beside 503. */
  readonly busy: string;
  /** The request in words, for the diary. */
  nameOf(request: OutboundRequest): string;
}

/** A request for money: when it was sent, and when the upstream had answered it; infinity if it never arrived. */
export interface Asked {
  readonly reference: string;
  readonly sentAt: number;
  answeredAt: number;
}

/** What happens to a request for money, and how much later it arrives. `lied`: it is turned away, and carried out then. */
export interface Plan {
  readonly fate: 'sent_late' | 'lied';
  readonly afterMs: number;
}

/** An inquiry about an attempt, and when it was sent. */
export type Inquired = Pick<Asked, 'reference' | 'sentAt'>;

/**
 * Whether one of these requests, which all moved money for one order, was sent although an earlier one could have been known to
 * have moved it. A try that was turned away is inquired about before the next one, and found out unless the only inquiry came
 * before the upstream carried it out.
 */
export function isAgainKnowingly(tries: readonly Asked[], inquired: readonly Inquired[]): boolean {
  const isExcused = ({ reference, answeredAt }: Asked): boolean =>
    inquired.some((inquiry) => inquiry.reference === reference && inquiry.sentAt <= answeredAt);
  return tries.some((one) => !isExcused(one) && tries.some(({ sentAt }) => sentAt > one.answeredAt));
}

export interface Way {
  /** How likely it is that an inquiry goes wrong, 0 to 1; requests for money do so twice as often, others seldom. */
  trouble: number;
  /** Every request for money, in the order in which they were sent. */
  readonly asked: readonly Asked[];
  /** Every inquiry about one of them, as they were sent. */
  readonly inquired: readonly Inquired[];
  /** The references whose requests were turned away, and carried out all the same. */
  readonly lied: ReadonlySet<string>;
  /** Decides about the next request for that order's money, in place of chance. */
  plan(order: string, plan: Plan): void;
  /** Takes the place of a process's outbound calls. */
  request(outbound: Outbound, request: OutboundRequest): Promise<OutboundAnswer>;
  /** How many requests and answers are delayed. */
  delayed(): number;
  /** Lets one of them arrive. */
  arrive(): void;
}

/** 20 000 ms: the longest step of a race's clock. What falls due within a step happens at its end, so that much later. */
export const MAX_STEP_MS = 20_000;
/** 40 000 ms, with a step a minute: an order that its upstream has not known for longer is given up. */
const MAX_WAY_MS = 60_000 - MAX_STEP_MS;
const LOST: OutboundAnswer = { kind: 'lost', reason: 'simulated' };

export function openWay(clock: Clock, upstream: Upstream, chance: Chance, note: (line: string) => void): Way {
  const waiting = new Set<() => void>();
  const asked: Asked[] = [];
  const inquired: Inquired[] = [];
  const lied = new Set<string>();
  const plans = new Map<string, Plan>();
  /** How many requests wait for the time that was planned. */
  let planned = 0;

  /** Resolves when it is let through, at the latest after `MAX_WAY_MS`. */
  const delay = (): Promise<void> =>
    new Promise((resolve) => {
      const go = (): void => {
        waiting.delete(go);
        cancel();
        resolve();
      };
      const cancel = clock.after(MAX_WAY_MS, go);
      waiting.add(go);
    });
  const until = async ({ afterMs }: Plan): Promise<void> => {
    planned += 1;
    await pause(clock, afterMs);
    planned -= 1;
  };
  /** The plan for a request, which is used up. */
  const planFor = (request: OutboundRequest): Plan | undefined => {
    const order = upstream.orderOf(request) ?? '';
    const plan = plans.get(order);
    plans.delete(order);
    return plan;
  };

  function byChance(request: OutboundRequest, isMoney: boolean) {
    if (!chance.isOn(way.trouble * upstream.shareOf(request))) return 'carried';
    return chance.weighed({ refused: 1, dropped: 1, unheard: 3, heard_late: 3, sent_late: isMoney ? 6 : 3 });
  }

  const way: Way = {
    trouble: 0,
    asked,
    inquired,
    lied,
    plan: (order, plan) => void plans.set(order, plan),
    delayed: () => waiting.size + planned,
    arrive: () => [...waiting][Math.floor(chance.roll() * waiting.size)]?.(),
    async request(outbound, request) {
      const isMoney = upstream.isMoney(request);
      const sent = { reference: upstream.referenceOf(request), sentAt: clock.now(), answeredAt: Infinity };
      if (isMoney) asked.push(sent);
      if (request.method === 'GET') inquired.push(sent);
      const send = async (): Promise<OutboundAnswer> => {
        const answer = await outbound.request(request);
        sent.answeredAt = clock.now();
        return answer;
      };
      const plan = isMoney ? planFor(request) : undefined;
      const fate = plan?.fate ?? byChance(request, isMoney);
      const timeOut = pause(clock, request.timeout).then(() => LOST);
      const inTime = (answering: Promise<OutboundAnswer>): Promise<OutboundAnswer> =>
        Promise.race([answering, timeOut]);
      const late = plan === undefined ? delay : () => until(plan);
      note(`  ${upstream.nameOf(request)}: ${fate}`);
      switch (fate) {
        case 'carried':
          return inTime(send());
        case 'refused':
          return { kind: 'not_sent', reason: 'simulated' };
        case 'dropped':
          return timeOut;
        case 'unheard':
          return inTime(send().then(() => LOST));
        case 'heard_late':
          return inTime(send().then((answer) => delay().then(() => answer)));
        case 'sent_late':
          return inTime(late().then(send));
        case 'lied':
          lied.add(sent.reference);
          void late().then(send);
          return { kind: 'answered', status: 503, headers: {}, body: upstream.busy };
      }
    },
  };
  return way;
}
