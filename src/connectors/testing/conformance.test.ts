/**
 * The conformance checks find what real connectors have done wrong: a good connector is spoilt in one way at a time.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, InquiryAnswer } from '../../domain/answer.ts';
import type { OutboundRequest } from '../../platform/platform.ts';
import { createMtnMomo } from '../mtn-momo/connector.ts';
import { COLLECTION } from '../mtn-momo/products.ts';
import { type CarrierForTests, CREDENTIALS, startCarrier } from '../mtn-momo/testing/carrier.ts';
import { conformanceChecks } from './conformance.ts';
import type { AskedOrder, ConformanceWorld, Doors, Mover } from './conformance-world.ts';
import { ENDINGS } from './simulator.ts';

let carrier: CarrierForTests;
beforeAll(async () => {
  carrier = await startCarrier(COLLECTION);
});
afterAll(() => carrier.close());

type Connector = Mover<AskedOrder>;
type Spoil = (connector: Connector, doors: Doors) => Partial<Connector>;

/** A world whose connector is spoilt, and whose requests are changed on their way out. */
function worldOf(spoil: Spoil, change: (request: OutboundRequest) => OutboundRequest): ConformanceWorld<AskedOrder> {
  const connectTo = (baseUrl: string, { outbound, ...doors }: Doors): Connector => {
    const changing = { ...outbound, request: (request: OutboundRequest) => outbound.request(change(request)) };
    const open = { ...doors, outbound: changing };
    const good = createMtnMomo({ ...CREDENTIALS.collection, baseUrl }, open);
    return { ...good, ...spoil(good, open) };
  };
  return {
    ...carrier.conformance,
    connector: connectTo(carrier.url, carrier.doors),
    connectTo,
    order: (course) => carrier.order(ENDINGS[course]),
    refused: () => [{ order: carrier.order('02'), reason: 'insufficient_funds' }],
  };
}

/** Asserts that the checks of that name fail, and that there are some. */
async function expectFound(name: RegExp, spoil: Spoil, change = (request: OutboundRequest) => request): Promise<void> {
  const checks = conformanceChecks<AskedOrder>().filter((check) => name.test(check.name));
  expect(checks).not.toEqual([]);
  for (const { run } of checks) await expect(run(worldOf(spoil, change))).rejects.toThrow();
}

const APPROVED = { kind: 'approved', providerReference: null } as const;
const DECLINED = { kind: 'declined', reason: 'carrier_failed', providerReference: null } as const;

function answering(change: (answer: Answer) => Answer, inquiring: (answer: InquiryAnswer) => InquiryAnswer): Spoil {
  return ({ start, inquire }) => ({
    start: async (order) => change(await start(order)),
    inquire: async (order) => inquiring(await inquire(order)),
  });
}
const same = <A>(answer: A): A => answer;

const spoilt: readonly (readonly [what: string, spoil: Spoil, found: RegExp])[] = [
  [
    'sends again what may have been accepted',
    ({ start }) => ({
      start: async (order) => {
        const answer = await start(order);
        return answer.kind === 'unknown' ? start(order) : answer;
      },
    }),
    /\(cuts\) is asked once/,
  ],
  ['fails what was lost', answering((answer) => (answer.kind === 'unknown' ? DECLINED : answer), same), /\(cuts\)/],
  [
    'denies what it cannot find out',
    answering(same, (answer) => (answer.kind === 'unknown' ? { kind: 'not_found' } : answer)),
    /a proxy’s page/,
  ],
  [
    'takes an unfamiliar word for a no',
    answering(same, (answer) => (answer.kind === 'unknown' && answer.reason.startsWith('status') ? DECLINED : answer)),
    /an unfamiliar word/,
  ],
  [
    'loses the upstream’s id',
    answering(same, (answer) => (answer.kind === 'approved' ? { ...answer, providerReference: null } : answer)),
    /approved once paid/,
  ],
  [
    'believes an answer about anything',
    answering(same, (answer) =>
      answer.kind === 'unknown' && answer.reason.startsWith('another ') ? APPROVED : answer,
    ),
    /about something else/,
  ],
  [
    'asks for hundredths of every currency',
    ({ start }) => ({
      start: (order) => start(order.currency === 'ugx' ? { ...order, amountMinor: order.amountMinor * 100n } : order),
    }),
    /what moves is what was ordered/,
  ],
  [
    'tells a number',
    ({ start }) => ({
      start: async (order) => {
        const answer = await start(order);
        return answer.kind === 'unknown' ? { ...answer, reason: `no answer about ${order.msisdn}` } : answer;
      },
    }),
    /\(empty\)/,
  ],
  [
    'logs a key',
    ({ inquire }, { log }) => ({
      inquire: (order) => {
        log.info('asked', { with: CREDENTIALS.collection.apiKey });
        return inquire(order);
      },
    }),
    /what an upstream repeats/,
  ],
  ['makes a reference by chance', () => ({ referenceFor: () => String(performance.now()) }), /has one reference/],
  ['trusts “not found” at once', () => ({ settleDelayMs: 1_000 }), /settle delay/],
];

test.each(spoilt)('a connector is found that %s', (_what, spoil, name) => expectFound(name, spoil));

test('a connector is found whose calls take too long, or hold too much', async () => {
  await expectFound(
    /\(endless\)/,
    () => ({}),
    (request) => ({ ...request, timeout: 30_000 }),
  );
  await expectFound(
    /\(huge\)/,
    () => ({}),
    (request) => ({ ...request, answerLimit: 10 ** 9 }),
  );
});
