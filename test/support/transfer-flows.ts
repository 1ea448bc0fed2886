/**
 * What the tests of bank transfers do again and again: an account, a promised transfer, and files that prove it.
 *
 * Invariant: every file made here is complete and valid; each test spoils it in one way.
 */

import { deflateSync } from 'node:zlib';
import type { Currency } from '../../src/domain/currency.ts';
import type { BankAccount } from '../../src/domain/transfer-records.ts';
import { addBankAccount, type BankAddCommand } from '../../src/usecases/bank-add.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { collect, type Fields, type Paying } from './flows.ts';
import type { Answer, World } from './world.ts';

let numbers = 421;

/** An account of that merchant, at an invented bank, with a number of its own; made a millisecond after the previous one. */
export async function addAccount(
  world: World,
  { merchant }: Pick<MerchantCreated, 'merchant'>,
  more: Partial<BankAddCommand> = {},
): Promise<BankAccount> {
  await world.clock.advance(1);
  numbers += 1;
  return addBankAccount(world.gateway.deps, {
    merchantId: merchant.id,
    bank: 'Banque Okapi',
    bankId: undefined,
    country: 'CD',
    accountName: 'Boutique Kivu',
    accountNumber: `00011-05101-2026000${numbers}-77`,
    iban: undefined,
    swift: undefined,
    currency: 'usd',
    branchCity: 'Goma',
    ...more,
  });
}

export function payByTransfer(
  world: World,
  paying: Pick<Paying, 'token' | 'payment_id'>,
  bank_account_id: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = { payment_id: paying.payment_id, payment_method_id: 'bank_transfer', bank_account_id };
  return world.call('POST', '/payments/submit', { bearer: paying.token, body, headers });
}

/** A payment that waits for its proof. */
export async function promise(
  world: World,
  merchant: MerchantCreated,
  options: { readonly body?: Fields; readonly minted?: Fields; readonly currency?: Currency } = {},
): Promise<Paying & { readonly account: BankAccount }> {
  const { currency = 'usd' } = options;
  const known = await world.gateway.deps.store.bankAccount.ofMerchant(merchant.merchant.shard, merchant.merchant.id);
  const account =
    known.find((one) => one.currency === currency && one.status === 'ACTIVE') ??
    (await addAccount(world, merchant, { currency }));
  const minted = { ttl_seconds: 86_400, currency, ...options.minted };
  const paying = await collect(world, merchant, {
    method: 'bank_transfer',
    minted,
    ...(options.body === undefined ? {} : { body: options.body }),
  });
  const promised = await payByTransfer(world, paying, account.id);
  if (promised.json.status !== 'pendingBankProofUpload') throw new Error(promised.text);
  return { ...paying, account };
}

/** One part of a form; a text is a field. */
export interface Part {
  readonly name: string;
  readonly value: string | Uint8Array;
  readonly fileName?: string;
  readonly type?: string;
}

const BOUNDARY = 'x-boundary-of-this-form';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export function formOf(parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const chunks = parts.flatMap(({ name, value, fileName, type }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`;
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n`;
    const mime = type === undefined ? '' : `Content-Type: ${type}\r\n`;
    return [Buffer.from(`${head}${mime}\r\n`), Buffer.from(value), Buffer.from('\r\n')];
  });
  return Buffer.concat([...chunks, Buffer.from(end)]);
}

/** Posts bytes as a form to the proof's route. */
export async function postForm(
  world: World,
  bearer: string | undefined,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${world.url}/api/v1/payments/bank-transfer/proof`, {
    method: 'POST',
    headers: {
      'content-type': FORM_TYPE,
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      'accept-language': 'en',
      ...headers,
    },
    body: new Uint8Array(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

/** Uploads a file for a payment, as an app does; a millisecond after the previous one. */
export async function upload(
  world: World,
  paying: Pick<Paying, 'token' | 'payment_id'>,
  file: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const parts = [
    { name: 'payment_id', value: paying.payment_id },
    { name: 'file', value: file, fileName: 'proof.bin', type: 'application/octet-stream' },
  ];
  await world.clock.advance(1);
  return postForm(world, paying.token, formOf(parts), headers);
}

let files = 0;

/** A picture that differs from every other call's. */
export function pngFile(size = 0): Buffer {
  files += 1;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(1, 0);
  head.writeUInt32BE(1, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const whole = (padding: number) =>
    Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      chunkOf('IHDR', head),
      chunkOf('tEXt', Buffer.from(`Comment\0${files}${' '.repeat(padding)}`)),
      chunkOf('IDAT', deflateSync(Buffer.from([0, 1, 2, 3]))),
      chunkOf('IEND', Buffer.alloc(0)),
    ]);
  return whole(Math.max(0, size - whole(0).length));
}

function chunkOf(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, data, Buffer.alloc(4)]);
}

/** A JPEG: start, application data, frame, scan, end. */
export function jpegFile(): Buffer {
  files += 1;
  const segment = (marker: number, data: Buffer) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(data.length + 2, 2);
    return Buffer.concat([head, data]);
  };
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from(`JFIF\0${files}`)),
    segment(0xc0, Buffer.from([8, 0, 1, 0, 1, 1, 1, 0x11, 0])),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56, 0xff, 0xd9]),
  ]);
}

export function pdfFile(body = ''): Buffer {
  files += 1;
  return Buffer.from(
    `%PDF-1.4\n% ${files}\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n${body}\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n`,
  );
}

/** A payment whose proof waits for an operator. */
export async function proofOf(world: World, merchant: MerchantCreated, file = pngFile(), body: Fields = {}) {
  const paying = await promise(world, merchant, { body });
  const uploaded = await upload(world, paying, file);
  if (uploaded.status !== 200) throw new Error(`the proof was refused: ${uploaded.text}`);
  return { ...paying, proofId: String(uploaded.json.proof.id), uploaded };
}
