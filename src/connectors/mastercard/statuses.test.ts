import { expect, test } from 'vitest';
import { CAUSES, GATEWAY_CODES, readInquiry, readOperation, TAKEN } from './statuses.ts';

const ordered = {
  operation: 'PAY',
  orderId: 'txn_1',
  transactionId: 'att_1',
  amountMinor: 1_250n,
  currency: 'usd',
} as const;

const paid = {
  order: { id: 'txn_1', amount: 12.5, currency: 'USD' },
  transaction: { id: 'att_1', amount: 12.5, currency: 'USD', receipt: '7' },
  response: { gatewayCode: 'APPROVED' },
  result: 'SUCCESS',
};

const answered = (status: number, body: object) => ({ kind: 'answered', status, body }) as const;
const refused = (cause: string, explanation = 'x', result = 'ERROR') => ({ error: { cause, explanation }, result });

test('an approval counts only beside a status of success, which a proxy may have replaced', () => {
  const read = (status: number) => [
    readOperation(answered(status, paid), ordered).answer.kind,
    readInquiry(answered(status, paid), ordered).answer.kind,
  ];
  for (const status of [200, 201]) expect(read(status)).toEqual(['approved', 'approved']);
  for (const status of [302, 404, 500, 503]) expect(read(status)).toEqual(['unknown', 'unknown']);
});

test('an approval counts only with their SUCCESS, and a decline only with their FAILURE', () => {
  const kindOf = (gatewayCode: string, result: string | undefined) =>
    readOperation(answered(200, { ...paid, response: { gatewayCode }, result }), ordered).answer.kind;
  expect([kindOf('APPROVED', 'SUCCESS'), kindOf('DECLINED', 'FAILURE')]).toEqual(['approved', 'declined']);
  for (const result of [undefined, 'PENDING', 'UNKNOWN', 'ERROR'])
    expect([kindOf('APPROVED', result), kindOf('DECLINED', result)]).toEqual(['unknown', 'unknown']);
});

test('an operator is told of a request that the network finds wrong, and not of one that it has no time for', () => {
  const told = ['INVALID_REQUEST', 'REQUEST_REJECTED', 'SERVER_BUSY', 'SERVER_FAILED'].map(
    (cause) => readOperation(answered(400, refused(cause)), ordered).alarm?.kind,
  );
  expect(told).toEqual(['ours', 'ours', undefined, undefined]);
});

test('nothing was done only if the network refuses in its own form, for a cause that we know', () => {
  const kindOf = (status: number, body: object) => readOperation(answered(status, body), ordered).answer.kind;
  expect(kindOf(400, refused('INVALID_REQUEST'))).toBe('not_sent');
  expect(kindOf(200, refused('INVALID_REQUEST'))).toBe('unknown');
  expect(kindOf(400, refused('INVALID_REQUEST', 'x', 'FAILURE'))).toBe('unknown');
  expect(readOperation(answered(400, refused('NEW_CAUSE')), ordered)).toMatchObject({
    answer: { kind: 'unknown' },
    alarm: { kind: 'unfamiliar', what: 'NEW_CAUSE' },
  });
});

test('it knows no such thing only if that is what it says, of the thing itself, and of a request that it has read', () => {
  const kindOf = (cause: string, explanation: string, status = 400) =>
    readInquiry(answered(status, refused(cause, explanation)), ordered).answer.kind;
  for (const words of ['Unable to find transaction [att_1]', 'unable to find the order', 'Order not found'])
    expect(kindOf('INVALID_REQUEST', words)).toBe('not_found');
  for (const words of ['The acquirer was unable to find transaction routes', 'Unable to find transactional rights'])
    expect(kindOf('INVALID_REQUEST', words)).toBe('unknown');
  for (const cause of ['SERVER_FAILED', 'SERVER_BUSY', 'REQUEST_REJECTED', 'NEW_CAUSE'])
    expect(kindOf(cause, 'Unable to find transaction [att_1]', 404)).toBe('unknown');
  expect(kindOf('INVALID_REQUEST', 'Unable to find transaction [att_1]', 500)).toBe('unknown');
});

test('these codes alone approve, these alone prove nothing, and every other one is a final no', () => {
  const codesOf = (kind: string) => Object.entries(GATEWAY_CODES).flatMap(([code, is]) => (is === kind ? [code] : []));
  expect(codesOf('approved')).toEqual(['APPROVED', 'APPROVED_AUTO', 'APPROVED_PENDING_SETTLEMENT']);
  expect(codesOf('unknown')).toEqual([
    'TIMED_OUT',
    'ACQUIRER_SYSTEM_ERROR',
    'SYSTEM_ERROR',
    'UNKNOWN',
    'UNSPECIFIED_FAILURE',
    'SUBMITTED',
    'PENDING',
    'PARTIALLY_APPROVED',
    'LOCK_FAILURE',
    'NOT_SUPPORTED',
    'AUTHENTICATION_IN_PROGRESS',
  ]);
});

test('a server that failed may have acted before; and an order in these words was paid', () => {
  const { SERVER_FAILED: failed, ...others } = CAUSES;
  expect([failed, ...Object.values(others)]).toEqual(['unknown', 'not_sent', 'not_sent', 'not_sent']);
  expect([...TAKEN]).toEqual([
    'AUTHORIZED',
    'CAPTURED',
    'PARTIALLY_CAPTURED',
    'PARTIALLY_REFUNDED',
    'REFUNDED',
    'EXCESSIVELY_REFUNDED',
    'DISPUTED',
    'CHARGEBACK_PROCESSED',
  ]);
});
