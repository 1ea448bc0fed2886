/**
 * Forms as they really arrive: whole, in pieces, broken, too large, hostile, or not at all.
 */
import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../domain/refusal.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { type Form, isForm, readMultipart } from './multipart.ts';

const RULE = { field: 'file', most: 1_000 };
const TYPE = 'multipart/form-data; boundary=b';
/** Its time stands still, unless a test moves it. */
const clock = manualClock(0);
const read = (source: Parameters<typeof readMultipart>[0]): Promise<Form> => readMultipart(source, RULE, clock);

function sent(body: Buffer, pieces = 7, headers: { readonly [name: string]: string } = { 'content-type': TYPE }) {
  const chunks = Array.from({ length: Math.ceil(body.length / pieces) }, (_, i) =>
    body.subarray(i * pieces, (i + 1) * pieces),
  );
  return Object.assign(Readable.from(chunks, { objectMode: false }), { headers });
}

const part = (head: string, value: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ]);
const END = Buffer.from('--b--\r\n');
const field = (name: string, value: string) => part(`name="${name}"`, value);
const file = (value: string | Buffer, name = 'file') => part(`name="${name}"; filename="../../etc/passwd"`, value);

/** The refusal's status, code and details; or the form. */
async function outcome(source: Parameters<typeof readMultipart>[0]): Promise<string | Form> {
  try {
    return await read(source);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const details = error.more.details ?? [];
    return [error.http, error.code, ...details.map(({ field: of, code }) => `${of} ${code}`)].join(' ');
  }
}

describe('a form', () => {
  it.each([1, 2, 7, 64, 5_000])('is read whole, however it is cut (%i bytes at a time)', async (pieces) => {
    const content = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256));
    const body = Buffer.concat([field('payment_id', 'pay_é'), file(content), field('note', ''), END]);
    const form = await read(sent(body, pieces));
    expect(form.fields).toEqual({ payment_id: 'pay_é', note: '' });
    expect(Buffer.from(form.file ?? []).equals(content)).toBe(true);
  });

  it('may lack its file', async () => {
    expect(await outcome(sent(Buffer.concat([field('a', '1'), END])))).toEqual({ fields: { a: '1' }, file: undefined });
  });

  it('has a file even if it was given no name', async () => {
    const form = await read(sent(Buffer.concat([field('file', 'abc'), END])));
    expect([form.fields, Buffer.from(form.file ?? []).toString()]).toEqual([{}, 'abc']);
  });

  it('keeps names such as __proto__ as plain names', async () => {
    const form = await read(sent(Buffer.concat([field('__proto__', 'x'), field('constructor', 'y'), END])));
    expect(Object.keys(form.fields)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(form.fields)).toBe(Object.prototype);
  });
});

