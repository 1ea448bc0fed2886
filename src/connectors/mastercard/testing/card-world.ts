/**
 * What tests of the card connector share: the sandbox's card network over real HTTP, cards entered through its own controls, and
 * an upstream that misbehaves.
 *
 * Invariant: a check uses the terms of the contract; what was entered or sent never appears in the log.
 */

import { createSandbox, type Sandbox } from '../../../../sandbox/app.ts';
import { type ManualWorld, manualWorld } from '../../../../sandbox/testing/manual-world.ts';
import { portOf } from '../../../../test/support/listening.ts';
import type { Answer } from '../../../domain/answer.ts';
import { makeId, type Prefix } from '../../../domain/ids.ts';
import { createOutbound } from '../../../platform/outbound.ts';
import type { Outbound } from '../../../platform/platform.ts';
import { type MemoryLog, memoryLog } from '../../../platform/testing/memory-log.ts';
import type { CardBrowser, CardConnector, CardOrder } from '../../connector.ts';
import { doorTo, type Reply, type ScriptedUpstream, startScriptedUpstream } from '../../testing/scripted-upstream.ts';
import { createMastercard } from '../connector.ts';

const CARDS = {
  pays: '5123450000000008',
  challenge: '4508750015741019',
  declined: '5111111111111118',
  lost: '4000000000000119',
  not_enrolled: '2223000000000023',
  rejected: '4012000033330026',
  no_funds: '5200000000000007',
  expired: '5200000000000015',
  by_expiry: '2223000000000007',
} as const;

export const BROWSER: CardBrowser = {
  accept: 'text/html',
  userAgent: 'Mozilla/5.0 (test)\u0007',
  language: 'fr-CD,fr;q=0.9',
  address: '192.0.2.7',
  returnUrl: 'http://127.0.0.1:9/api/v1/payments/card/3ds-callback?t=1',
};

/** The sandbox's own credentials. */
export const CREDENTIALS = { merchantId: 'TESTMBONGO', apiPassword: 'sandbox-cardnet-password', apiVersion: 100 };

let made = 0;

/** A fresh id; every run gets the same sequence. */
export function id(prefix: Prefix): string {
  made += 1;
  const random = new Uint8Array(16);
  new DataView(random.buffer).setUint32(9, made);
  return makeId(prefix, Date.UTC(2026, 10, 20), random, 7);
}

export interface CardWorld {
  readonly connector: CardConnector;
  readonly sandbox: Sandbox;
  readonly time: ManualWorld;
  readonly log: MemoryLog;
  /** An order whose form is open, and empty. */
  opened(): Promise<CardOrder>;
  /** An order whose form holds that card. */
  filled(card: keyof typeof CARDS, expiry?: string): Promise<CardOrder>;
  /** An order that was authenticated, whatever the outcome, and then asked for its money. */
  paid(card: keyof typeof CARDS, expiry?: string): Promise<{ readonly order: CardOrder; readonly answer: Answer }>;
  /** Uses the network's own controls; returns the HTTP status. */
  control(path: string, body: object): Promise<number>;
  inquiryOf(
    order: CardOrder,
  ): Pick<CardOrder, 'orderId' | 'attemptId' | 'amountMinor' | 'currency'> & { readonly reference: string };
  timesDebited(order: Pick<CardOrder, 'orderId'>): number;
  /** The connector, wired to an upstream that gives every request the same reply. */
  facing(reply: Reply): Promise<CardConnector>;
  /** Between two tests: no faults, and no upstreams that misbehave. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function openCardWorld(): Promise<CardWorld> {
  const log = memoryLog();
  const door = createOutbound({ allowLoopback: true, requireHttps: false });
  const time = manualWorld();
  const sandbox = await createSandbox({ seed: 'conformance', now: time.now, schedule: time.schedule });
  await sandbox.app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${portOf(sandbox.app.server)}`;
  const upstreams: ScriptedUpstream[] = [];

  const connectorAt = (baseUrl: string, outbound: Outbound): CardConnector =>
    createMastercard({ ...CREDENTIALS, baseUrl, formUrl: 'http://localhost:1/cardnet' }, { outbound, log });
  const connector = connectorAt(`${url}/cardnet`, door);

  const opened: CardWorld['opened'] = async () => {
    const order = { orderId: id('txn'), amountMinor: 1_250n, currency: 'usd' } as const;
    const form = await connector.openForm(order);
    if (form.kind !== 'opened') throw new Error(form.reason);
    return { ...order, attemptId: id('att'), sessionId: form.sessionId };
  };
  const control: CardWorld['control'] = async (path, body) => {
    const answer = await fetch(`${url}/control/cardnet/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.status;
  };
  const demand = async (path: string, body: object): Promise<void> => {
    const status = await control(path, body);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
  };
  const filled: CardWorld['filled'] = async (card, expiry = '01/39') => {
    const order = await opened();
    const [expiry_month, expiry_year] = expiry.split('/');
    await demand(`sessions/${order.sessionId}`, {
      number: CARDS[card],
      expiry_month,
      expiry_year,
      security_code: '100',
    });
    return order;
  };

  return {
    connector,
    sandbox,
    time,
    log,
    opened,
    filled,
    control,
    paid: async (card, expiry) => {
      const order = await filled(card, expiry);
      const said = await connector.authenticate(order, BROWSER);
      if (said.kind === 'challenge') await demand(`challenges/${order.orderId}`, { result: 'pass' });
      return { order, answer: await connector.pay(order) };
    },
    inquiryOf: ({ orderId, attemptId, amountMinor, currency }) => ({
      orderId,
      attemptId,
      amountMinor,
      currency,
      reference: connector.referenceFor(attemptId),
    }),
    timesDebited: ({ orderId }) => {
      const lines = sandbox.book.lines({}).filter(({ reference, kind }) => reference === orderId && kind === 'debit');
      return lines.reduce((sum, { times }) => sum + times, 0);
    },
    facing: async (reply) => {
      const upstream = await startScriptedUpstream(() => (reply === 'refuses_connections' ? 'cuts' : reply));
      if (reply === 'refuses_connections') await upstream.close();
      else upstreams.push(upstream);
      return connectorAt(upstream.url, doorTo(reply, door));
    },
    clear: async () => {
      sandbox.faults.clear();
      for (const upstream of upstreams.splice(0)) await upstream.close();
    },
    close: async () => {
      await door.close();
      await sandbox.app.close();
    },
  };
}
