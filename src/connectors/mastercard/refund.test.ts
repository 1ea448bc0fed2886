/** Refunds of card payments, against the sandbox's card network and against one that misbehaves. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MISBEHAVIOURS } from '../testing/scripted-upstream.ts';
import { type CardWorld, id, openCardWorld } from './testing/card-world.ts';

let world: CardWorld;

beforeAll(async () => {
  world = await openCardWorld();
});
afterEach(() => world.clear());
afterAll(() => world.close());

describe('giving back', () => {
  test('in parts, never more than was paid, and once per attempt', async () => {
    const { order } = await world.paid('pays');
    const part = { ...order, attemptId: id('att'), amountMinor: 1_000n };
    expect((await world.connector.refund(part)).kind).toBe('approved');
    expect((await world.connector.refund(part)).kind).toBe('approved');
    expect(await world.connector.orderStatus(order.orderId)).toMatchObject({ status: 'PARTIALLY_REFUNDED' });
    expect(await world.connector.refund({ ...part, attemptId: id('att') })).toMatchObject({
      kind: 'declined',
      reason: 'carrier_failed',
    });
    expect((await world.connector.refund({ ...part, attemptId: id('att'), amountMinor: 250n })).kind).toBe('approved');
    expect(await world.connector.orderStatus(order.orderId)).toMatchObject({ status: 'REFUNDED' });
  });

  test('with a lost answer is unknown; the inquiry finds it, and it was carried out once', async () => {
    const { order } = await world.paid('pays');
    const part = { ...order, attemptId: id('att'), amountMinor: 500n };
    world.sandbox.faults.set('cardnet', { answer_lost_rate: 1 });
    expect((await world.connector.refund(part)).kind).toBe('unknown');
    world.sandbox.faults.clear();
    const inquiry = { ...world.inquiryOf(part), movement: 'refund' } as const;
    expect((await world.connector.inquire(inquiry)).kind).toBe('approved');
    const lines = world.sandbox.book
      .lines({})
      .filter(({ kind, reference }) => kind === 'credit' && reference === order.orderId);
    expect(lines).toMatchObject([{ amount: '5.00', times: 1 }]);
    expect((await world.connector.inquire({ ...inquiry, amountMinor: 501n })).kind).toBe('unknown');
    expect(await world.connector.inquire({ ...inquiry, reference: id('att') })).toEqual({ kind: 'not_found' });
  });

  test('is never mistaken for the payment, nor the payment for it', async () => {
    const { order } = await world.paid('pays');
    const all = { ...order, attemptId: id('att') };
    expect((await world.connector.refund(all)).kind).toBe('approved');
    expect((await world.connector.inquire(world.inquiryOf(all))).kind).toBe('unknown');
    expect((await world.connector.inquire({ ...world.inquiryOf(order), movement: 'refund' })).kind).toBe('unknown');
  });

  test('is not what somebody voids at the network, and a transaction that is voided has not paid', async () => {
    const order = await world.opened();
    const bodyOf = (type: string | undefined) =>
      JSON.stringify({
        order: { id: order.orderId, amount: 12.5, currency: 'USD' },
        transaction: { id: order.attemptId, type, amount: 12.5, currency: 'USD' },
        response: { gatewayCode: 'APPROVED' },
        result: 'SUCCESS',
      });
    const said = async (type: string | undefined, movement?: 'refund') => {
      const network = await world.facing({ status: 200, body: bodyOf(type) });
      return (await network.inquire({ ...world.inquiryOf(order), ...(movement && { movement }) })).kind;
    };
    expect([await said('PAYMENT'), await said('REFUND', 'refund')]).toEqual(['approved', 'approved']);
    // Without a type it may be the payment, and never money that was given back.
    expect([await said(undefined), await said(undefined, 'refund')]).toEqual(['approved', 'unknown']);
    for (const type of ['VOID_PAYMENT', 'VOID_CAPTURE', 'VOID_REFUND'])
      for (const movement of [undefined, 'refund'] as const) expect(await said(type, movement), type).toBe('unknown');
  });

  test('is sent again later if the network turned it away, and never if the network found it wrong', async () => {
    const order = { ...(await world.opened()), attemptId: id('att') };
    const error = (cause: string) =>
      JSON.stringify({ error: { cause, explanation: 'x', field: 'order' }, result: 'ERROR' });
    const refused = async (status: number, cause: string) =>
      (await (await world.facing({ status, body: error(cause) })).refund(order)).kind;
    expect(await refused(400, 'INVALID_REQUEST')).toBe('declined');
    expect(await refused(401, 'INVALID_REQUEST')).toBe('not_sent');
    expect(await refused(400, 'REQUEST_REJECTED')).toBe('not_sent');
    expect(await refused(503, 'SERVER_BUSY')).toBe('not_sent');
    expect(await refused(500, 'SERVER_FAILED')).toBe('unknown');
  });

  test.each(MISBEHAVIOURS)('by an upstream that misbehaves (%s) gets one of our own answers', async (reply) => {
    const order = await world.opened();
    const bad = await world.facing(reply);
    const answer = await bad.refund(order);
    expect(answer.kind).toBe(reply === 'refuses_connections' ? 'not_sent' : 'unknown');
  });
});