describe('a form is refused', () => {
  it('that comes byte by byte', async () => {
    const body = Buffer.concat([
      file('x'.repeat(900)),
      ...Array.from({ length: 4 }, (_, i) => field(`f${i}`, 'x'.repeat(1_000))),
      END,
    ]);
    expect(await outcome(sent(body, 1))).toBe('400 1403 body TOO_MANY_CHUNKS');
    expect(await outcome(sent(body, 16))).toHaveProperty('file');
  });

  const many = Array.from({ length: 9 }, (_, i) => field(`f${i}`, 'x'));
  const [long, shown] = ['n'.repeat(100), 'n'.repeat(64)];
  const CARD = '4111111111111111';

  it.each<[string, string, Buffer]>([
    ['413 1403 file FILE_TOO_LARGE', 'a byte above the limit', Buffer.concat([file('x'.repeat(1_001)), END])],
    ['413 1403 file FILE_TOO_LARGE', 'far above the limit', Buffer.concat([file('x'.repeat(60_000)), END])],
    ['400 1109 file REQUIRED', 'a file of another name', Buffer.concat([file('x', 'other'), field('a', '1'), END])],
    ['400 1110 file DUPLICATE_KEY', 'two files', Buffer.concat([file('x'), file('y'), END])],
    ['400 1110 a DUPLICATE_KEY', 'a field twice', Buffer.concat([field('a', '1'), field('a', '2'), END])],
    ['400 1110 a TOO_LONG', 'a long field', Buffer.concat([field('a', 'x'.repeat(4_097)), END])],
    [`400 1110 ${shown} TOO_LONG`, 'a long name', Buffer.concat([field(long, 'x'.repeat(4_097)), END])],
    [`400 1110 ${shown} DUPLICATE_KEY`, 'a long name twice', Buffer.concat([field(long, ''), field(long, ''), END])],
    [
      '400 1110 body DUPLICATE_KEY',
      'a card number as a name twice',
      Buffer.concat([field(CARD, ''), field(CARD, ''), END]),
    ],
    ['400 1110 body INVALID_FORM', 'many fields', Buffer.concat([...many, END])],
    ['400 1110 body INVALID_FORM', 'no end', file('x')],
    ['400 1110 body INVALID_FORM', 'an end in the middle of a head', Buffer.from('--b\r\nContent-Disp')],
    ['400 1110 body INVALID_FORM', 'no boundary at all', Buffer.from('nothing')],
    ['400 1110 body INVALID_FORM', 'a field without a name', Buffer.concat([part('x="y"', 'z'), END])],
    ['400 1110 a CARD_DATA', 'a card number', Buffer.concat([field('a', CARD), END])],
    ['400 1110 security_code CARD_DATA', 'a security code', Buffer.concat([field('security_code', '123'), END])],
    ['400 1110 a INVALID_TEXT', 'what is no text', Buffer.concat([field('a', '\0'), END])],
  ])('with %s for %s', async (expected, _why, body) => {
    expect(await outcome(sent(body, 100))).toBe(expected);
  });

  it('by what it announces, before a byte is read', async () => {
    const source = Object.assign(new PassThrough(), {
      headers: { 'content-type': TYPE, 'content-length': '999999999' },
    });
    expect(await outcome(source)).toBe('413 1403 file FILE_TOO_LARGE');
    expect(source.readableFlowing).toBeNull();
  });

  it('at the byte that exceeds the limit, if no length was announced', async () => {
    const source = Object.assign(new PassThrough(), { headers: { 'content-type': TYPE } });
    const refused = outcome(source);
    source.write(Buffer.concat([Buffer.from('--b\r\n\r\n'), Buffer.alloc(70_000)]));
    expect(await refused).toBe('413 1403 file FILE_TOO_LARGE');
    expect(source.isPaused()).toBe(true);
  });

  it('at once for another file, whatever follows it', async () => {
    const source = Object.assign(new PassThrough(), { headers: { 'content-type': TYPE } });
    const refused = outcome(source);
    source.write(file('x', 'junk'));
    expect(await refused).toBe('400 1109 file REQUIRED');
    expect(source.isPaused()).toBe(true);
  });

  it.each([2_000, 300_000])('after its end, if a browser has announced up to three times too much', async (size) => {
    const rule = { ...RULE, most: Math.max(RULE.most, size / 3) };
    const body = Buffer.concat([file('x'.repeat(size)), END]);
    const source = sent(body, 10_000, { 'content-type': TYPE, 'content-length': String(body.length) });
    await expect(readMultipart(source, rule, clock)).rejects.toMatchObject({ http: 413, code: 1403 });
    expect(source.readableEnded).toBe(true);
  });

  it.each([
    ['at all', ['']],
    ['any more', ['--b\r\n', 'Content-Disposition: form-data; name="file"\r\n\r\n', 'x']],
  ])('if nothing comes %s for thirty seconds', async (_when, pieces) => {
    const source = Object.assign(new PassThrough(), { headers: { 'content-type': TYPE } });
    let refused: string | Form | undefined;
    const reading = outcome(source).then((found) => {
      refused = found;
    });
    for (const piece of pieces) {
      source.write(piece);
      await clock.advance(29_999);
    }
    expect(refused).toBeUndefined();
    await clock.advance(1);
    await reading;
    expect(refused).toBe('408 1403 file UPLOAD_STALLED');
    expect(clock.pending()).toBe(0);
  });

  it('without a boundary in its type', async () => {
    expect(await outcome(sent(END, 7, { 'content-type': 'multipart/form-data' }))).toBe('400 1110 body INVALID_FORM');
  });

  it('if its sender has disconnected before', async () => {
    const source = Object.assign(new PassThrough(), { headers: { 'content-type': TYPE } });
    source.destroy();
    await new Promise((closed) => source.once('close', closed));
    expect(await outcome(source)).toBe('400 1403 request NOT_HTTP');
  });

  it.each([undefined, new Error('aborted')])('if its sender disconnects in the middle (%s)', async (error) => {
    const source = Object.assign(new PassThrough(), { headers: { 'content-type': TYPE } });
    const left = outcome(source);
    source.write(file('x').subarray(0, -4));
    source.destroy(error);
    expect(await left).toBe('400 1403 request NOT_HTTP');
  });
});

it('whatever comes, it ends in a form or a refusal', async () => {
  const pieces = fc.constantFrom(
    '--b',
    '\r\n',
    '--',
    'Content-Disposition: form-data; name="a"',
    '; filename="x"',
    '\r\n\r\n',
    'x',
  );
  const body = fc.array(fc.oneof(pieces, fc.string({ maxLength: 5 })), { maxLength: 30, size: 'max' });
  await fc.assert(
    fc.asyncProperty(body, async (texts) => {
      const found = await outcome(sent(Buffer.from(texts.join('')), 5));
      expect(typeof found === 'string' ? found : Object.keys(found)).not.toHaveLength(0);
    }),
    { numRuns: 500 },
  );
});

it('leaves no timer behind', () => {
  expect(clock.pending()).toBe(0);
});

it('a form is recognised by its type, and must not be compressed', () => {
  const types = ['multipart/form-data; boundary=x', 'Multipart/Form-Data;boundary=x', 'multipart/form-data'];
  for (const type of types) expect(isForm({ 'content-type': type })).toBe(true);
  for (const type of ['multipart/mixed; boundary=x', 'multipart/form-datax', 'application/json', '']) {
    expect(isForm({ 'content-type': type })).toBe(false);
  }
  expect(isForm({ 'content-type': TYPE, 'content-encoding': 'gzip' })).toBe(false);
  for (const plain of ['identity', 'Identity']) {
    expect(isForm({ 'content-type': TYPE, 'content-encoding': plain })).toBe(true);
  }
});
