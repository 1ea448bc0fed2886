/**
 * The way between gateways and the card network, on which requests and answers are lost or late.
 *
 * Invariant: a request arrives at most once, and no later than a minute after it was sent. The network carries out what it
 * has turned away only where that was planned.
 */
import type { Clock, Outbound, OutboundAnswer, OutboundRequest } from '../../src/platform/platform.ts';
import { pause } from '../../src/usecases/patience.ts';
import type { Chance } from './chance.ts';

/** A request for money: when it was sent, and when the network had answered it; infinity if it never arrived. */
export interface Asked {
  readonly attemptId: string;
  readonly sentAt: number;
  answeredAt: number;
}

/** What happens to a request for money, and how much later it arrives. `lied`: it is turned away, and carried out then. */
export interface Plan {
  readonly fate: 'sent_late' | 'lied';
  readonly afterMs: number;
}

/** An inquiry about an attempt, and when it was sent. */
export type Inquired = Pick<Asked, 'attemptId' | 'sentAt'>;

export interface Way {
  /** How likely it is that an inquiry goes wrong, 0 to 1; requests for money do so twice as often, others seldom. */
  trouble: number;
  /** Every PAY and REFUND, in the order in which they were sent. */
  readonly asked: readonly Asked[];
  /** Every inquiry about one of them, as they were sent. */
  readonly inquired: readonly Inquired[];
  /** The return addresses that the network was given, by order. */
  readonly returns: ReadonlyMap<string, readonly string[]>;
  /** The attempts whose requests were turned away, and carried out all the same. */
  readonly lied: ReadonlySet<string>;
  /** Decides about the next request for that order's money, in place of chance. */
  plan(orderId: string, plan: Plan): void;
  /** Takes the place of a process's outbound calls. */
  request(outbound: Outbound, request: OutboundRequest): Promise<OutboundAnswer>;
  /** How many requests and answers are delayed. */
  delayed(): number;
  /** Lets one of them arrive. */
  arrive(): void;
}

const LONGEST_MS = 60_000;
const LOST: OutboundAnswer = { kind: 'lost', reason: 'simulated' };
const MOVES_MONEY = /"apiOperation":"(PAY|REFUND)"/;

export function openWay(clock: Clock, chance: Chance, note: (line: string) => void): Way {
  const waiting = new Set<() => void>();
  const asked: Asked[] = [];
  const inquired: Inquired[] = [];
  const returns = new Map<string, string[]>();
  const lied = new Set<string>();
  const plans = new Map<string, Plan>();
  /** How many requests wait for the time that was planned. */
  let planned = 0;

  /** Resolves when it is let through, after a minute at the latest. */
  const delay = (): Promise<void> =>
    new Promise((resolve) => {
      const go = (): void => {
        waiting.delete(go);
        cancel();
        resolve();
      };
      const cancel = clock.after(LONGEST_MS, go);
      waiting.add(go);
    });
  const until = async ({ afterMs }: Plan): Promise<void> => {
    planned += 1;
    await pause(clock, afterMs);
    planned -= 1;
  };
  /** The plan for a request, which is used up. */
  const planFor = ({ url }: OutboundRequest): Plan | undefined => {
    const order = orderOf(url) ?? '';
    const plan = plans.get(order);
    plans.delete(order);
    return plan;
  };
  const timeOut = ({ timeout }: OutboundRequest): Promise<OutboundAnswer> =>
    new Promise((resolve) => void clock.after(timeout, () => resolve(LOST)));

  function byChance(request: OutboundRequest, isMoney: boolean) {
    if (!chance.isOn(way.trouble * shareOf(request, isMoney))) return 'carried';
    return chance.weighed({ refused: 1, dropped: 1, unheard: 3, heard_late: 3, sent_late: isMoney ? 6 : 3 });
  }

  function noteReturn({ url, body }: OutboundRequest): void {
    const order = orderOf(url);
    const address = /"redirectResponseUrl":"([^"]+)"/.exec(body ?? '')?.[1];
    if (order !== undefined && address !== undefined) returns.set(order, [...(returns.get(order) ?? []), address]);
  }

  const way: Way = {
    trouble: 0,
    asked,
    inquired,
    returns,
    lied,
    plan: (orderId, plan) => void plans.set(orderId, plan),
    delayed: () => waiting.size + planned,
    arrive: () => [...waiting][Math.floor(chance.roll() * waiting.size)]?.(),
    async request(outbound, request) {
      noteReturn(request);
      const isMoney = MOVES_MONEY.test(request.body ?? '');
      const order = { attemptId: request.url.split('/').at(-1) ?? '', sentAt: clock.now(), answeredAt: Infinity };
      if (isMoney) asked.push(order);
      if (request.method === 'GET') inquired.push(order);
      const send = async (): Promise<OutboundAnswer> => {
        const answer = await outbound.request(request);
        order.answeredAt = clock.now();
        return answer;
      };
      const plan = isMoney ? planFor(request) : undefined;
      const fate = plan?.fate ?? byChance(request, isMoney);
      const late = plan === undefined ? delay : () => until(plan);
      note(`  ${nameOf(request)}: ${fate}`);
      switch (fate) {
        case 'carried':
          return send();
        case 'refused':
          return { kind: 'not_sent', reason: 'simulated' };
        case 'dropped':
          return timeOut(request);
        case 'unheard':
          return send().then(() => LOST);
        case 'heard_late':
          return Promise.race([send().then((answer) => delay().then(() => answer)), timeOut(request)]);
        case 'sent_late':
          return Promise.race([late().then(send), timeOut(request)]);
        case 'lied':
          lied.add(order.attemptId);
          void late().then(send);
          return { kind: 'answered', status: 503, headers: {}, body: BUSY };
      }
    },
  };
  return way;
}

/**
 * How often a request is disturbed, as a share of the trouble. The form and the beginning of an authentication seldom are:
 * otherwise nobody would ever get to the money.
 */
function shareOf({ method, url }: OutboundRequest, isMoney: boolean): number {
  if (isMoney) return 2;
  return method !== 'GET' || url.includes('/session/') ? 0.25 : 1;
}

const BUSY = JSON.stringify({ result: 'ERROR', error: { cause: 'SERVER_BUSY', explanation: 'busy' } });

function orderOf(url: string): string | undefined {
  return /\/order\/([^/]+)/.exec(url)?.[1];
}

function nameOf({ method, url, body }: OutboundRequest): string {
  const operation = /"apiOperation":"(\w+)"/.exec(body ?? '')?.[1] ?? method;
  return `${operation} ${url.replace(/^.*\/merchant\/[^/]+/, '')}`;
}
