/**
 * Proofs of bank transfers: uploaded, refused, sealed, decided once.
 */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_PROOF_BYTES } from '../../src/domain/file-type.ts';
import { merchantAccount } from '../../src/domain/ledger.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { approveProof, declineProof } from '../../src/usecases/proof-decide.ts';
import { listProofs, openProofFile, readProof } from '../../src/usecases/proof-read.ts';
import { uploadProof } from '../../src/usecases/proof-upload.ts';
import { callerOf, plainly } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, detailOf, neighbourOf, payFromWallet, statusOf } from '../support/flows.ts';
import { expectNothingWritten, rowsOf } from '../support/rows.ts';
import {
  FORM_TYPE,
  formOf,
  jpegFile,
  type Part,
  pdfFile,
  pngFile,
  postForm,
  promise,
  proofOf,
  upload,
} from '../support/transfer-flows.ts';
import { mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(() => world.close());

const operator = () => world.gateway.deps;

const proven = (own = merchant, file = pngFile()) => proofOf(world, own, file);

describe('an upload', () => {
  test.each([
    ['image/png', pngFile()],
    ['image/jpeg', jpegFile()],
    ['application/pdf', pdfFile()],
  ])('accepts %s by its content, and the payment is processing', async (type, file) => {
    const paying = await promise(world, merchant);
    const uploaded = await upload(world, paying, file);
    expect(uploaded.status, uploaded.text).toBe(200);
    expect(uploaded.json).toMatchObject({
      success: true,
      status: 'processing',
      transaction_id: paying.transaction_id,
      proof: { status: 'waiting', content_type: type, size: file.length },
    });
    const { status, timeline } = await detailOf(world, paying);
    expect([status, timeline.at(-1)?.status]).toEqual(['processing', 'processing']);
    const { proof } = await readProof(operator(), uploaded.json.proof.id);
    expect(Buffer.from(await openProofFile(operator(), proof)).equals(file)).toBe(true);
  });

  test('may come in chunks, without a length, as programs send a stream', async () => {
    const paying = await promise(world, merchant);
    const file = pngFile(300_000);
    const form = formOf([
      { name: 'payment_id', value: paying.payment_id },
      { name: 'file', value: file, fileName: 'proof.png' },
    ]);
    const uploaded = await fetch(`${world.url}/api/v1/payments/bank-transfer/proof`, {
      method: 'POST',
      headers: { 'content-type': FORM_TYPE, authorization: `Bearer ${paying.token}` },
      body: ReadableStream.from([form.subarray(0, 100_000), form.subarray(100_000)]),
      duplex: 'half',
    });
    expect(await uploaded.json()).toMatchObject({ status: 'processing', proof: { size: file.length } });
  });

  test('may come from any live session of the merchant; another merchant’s is 1204', async () => {
    const paying = await promise(world, merchant);
    const stranger = await neighbourOf(world, merchant);
    const theirs = await mint(world, stranger);
    await expectNothingWritten(world, async () => {
      expectRefusal(await upload(world, { ...paying, token: theirs.token }, pngFile()), 404, '1204');
    });
    const later = await mint(world, merchant);
    expect((await upload(world, { ...paying, token: later.token }, pngFile())).json.status).toBe('processing');
  });

  test('accepts exactly 5 MiB, and not a byte more', async () => {
    const paying = await promise(world, merchant);
    await expectNothingWritten(world, async () => {
      const refused = await upload(world, paying, pngFile(MAX_PROOF_BYTES + 1));
      expectRefusal(refused, 413, '1403', 'FILE_TOO_LARGE');
      expect(refused.json.details[0]).toMatchObject({ field: 'file' });
      expect(refused.json.message).toContain('5 MiB');
      for (const times of [2, 4]) {
        const larger = await upload(world, paying, Buffer.alloc(MAX_PROOF_BYTES * times));
        expectRefusal(larger, 413, '1403', 'FILE_TOO_LARGE');
      }
    });
    const file = pngFile(MAX_PROOF_BYTES);
    expect(file.length).toBe(MAX_PROOF_BYTES);
    expect((await upload(world, paying, file)).json.proof.size).toBe(MAX_PROOF_BYTES);
  });

  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const zip = Buffer.concat([
    Buffer.from('PK\u0001\u0002'),
    Buffer.alloc(42),
    Buffer.from('PK\u0005\u0006'),
    Buffer.alloc(18),
  ]);
  const gzip = Buffer.from('1f8b08000000000000ff', 'hex');

  test.each<[string, string, Buffer]>([
    ['nothing', 'FILE_EMPTY', Buffer.alloc(0)],
    ['an SVG', 'FILE_TYPE', svg],
    ['a page', 'FILE_TYPE', Buffer.from('<!doctype html><script>1</script>')],
    ['a ZIP, bomb or not', 'FILE_TYPE', zip],
    ['gzip', 'FILE_TYPE', gzip],
    ['text that is called a picture', 'FILE_TYPE', Buffer.from('image/png')],
    ['a PNG that is cut off', 'FILE_UNSAFE', pngFile().subarray(0, -4)],
    ['a PDF with a script', 'FILE_UNSAFE', pdfFile('<< /S /JavaScript /JS (app.alert(1)) >>')],
    ['a PDF that hides it', 'FILE_UNSAFE', pdfFile('<< /S /J#61vaScript >>')],
    ['a PDF that starts a program', 'FILE_UNSAFE', pdfFile('<< /S /Launch >>')],
    ['a PDF with a file in it', 'FILE_UNSAFE', pdfFile('<< /Type /EmbeddedFile >>')],
    ['a PDF with a ZIP behind it', 'FILE_UNSAFE', Buffer.concat([pdfFile(), zip])],
  ])('refuses %s (%s)', async (_name, code, file) => {
    const paying = await promise(world, merchant);
    await expectNothingWritten(world, async () => {
      const refused = await upload(world, paying, file);
      expectRefusal(refused, 400, '1110', code);
      expect(refused.json.details[0].field).toBe('file');
    });
    expect(await statusOf(world, paying)).toBe('pendingBankProofUpload');
  });

  test.each([
    ['a ZIP behind a PNG', pngFile(), zip],
    ['a page behind a JPEG', jpegFile(), svg],
  ])('does not keep %s', async (_name, picture, behind) => {
    const paying = await proven(merchant, Buffer.concat([picture, behind]));
    expect(paying.uploaded.json.proof.size).toBe(picture.length);
    const { proof } = await readProof(operator(), paying.proofId);
    expect(Buffer.from(await openProofFile(operator(), proof)).equals(picture)).toBe(true);
    const again = await proven(merchant, picture);
    expect((await readProof(operator(), again.proofId)).duplicateOf).toEqual([paying.transaction_id]);
  });

  test('reports every missing field at once', async () => {
    const { token } = await mint(world, merchant);
    const refused = await postForm(world, token, formOf([]));
    expectRefusal(refused, 400, '1109');
    expect(refused.json.details.map(({ field }: { field: string }) => field)).toEqual(['payment_id', 'file']);
    const misnamed = await postForm(world, token, formOf([{ name: 'proof', value: pngFile(), fileName: 'x.png' }]));
    expectRefusal(misnamed, 400, '1109', 'REQUIRED');
    expect(misnamed.json.details[0].field).toBe('file');
    const both = await postForm(world, token, formOf([{ name: 'file', value: 'x', fileName: 'x' }]));
    expect(both.json.details.map(({ field, code }: { field: string; code: string }) => [field, code])).toEqual([
      ['payment_id', 'REQUIRED'],
      ['file', 'FILE_TYPE'],
    ]);
  });

  test('refuses what is not a form', async () => {
    const paying = await promise(world, merchant);
    const file: Part = { name: 'file', value: pngFile(), fileName: 'a.png' };
    const id: Part = { name: 'payment_id', value: paying.payment_id };
    const many = Array.from({ length: 9 }, (_, i): Part => ({ name: `f${i}`, value: 'x' }));
    const bad: [string, Buffer, string, Record<string, string>?][] = [
      ['INVALID_FORM', formOf([id, file], ''), '1110'],
      ['INVALID_FORM', Buffer.from('nothing of the sort'), '1110'],
      ['INVALID_FORM', formOf([...many, id, file]), '1110'],
      ['INVALID_FORM', formOf([id, file]), '1110', { 'content-type': 'multipart/form-data' }],
      ['DUPLICATE_KEY', formOf([id, id, file]), '1110'],
      ['DUPLICATE_KEY', formOf([id, file, file]), '1110'],
      ['TOO_LONG', formOf([{ ...id, value: 'x'.repeat(5_000) }, file]), '1110'],
      ['CARD_DATA', formOf([id, { name: 'note', value: '4111 1111 1111 1111' }, file]), '1110'],
      ['INVALID_TEXT', formOf([id, { name: 'note', value: 'a\0b' }, file]), '1110'],
    ];
    await expectNothingWritten(world, async () => {
      for (const [detail, body, code, headers] of bad) {
        expectRefusal(await postForm(world, paying.token, body, headers), 400, code, detail);
      }
      const json = await world.call('POST', '/payments/bank-transfer/proof', { bearer: paying.token, body: {} });
      expectRefusal(json, 415, '1403', 'NOT_FORM');
      const packed = await postForm(world, paying.token, formOf([id, file]), { 'content-encoding': 'gzip' });
      expectRefusal(packed, 415, '1403', 'BODY_ENCODED');
    });
    expect((await postForm(world, paying.token, formOf([id, file]))).status).toBe(200);
  });

  test('without a valid credential is answered before its body has come', async () => {
    const { hostname, port } = new URL(world.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          'POST /api/v1/payments/bank-transfer/proof HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sess_nobody\r\n' +
            'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000000\r\n\r\n--b\r\n',
        );
      });
      socket.once('data', (data) => {
        resolve(data.toString());
        socket.destroy();
      });
      socket.once('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('is accepted once: a second one, a wrong state and an overdue payment are 1205', async () => {
    const paying = await proven();
    await expectNothingWritten(world, async () => {
      const second = await upload(world, paying, pngFile());
      expectRefusal(second, 409, '1205', 'STATE');
      expect(second.json.message).toContain('processing');
    });
    const wallet = await world.wallet();
    const paid = await collect(world, merchant);
    await payFromWallet(world, paid, wallet);
    expectRefusal(await upload(world, paid, pngFile()), 409, '1205', 'STATE');
    const raced = await promise(world, merchant);
    // Two at once from each of three sessions: a session has no more places.
    const tokens = [raced.token, (await mint(world, merchant)).token, (await mint(world, merchant)).token];
    const racing = [...tokens, ...tokens].map((token) => upload(world, { ...raced, token }, pngFile()));
    const answers = await Promise.all(racing);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  test('is refused from the very end of the seven days on, even if no round has expired the payment yet', async () => {
    const { deps } = world.gateway;
    const paying = await promise(world, merchant);
    const caller = await callerOf(world, merchant, paying);
    const payment = await deps.store.payment.get(merchant.merchant.shard, paying.transaction_id);
    const end = payment?.expires_at ?? 0;
    const uploadAt = (now: number) => {
      const command = { payment_id: paying.payment_id, bytes: pngFile(), type: 'image/png' } as const;
      return uploadProof({ ...deps, clock: { ...deps.clock, now: () => now } }, caller, command, plainly);
    };
    await expectNothingWritten(world, () => expect(uploadAt(end)).rejects.toMatchObject({ code: 1205 }));
    expect(await uploadAt(end - 1)).toMatchObject({ status: 200 });
  });

  test('repeats its answer under an Idempotency-Key; another file, and the same of another payment, are 1203', async () => {
    const [paying, other] = [await promise(world, merchant), await promise(world, merchant)];
    const file = pngFile();
    const key = { 'idempotency-key': 'proof-1' };
    const [first, again] = [await upload(world, paying, file, key), await upload(world, paying, file, key)];
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expectRefusal(await upload(world, paying, pngFile(), key), 409, '1203', 'IDEMPOTENCY_BODY');
    const { payment_id } = other;
    expectRefusal(await upload(world, { ...paying, payment_id }, file, key), 409, '1203', 'IDEMPOTENCY_BODY');
  });

  test('no part of the file is in plain text, neither stored nor logged', async () => {
    const mark = `mark-${randomBytes(12).toString('hex')}`;
    await proven(merchant, pdfFile(`% ${mark}`));
    const rows = await rowsOf<{ text: string }>(world, 'select f::text as text from proof_file f');
    const stored = rows.map(({ text }) => text).join('\n');
    for (const form of [mark, Buffer.from(mark).toString('base64'), Buffer.from(mark).toString('hex')]) {
      expect(stored).not.toContain(form);
    }
    expect(JSON.stringify(world.log.lines)).not.toContain(mark);
  });
});

test('a file that was put in another proof’s place is not shown as that proof’s', async () => {
  const [one, other] = [await proven(), await proven()];
  await rowsOf(world, 'update proof_file set sealed = (select sealed from proof_file where id = $2) where id = $1', [
    one.proofId,
    other.proofId,
  ]);
  const { proof } = await readProof(operator(), one.proofId);
  await expect(openProofFile(operator(), proof)).rejects.toThrow('cannot be opened');
});

describe('a file that is used twice', () => {
  test('is accepted, and flagged with the other payments, including other merchants’', async () => {
    const other = await world.merchant('Librairie Goma');
    const file = jpegFile();
    const first = await proven(merchant, file);
    const second = await proven(other, file);
    const alone = await proven();
    expect((await readProof(operator(), first.proofId)).duplicateOf).toEqual([second.transaction_id]);
    expect((await readProof(operator(), second.proofId)).duplicateOf).toEqual([first.transaction_id]);
    expect((await readProof(operator(), alone.proofId)).duplicateOf).toEqual([]);
    const listed = await listProofs(operator(), { merchantId: other.merchant.id, status: 'waiting', limit: 10 });
    expect(listed.map(({ proof, duplicateOf }) => [proof.id, duplicateOf])).toEqual([
      [second.proofId, [first.transaction_id]],
    ]);
  });
});

describe('a decision', () => {
  const available = async (own: MerchantCreated) => {
    const { shard, id } = merchantAccount(own.merchant.id, 'available', 'usd');
    return (await world.gateway.store.account.get(shard, id))?.balance ?? 0n;
  };

  test('approves: the money, the event and the status, in one change', async () => {
    const own = await world.merchant();
    const paying = await proven(own);
    const { proof, payment } = await approveProof(operator(), paying.proofId, 'seen on the statement');
    expect([proof.status, proof.note, payment.status]).toEqual(['approved', 'seen on the statement', 'approved']);
    expect(await statusOf(world, paying)).toBe('approved');
    expect(await available(own)).toBe(1250n);
    await world.pass(0);
    expect((await world.receiver.about(paying.transaction_id)).body).toMatchObject({
      status: 'approved',
      amount: '12.50',
    });
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test('declines: no money, and the customer reads why', async () => {
    const own = await world.merchant();
    const paying = await proven(own);
    const { payment } = await declineProof(operator(), paying.proofId, 'no such transfer');
    expect([payment.status, payment.reason]).toEqual(['declined', 'proof_declined']);
    expect(await available(own)).toBe(0n);
    const detail = await detailOf(world, paying);
    expect(detail.message).toBe('The proof of the bank transfer was not accepted.');
    expect(JSON.stringify(detail)).not.toContain('no such transfer');
    await world.pass(0);
    expect((await world.receiver.about(paying.transaction_id)).body.status).toBe('declined');
  });

  test('is made once, however many are made at the same time', async () => {
    const own = await world.merchant();
    const { proofId, transaction_id, token } = await proven(own);
    const made = await Promise.allSettled([
      approveProof(operator(), proofId, null),
      declineProof(operator(), proofId, 'none'),
      approveProof(operator(), proofId, null),
      declineProof(operator(), proofId, 'none'),
    ]);
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const status = await statusOf(world, { transaction_id, token });
    for (const one of made) {
      if (one.status === 'rejected') expect(String(one.reason)).toContain(`has already been ${status}`);
    }
    expect(await available(own)).toBe(status === 'approved' ? 1250n : 0n);
    await expect(approveProof(operator(), proofId, null)).rejects.toThrow('a proof is decided once');
  });

  test('that another decision overtakes while it reads is told what was decided', async () => {
    const { proofId } = await proven();
    const { store } = operator();
    let other: Promise<unknown> | undefined;
    const get: typeof store.payment.get = async (...key) => {
      // The proof has been read; the other operator decides before the payment is.
      other ??= approveProof(operator(), proofId, null);
      await other;
      return store.payment.get(...key);
    };
    const overtaken = { ...operator(), store: { ...store, payment: { ...store.payment, get } } };
    await expect(declineProof(overtaken, proofId, 'none')).rejects.toThrow('has already been approved');
  });

  test('is refused for an unknown proof and an unusable note', async () => {
    const { proofId } = await proven();
    await expect(approveProof(operator(), 'prf_nothing', null)).rejects.toThrow('the proof id is not valid');
    await expect(approveProof(operator(), proofId.replace(/.{6}$/, '000000'), null)).rejects.toThrow('there is no');
    await expect(declineProof(operator(), proofId, ' ')).rejects.toThrow('one line');
    await expect(declineProof(operator(), proofId, 'a\nb')).rejects.toThrow('one line');
    await expect(declineProof(operator(), proofId, 'x'.repeat(501))).rejects.toThrow('1 to 500 characters');
    await expect(declineProof(operator(), proofId, 'a\u202eb')).rejects.toThrow('one line');
  });
});

test('the books balance after all of this', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
