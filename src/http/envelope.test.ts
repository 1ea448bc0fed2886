import { describe, expect, it } from 'vitest';
import { ENVELOPE_FIELDS } from '../../test/support/envelope.ts';
import { REFUSALS, Refusal, type RefusalCode, refuseField } from '../domain/refusal.ts';
import { LANGUAGES } from '../messages/messages.ts';
import { PinsBusy } from '../platform/pins.ts';
import { CommitUnknown, StoreBusy, StoreUnavailable } from '../store/errors.ts';
import { envelopeWriter, refusalOf, renderEnvelope } from './envelope.ts';

const CONTEXT = {
  language: 'en',
  requestId: 'req_1',
  now: Date.parse('2026-11-20T12:00:00Z'),
  publicUrl: 'https://pay.example.com',
} as const;
/** How many bytes a body may have, in these tests. */
const BODY_BYTES = 1_024;
const CODES = Object.keys(REFUSALS).map(Number) as RefusalCode[];

const render = (refusal: Refusal) => JSON.parse(renderEnvelope(refusal, CONTEXT)) as Record<string, unknown>;

describe('the envelope', () => {
  it.each(CODES)('of %i has the fields of the contract, in their order', (code) => {
    const envelope = render(new Refusal(code));
    expect(Object.keys(envelope)).toEqual(ENVELOPE_FIELDS);
    expect(envelope).toMatchObject({
      error: true,
      error_code: String(code),
      error_name: REFUSALS[code].name,
      details: null,
      timestamp: '2026-11-20T12:00:00.000Z',
      request_id: 'req_1',
      transaction_id: null,
      documentation_url: `https://pay.example.com/docs/errors/${code}`,
    });
    expect(String(envelope.message).length).toBeGreaterThan(10);
  });

  it('gives a single detail as its message, and several one by one', () => {
    const one = render(refuseField(1103, 'payment_method', 'NOT_AN_OPTION', { options: 'wallet, flash' }));
    expect(one.message).toContain('wallet, flash');
    expect(one.details).toEqual([{ field: 'payment_method', message: one.message, code: 'NOT_AN_OPTION' }]);
    const two = render(
      new Refusal(1109, {
        details: [
          { field: 'a', code: 'REQUIRED' },
          { field: 'b[1].c', code: 'REQUIRED' },
        ],
      }),
    );
    expect(two.message).toBe('A required field is missing. Add the fields that are named in the details.');
    expect(two.details).toMatchObject([{ field: 'a' }, { field: 'b[1].c', message: 'b[1].c is missing. Send it.' }]);
  });

  it('names the state before a detail that does not name it', () => {
    const more = {
      words: { state: 'refunded' },
      details: [{ field: 'transaction_id', code: 'NOTHING_LEFT' }],
    } as const;
    const { message } = render(new Refusal(1205, more));
    expect(message).toMatch(/^The payment is in state refunded, which .* there is nothing left to refund\.$/);
    const chinese = JSON.parse(renderEnvelope(new Refusal(1205, more), { ...CONTEXT, language: 'zh' })) as typeof more;
    expect(chinese).toMatchObject({ message: expect.stringMatching(/refunded.*。[^ ]/) });
    const words = { state: 'declined' };
    const named = { words, details: [{ field: 'transaction_id', code: 'NOT_PAID', words }] } as const;
    expect(String(render(new Refusal(1205, named)).message).match(/declined/g)).toHaveLength(1);
    // Its own sentence has that word by coincidence.
    const archived = { ...more, details: [{ field: 'transaction_id', code: 'ARCHIVED' }] } as const;
    expect(render(new Refusal(1205, archived)).message).toMatch(/^The payment is in state refunded, /);
  });

  it('carries what the refusal says about retrying and about a transaction', () => {
    const refusal = new Refusal(1203, { retryable: true, retryAfter: 5, transactionId: 'txn_1' });
    expect(render(refusal)).toMatchObject({ retryable: true, retry_after: 5, transaction_id: 'txn_1' });
    expect(render(new Refusal(1301))).toMatchObject({ retry_after: 1 });
  });

  it('speaks the caller’s language and keeps its code', () => {
    const texts = (['en', 'fr', 'es', 'ru', 'zh', 'ln'] as const).map((language) => {
      const envelope = JSON.parse(renderEnvelope(new Refusal(1204), { ...CONTEXT, language })) as Record<
        string,
        unknown
      >;
      expect(envelope.error_code).toBe('1204');
      return envelope.message;
    });
    expect(new Set(texts).size).toBe(6);
  });
});

it('the envelope is the same if all but the id and the time is prepared once', () => {
  for (const code of CODES) {
    for (const language of LANGUAGES) {
      const refusal = new Refusal(code, { retryAfter: 4 });
      const context = { ...CONTEXT, language };
      const write = envelopeWriter(refusal, language, CONTEXT.publicUrl);
      expect(write(context.requestId, context.now)).toBe(renderEnvelope(refusal, context));
    }
  }
});

describe('an error', () => {
  it.each([StoreBusy, CommitUnknown, PinsBusy, StoreUnavailable])('of the kind %o means: not now', (Kind) => {
    const { refusal, isBug } = refusalOf(new Kind(), { isRepeatable: true, bodyMost: BODY_BYTES });
    expect([refusal.code, refusal.retryable, refusal.more.retryAfter, isBug]).toEqual([1402, true, 1, false]);
  });

  it('that leaves an unrepeatable call in doubt says so, and does not ask to repeat it', () => {
    const { refusal, isBug } = refusalOf(new CommitUnknown(), { isRepeatable: false, bodyMost: BODY_BYTES });
    expect([refusal.code, refusal.retryable, refusal.more.retryAfter, isBug]).toEqual([1402, false, undefined, false]);
    expect(refusal.more.details).toEqual([{ field: 'Idempotency-Key', code: 'IN_DOUBT' }]);
    expect(refusalOf(new StoreUnavailable(), { isRepeatable: false, bodyMost: BODY_BYTES }).refusal.retryable).toBe(
      true,
    );
  });

  it('that was not foreseen is internal, and says nothing', () => {
    for (const error of [new Error('select * from payment'), 'text', undefined, { code: 1204 }]) {
      const { refusal, isBug } = refusalOf(error, { isRepeatable: true, bodyMost: BODY_BYTES });
      expect([refusal.code, isBug]).toEqual([1401, true]);
      expect(renderEnvelope(refusal, CONTEXT)).not.toContain('select');
    }
  });
});
