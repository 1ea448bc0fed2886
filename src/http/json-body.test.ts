import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonBody, readFormBody, readJsonBody } from './json-body.ts';

const read = (text: string | Buffer) => readJsonBody(Buffer.isBuffer(text) ? text : Buffer.from(text));

/** The code and field of the refusal; undefined when the body passes. */
const faultOf = (text: string | Buffer): string | undefined => faultIn(read(text));

function faultIn(body: JsonBody): string | undefined {
  if (body.kind === 'object') return undefined;
  const [detail] = body.refusal.more.details ?? [];
  return `${body.refusal.code} ${detail?.code} ${detail?.field}`;
}

describe('a body', () => {
  it.each([
    ['', 'INVALID_JSON body'],
    ['[]', 'INVALID_JSON body'],
    ['null', 'INVALID_JSON body'],
    ['"x"', 'INVALID_JSON body'],
    ['{"a":1} x', 'INVALID_JSON body'],
    ['\ufeff{}', 'INVALID_JSON body'],
    ['{"a":"\u0000"}', 'INVALID_JSON body'],
    ['{"a":"\\u0000"}', 'INVALID_TEXT a'],
    ['{"a":{"b":["x","\\ud800"]}}', 'INVALID_TEXT a.b[1]'],
    ['{"\\udc00":1}', 'INVALID_TEXT body'],
    ['{"a":1,"a":2}', 'DUPLICATE_KEY a'],
    ['{"a":1,"\\u0061":2}', 'DUPLICATE_KEY a'],
    ['{"a" : 1, "a" : 2}', 'DUPLICATE_KEY a'],
    ['{"x":[{"a":":"},{"b":{"c":1,"d":2,"c":3}}]}', 'DUPLICATE_KEY x[1].b.c'],
    ['{"__proto__":1,"__proto__":2}', 'DUPLICATE_KEY __proto__'],
    ['{"a":{"note":"4111 1111 1111 1111"}}', 'CARD_DATA a.note'],
    ['{"n":4111111111111111}', 'CARD_DATA n'],
    ['{"n":6763123456789}', 'CARD_DATA n'],
    ['{"n":-4508750015741019}', 'CARD_DATA n'],
    ['{"n":4111111111111111e999}', 'CARD_DATA body'],
    ['{"n":4000000000000000006}', 'CARD_DATA body'],
    ['{"n":4000000000000000006,"next":1000000000000}', 'CARD_DATA body'],
    ['{"s":"\\"","n":[1,6799990100000000019]}', 'CARD_DATA body'],
    ['{"4111111111111111":1}', 'CARD_DATA body'],
    ['{"beneficiaries":[{"cvv":"123"}]}', 'CARD_DATA beneficiaries[0].cvv'],
  ])('%j is refused: %s', (text, fault) => {
    expect(faultOf(text)).toBe(`1110 ${fault}`);
  });

  it('may hold text that is not valid in a field that the call does not read', () => {
    const reads = (text: string) => faultIn(readJsonBody(Buffer.from(text), { amount: {}, beneficiaries: {} }));
    expect(reads('{"merchant":{"name":"a\\ud83d","\\ude00":["\\u0000"]},"\\ud800":1,"amount":"1"}')).toBeUndefined();
    expect(reads('{"x":"\\ud83d","amount":"1\\u0000"}')).toBe('1110 INVALID_TEXT amount');
    expect(reads('{"x":"\\ud83d","beneficiaries":[{"x":"\\ud83d"}]}')).toBe('1110 INVALID_TEXT beneficiaries[0].x');
    expect(reads('{"x":["\\ud83d","4111111111111111"]}')).toBe('1110 CARD_DATA x[1]');
    expect(reads('{"x":"\\ud83d","x":1}')).toBe('1110 DUPLICATE_KEY x');
  });

  it('of bytes that are not UTF-8 is refused, and one with the replacement character is not', () => {
    expect(faultOf(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBe('1110 INVALID_TEXT body');
    expect(faultOf('{"a":"\ufffd"}')).toBeUndefined();
  });

  it('may be sixteen levels deep, and no more', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect(faultOf(nested(16))).toBeUndefined();
    expect(faultOf(nested(17))).toBe(`1110 TOO_DEEP ${'a.'.repeat(15)}a`);
    expect(faultOf('['.repeat(100_000))).toBe('1110 INVALID_JSON body');
    expect(faultOf(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).toMatch(/^1110 TOO_DEEP a\[0\]/);
  });

  it('with the names of prototypes stays data', () => {
    const body = read('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}');
    expect(body.kind).toBe('object');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('may hold a long number that is not a card’s, and one inside a string', () => {
    expect(faultOf('{"rate":0.4111111111111111}')).toBeUndefined();
    expect(faultOf('{"n":9007199254740993,"s":"\\"","phone_number":"+62812345678901"}')).toBeUndefined();
  });

  it('may hold a number that no double reaches, where it counts as the largest one', () => {
    expect(read('{"a":1e999,"b":[{"c":-1e400}],"s":"1e999"}')).toMatchObject({
      value: { a: Number.MAX_VALUE, b: [{ c: -Number.MAX_VALUE }], s: '1e999' },
    });
    expect(faultOf('{"a":1e999,"a":1e999}')).toBe('1110 DUPLICATE_KEY a');
    expect(faultOf('{"a":1e999,"n":4000000000000000006}')).toBe('1110 CARD_DATA body');
  });

  it('is refused with no more of its names than sixty-four characters each', () => {
    const [long, cut] = ['n'.repeat(100), 'n'.repeat(64)];
    expect(faultOf(`{"${long}":"\\u0000"}`)).toBe(`1110 INVALID_TEXT ${cut}`);
    expect(faultOf(`{"${long}":{"${long}":1,"${long}":2}}`)).toBe(`1110 DUPLICATE_KEY ${cut}.${cut}`);
    expect(faultIn(readFormBody(`${long}=1&${long}=2`))).toBe(`1110 DUPLICATE_KEY ${cut}`);
  });

  it('must not contain a card number', () => {
    expect(JSON.stringify(read('{"4111111111111111":{"a":"5123450000000008"}}'))).not.toMatch(/4111|5123/);
  });

  it('is refused by no name that must not be sent back: one with a card number, or of text that is not valid', () => {
    // What the last of two keys replaces is not looked at otherwise.
    expect(faultOf('{"a":{"4111111111111111":1,"4111111111111111":2},"a":3}')).toBe('1110 DUPLICATE_KEY a');
    expect(faultOf('{"4111.1111.1111.1111":[{"b":1,"b":2}],"4111.1111.1111.1111":3}')).toMatch(/CARD_DATA body$/);
    expect(faultOf('{"a":{"4111.1111.1111.1111":[{"b":1,"b":2}]},"a":3}')).toBe('1110 DUPLICATE_KEY a');
    const cutShort = `${'n'.repeat(50)} 4111111111111111`;
    expect(faultIn(readFormBody(`${cutShort}=1&${cutShort}=2`))).toBe('1110 DUPLICATE_KEY body');
    expect(faultIn(readFormBody('%00=1&%00=2'))).toBe('1110 DUPLICATE_KEY body');
    const unread = (text: string) => faultIn(readJsonBody(Buffer.from(text), {}));
    expect(unread('{"a":[{"\\ud800":{"cvv":"123"}}]}')).toBe('1110 CARD_DATA a[0]');
    expect(unread('{"\\u0000":1,"\\u0000":2}')).toBe('1110 DUPLICATE_KEY body');
    const cutInTwo = `${'n'.repeat(63)}\u{1f600}`;
    expect(unread(`{"${cutInTwo}":{"cvv":"123"}}`)).toBe('1110 CARD_DATA body');
  });

  it('is refused by no path that is deeper than a body may be, however deep it is where the last of two keys replaces it', () => {
    const lost = `${'['.repeat(10_000)}{"c":1,"c":2}${']'.repeat(10_000)}`;
    expect(faultOf(`{"a":${lost},"a":3}`)).toBe(`1110 DUPLICATE_KEY a${'[0]'.repeat(15)}`);
  });

  it('of any JSON object passes or is refused, and passes unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? 2 : 0);
        const body = read(text);
        if (body.kind === 'object') expect(body.value).toEqual(JSON.parse(text));
        else expect(faultOf(text)).toMatch(/INVALID_TEXT|CARD_DATA/);
      }),
    );
  });

  it('with one key written twice anywhere is refused', () => {
    const tree = fc.dictionary(fc.stringMatching(/^[a-z"\\:{[]{1,5}$/), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 });
    fc.assert(
      fc.property(tree, fc.nat(5), (inner, wraps) => {
        // A random number that passes as a card's is refused for that.
        fc.pre(!faultOf(JSON.stringify(inner))?.includes('CARD_DATA'));
        const [name = ''] = Object.keys(inner);
        const twice = `${JSON.stringify(inner).slice(0, -1)},${JSON.stringify(name)}:0}`;
        const text = `${'{"w":[0,'.repeat(wraps)}${twice}${']}'.repeat(wraps)}`;
        expect(faultOf(text)).toMatch(/DUPLICATE_KEY/);
        expect(faultOf(text)?.endsWith(name)).toBe(true);
      }),
    );
  });

  it.each([
    ['{"card_holder":"A","expiry":"12/30"}', '1110 CARD_DATA expiry'],
    ['{"expiry":"12/30","voucher":{"card":{"exp_year":30}}}', '1110 CARD_DATA voucher.card.exp_year'],
    ['{"voucher":"A","expiry":"12/30"}', undefined],
    ['{"card_holder":"A","note":"for two"}', undefined],
    ['{"cardnet_payment_method":"SECURE","expiry_date":"2026-12-31"}', undefined],
    ['{"phone_number":"+62812345678901"}', undefined],
    ['{"phone_number":"+378282246310005"}', '1110 CARD_DATA phone_number'],
  ])('%s: an expiry counts as a card’s only beside or within one', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });
});

describe('a form in a browser’s own encoding', () => {
  it('is the object that JSON would have given', () => {
    expect(readFormBody('name=Am%C3%A9lie+K.&empty=&__proto__=x')).toEqual({
      kind: 'object',
      value: JSON.parse('{"name":"Amélie K.","empty":"","__proto__":"x"}'),
      nulls: false,
    });
  });

  it.each([
    ['a=1&b=2&%61=3', 'DUPLICATE_KEY a'],
    ['__proto__=1&__proto__=2', 'DUPLICATE_KEY __proto__'],
    ['a=x%00', 'INVALID_TEXT a'],
    ['%00=x', 'INVALID_TEXT body'],
    ['note=4111+1111+1111+1111', 'CARD_DATA note'],
    ['4111111111111111=x', 'CARD_DATA body'],
    ['card_holder=A&expiry=12%2F30', 'CARD_DATA expiry'],
  ])('%s is refused: %s', (text, fault) => {
    expect(faultIn(readFormBody(text))).toBe(`1110 ${fault}`);
  });
});
