import fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { Refusal, type RefusalDetail } from '../domain/refusal.ts';
import { createBodyShape, createParamsShape, dropNulls } from './shape.ts';

const Line = Type.Object({
  amount: Type.String({ maxLength: 10 }),
  phone_number: Type.Optional(Type.String({ maxLength: 20 })),
});
const Body = Type.Object({
  payment_method: Type.Union([Type.Literal('wallet'), Type.Literal('flash')]),
  amount: Type.String({ pattern: '^[0-9]+$' }),
  currency: Type.String({ maxLength: 3 }),
  name: Type.String({ minLength: 2, maxLength: 5 }),
  email: Type.Optional(Type.String({ format: 'email' })),
  notify_url: Type.Optional(Type.String({ maxLength: 10 })),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
  reason: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Null()])),
  beneficiaries: Type.Optional(Type.Array(Line, { minItems: 1, maxItems: 2 })),
});
const GOOD = { payment_method: 'wallet', amount: '1', currency: 'usd', name: 'abc' };

function refusalOf(schema: TSchema, value: unknown): Refusal | undefined {
  try {
    createBodyShape(schema).require(value, undefined);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const faultsOf = (value: unknown): string => {
  const refusal = refusalOf(Body, value);
  return `${refusal?.code}: ${(refusal?.more.details ?? []).map(({ field, code }) => `${field} ${code}`).join(', ')}`;
};

describe('a shape', () => {
  it('accepts what fits, and ignores unknown fields', () => {
    expect(refusalOf(Body, { ...GOOD, merchant: { id: 1 }, __proto__: null })).toBeUndefined();
  });

  it.each([
    [{}, '1109: payment_method REQUIRED, amount REQUIRED, currency REQUIRED, name REQUIRED'],
    [{ ...GOOD, amount: null }, '1109: amount REQUIRED'],
    [{ ...GOOD, currency: undefined, amount: 5 }, '1109: currency REQUIRED, amount INVALID_AMOUNT'],
    [{ ...GOOD, amount: 5, name: 'x' }, '1101: amount INVALID_AMOUNT, name TOO_SHORT'],
    [{ ...GOOD, name: '\u{1F642}' }, '1110: name TOO_SHORT'],
    [{ ...GOOD, currency: 'dollars' }, '1102: currency INVALID_CURRENCY'],
    [{ ...GOOD, payment_method: 'gold', amount: '' }, '1103: payment_method NOT_AN_OPTION, amount INVALID_AMOUNT'],
    [{ ...GOOD, payment_method: 5 }, '1103: payment_method NOT_AN_OPTION'],
    [{ ...GOOD, email: 'nobody' }, '1105: email INVALID_EMAIL'],
    [{ ...GOOD, name: 'abcdef', notify_url: 'http://example.com' }, '1110: name TOO_LONG, notify_url INVALID_URL'],
    [{ ...GOOD, count: 1.5 }, '1110: count WRONG_TYPE'],
    [{ ...GOOD, count: 10 }, '1110: count OUT_OF_RANGE'],
    [{ ...GOOD, reason: 'long' }, '1110: reason TOO_LONG'],
    [{ ...GOOD, reason: 5 }, '1110: reason WRONG_TYPE'],
    [{ ...GOOD, beneficiaries: {} }, '1110: beneficiaries WRONG_TYPE'],
    [{ ...GOOD, beneficiaries: [] }, '1110: beneficiaries TOO_SHORT'],
    [{ ...GOOD, beneficiaries: [{}, {}, {}] }, '1207: beneficiaries TOO_LONG'],
    [
      { ...GOOD, beneficiaries: [{ amount: 1, phone_number: 5 }, {}] },
      '1109: beneficiaries[1].amount REQUIRED, beneficiaries[0].amount INVALID_AMOUNT, beneficiaries[0].phone_number INVALID_PHONE_NUMBER',
    ],
    [[], '1110: body WRONG_TYPE'],
  ])('reports every bad field of %j at once', (value, faults) => {
    expect(faultsOf(value)).toBe(faults);
  });

  it('names the possible values and the limits', () => {
    const refusal = refusalOf(Body, { ...GOOD, payment_method: 'gold', name: 'x' });
    expect(refusal?.more.details).toEqual([
      { field: 'payment_method', code: 'NOT_AN_OPTION', words: { options: 'wallet, flash' } },
      { field: 'name', code: 'TOO_SHORT', words: { minimum: 2 } },
    ]);
  });

  it('reports at most a thousand faults', () => {
    const Many = Type.Object({ list: Type.Array(Type.String()) });
    expect(refusalOf(Many, { list: Array.from({ length: 5_000 }, () => 1) })?.more.details).toHaveLength(1_000);
  });

  it('shows the route nothing of a list whose faults were too many to be all found', () => {
    const Many = Type.Object({ list: Type.Array(Type.String()), name: Type.String() });
    const seen: unknown[] = [];
    const body = { list: Array.from({ length: 1_001 }, () => 1), name: 'abc' };
    const check = (readable: unknown) => {
      seen.push(readable);
      return [];
    };
    expect(() => createBodyShape(Many).require(body, check)).toThrow(Refusal);
    expect(seen).toEqual([{ name: 'abc' }]);
  });

  it('refuses exactly what the schema refuses, with a reason', () => {
    const value = fc.record(
      {
        payment_method: fc.constantFrom('wallet', 'gold', 5, null),
        amount: fc.constantFrom('1', 'x', 1, null),
        currency: fc.oneof(fc.string({ maxLength: 4 }), fc.constant(null)),
        name: fc.oneof(fc.string({ maxLength: 6 }), fc.constant([])),
        email: fc.constantFrom('a@b.example', 'x', null),
        count: fc.oneof(fc.double(), fc.integer({ min: -1, max: 11 })),
        reason: fc.oneof(fc.string({ maxLength: 4 }), fc.constant(null)),
        beneficiaries: fc.array(fc.oneof(fc.jsonValue(), fc.constant({ amount: '1' })), { maxLength: 3 }),
      },
      { requiredKeys: [] },
    );
    // Values that are no objects are refused where bodies are read.
    const other = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(fc.oneof(value, other), (given) => {
        const refusal = refusalOf(Body, given);
        expect(refusal === undefined).toBe(Check(Body, given));
        if (refusal !== undefined) expect(refusal.more.details?.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('null', () => {
  it('in an optional field counts as absent, also in nested objects', () => {
    const body = {
      ...GOOD,
      email: null,
      reason: null,
      beneficiaries: [{ amount: '1', phone_number: null }],
      other: null,
    };
    dropNulls(Body, body);
    expect(body).toEqual({ ...GOOD, reason: null, beneficiaries: [{ amount: '1' }], other: null });
  });

  it('in a required field counts as missing', () => {
    const body = { ...GOOD, amount: null };
    dropNulls(Body, body);
    expect(faultsOf(body)).toBe('1109: amount REQUIRED');
  });
});

describe('path parameters', () => {
  const shape = createParamsShape(Type.Object({ id: Type.String({ minLength: 10, maxLength: 20 }) }));
  const codeOf = (id: string): number | undefined => {
    try {
      shape.require({ id });
      return undefined;
    } catch (error) {
      return error instanceof Refusal ? error.code : 0;
    }
  };

  it('are 1110 if too short, and otherwise unknown', () => {
    expect([codeOf('0123456789'), codeOf('012345678'), codeOf('x'.repeat(21)), codeOf('0123456789\u0000')]).toEqual([
      undefined,
      1110,
      1204,
      1204,
    ]);
  });

  it('are counted in characters, as the schema counts them', () => {
    const smiles = (count: number) => '\u{1F642}'.repeat(count);
    expect([codeOf(smiles(9)), codeOf(smiles(10)), codeOf(smiles(20)), codeOf(smiles(21))]).toEqual([
      1110,
      undefined,
      undefined,
      1204,
    ]);
  });
});

describe('a body’s shape', () => {
  const shape = createBodyShape(Body);

  function seenBy(body: unknown, more: readonly RefusalDetail[] = []) {
    let seen: unknown;
    try {
      shape.require(body, (readable) => {
        seen = readable;
        return more;
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const details = error.more.details?.map(({ field, code }) => `${field} ${code}`).join(', ');
      return { seen, refused: `${error.code}: ${details}` };
    }
    return { seen, refused: undefined };
  }

  it('passes to its route what can be read, and no more', () => {
    const body = {
      ...GOOD,
      count: 'x',
      beneficiaries: [{ amount: 5, phone_number: '+243' }, 7],
    };
    const { seen } = seenBy(body);
    expect(seen).toEqual({ ...GOOD, beneficiaries: [{ phone_number: '+243' }, undefined] });
    expect(seenBy({ ...GOOD, beneficiaries: [{}, {}, {}] }).seen).toEqual(GOOD);
  });

  it('walks through nothing that it does not know, whatever its name begins like', () => {
    const unknown = [{}, { amount: 5 }];
    const { seen } = seenBy({ ...GOOD, b: unknown, beneficiaries: [{ amount: 5 }] });
    expect(seen).toEqual({ ...GOOD, b: unknown, beneficiaries: [{}] });
    expect((seen as { b: unknown }).b).toBe(unknown);
  });

  it('adds the faults that the route finds, in field order, and does not ask for what could not be read', () => {
    const more: RefusalDetail[] = [
      { field: 'beneficiaries[0].phone_number', code: 'INVALID_PHONE_NUMBER' },
      { field: 'beneficiaries[1].amount', code: 'REQUIRED' },
      { field: 'beneficiaries', code: 'PAYOUT_TOTAL' },
      { field: 'name', code: 'INVALID_TEXT' },
    ];
    const { refused } = seenBy({ ...GOOD, beneficiaries: [{ amount: '1' }, { amount: 5 }] }, more);
    expect(refused).toBe(
      '1110: name INVALID_TEXT, beneficiaries PAYOUT_TOTAL, beneficiaries[0].phone_number INVALID_PHONE_NUMBER, beneficiaries[1].amount INVALID_AMOUNT',
    );
  });

  it.each([
    ['PAYOUT_TOTAL', 1101],
    ['NO_CARRIER', 1103],
    ['CARRIER_CURRENCY', 1103],
    ['DUPLICATE_BENEFICIARY', 1110],
  ] as const)('refuses %s with %i, whatever its field', (code, refusal) => {
    expect(seenBy(GOOD, [{ field: 'beneficiaries[0].phone_number', code }]).refused).toContain(String(refusal));
  });
});
