/**
 * Files that do not come, do not end, or come too many at once: by the API and by the hosted page.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { SOCKET_LIMITS } from '../../src/http/socket-limits.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { host, stepOf, textOf, visitor } from '../support/checkout-flows.ts';
import { expectRefusal } from '../support/envelope.ts';
import { rowsOf } from '../support/rows.ts';
import { addAccount, pngFile, promise, upload } from '../support/transfer-flows.ts';
import { until } from '../support/waiting.ts';
import { mint, openWorld } from '../support/world.ts';

const world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => world.close());

const PROOF = '/api/v1/payments/bank-transfer/proof';

/** Opens a connection, and sends the head of a form and the first line of its body. */
function begin(path: string, lines: readonly string[], body = '--b\r\n'): Socket {
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  sockets.push(socket);
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: multipart/form-data; boundary=b', ...lines];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

const silentOf = (token: string): Socket =>
  begin(PROOF, [`Authorization: Bearer ${token}`, 'Content-Length: 3000000', 'Accept-Language: en']);

/** Waits until an upload by that session is answered with that status. */
function untilStatus(own: Awaited<ReturnType<typeof promise>>, status: number, token = own.token) {
  return until(async () => {
    const answer = await upload(world, { ...own, token }, Buffer.from('x'));
    return answer.status === status ? answer : undefined;
  });
}

async function answerOf(socket: Socket): Promise<string> {
  const [first] = (await once(socket, 'data')) as [Buffer];
  return first.toString();
}

/** A page on which a transfer is promised, ready for its proof; and what its browser would send with it. */
async function transferPage(merchant: MerchantCreated) {
  await addAccount(world, merchant);
  const { url, token } = await host(world, merchant);
  const me = visitor(world);
  const page = await me.open(url);
  const account = /name="account" value="(bka_[0-9a-z]+)"/.exec(page.html)?.[1] ?? '';
  const promised = await me.send(stepOf(page, 'pay'), { method: 'bank_transfer', account });
  const cookie = [...me.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const send = async (bytes: Uint8Array) => {
    const body = new FormData();
    body.set('file', new File([new Uint8Array(bytes)], 'receipt.png'));
    const headers = { cookie, 'accept-language': 'en' };
    const response = await fetch(new URL(path, world.url), { method: 'POST', body, headers, redirect: 'manual' });
    return { status: response.status, headers: response.headers, html: await response.text(), url };
  };
  const path = stepOf(promised, 'proof');
  return { token, cookie, path, send };
}

test('a customer has two places: others’ uploads continue', async () => {
  const [one, other] = [await world.merchant(), await world.merchant()];
  const [mine, neighbour, stranger] = [
    await promise(world, one),
    await promise(world, one),
    await promise(world, other),
  ];
  for (let i = 0; i < 24; i += 1) silentOf(mine.token);
  const full = await untilStatus(mine, 429);
  expectRefusal(full, 429, '1301');
  expect(full.headers.get('retry-after')).toBe('2');
  expect(full.headers.get('ratelimit-policy')).toBe('"uploads";q=2;qu="concurrent-requests"');
  expect(full.headers.get('ratelimit')).toBe('"uploads";r=0;t=2');
  for (const paying of [neighbour, stranger]) {
    expect((await upload(world, paying, pngFile())).json.status).toBe('processing');
  }
  for (const socket of sockets.splice(0)) socket.destroy();
  const taken = await until(async () => {
    const answer = await upload(world, mine, pngFile());
    return answer.status === 429 ? undefined : answer;
  });
  expect(taken.json.status, taken.text).toBe('processing');
});

test('of thirty uploads at once under one Idempotency-Key, one takes effect, and all have its answer', async () => {
  const paying = await promise(world, await world.merchant());
  const headers = { 'idempotency-key': 'thirty-at-once' };
  const file = pngFile(1_000_000);
  const answers = await Promise.all(Array.from({ length: 30 }, () => upload(world, paying, file, headers)));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.json.status).toBe('processing');
  expect(await rowsOf(world, 'select id from proof where payment_id = $1', [paying.transaction_id])).toHaveLength(1);
});

test('an upload that has waited for a place is authenticated once more', async () => {
  const own = await world.merchant();
  const paying = await promise(world, own);
  const silent = [silentOf(paying.token), silentOf(paying.token)];
  await untilStatus(paying, 429);
  const waiting = upload(world, paying, pngFile(), { 'idempotency-key': 'patient' });
  await world.clock.advance(1_000);
  await setMerchantStatus(world.gateway.deps, own.merchant.id, 'SUSPENDED');
  for (const socket of silent) socket.destroy();
  expectRefusal(await waiting, 403, '1004');
  expect(await rowsOf(world, 'select id from proof where payment_id = $1', [paying.transaction_id])).toEqual([]);
});

test('an upload whose merchant is suspended while its file arrives stores no proof', async () => {
  const own = await world.merchant();
  const paying = await promise(world, own);
  const field = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"`;
  const head = `${field('payment_id')}\r\n\r\n${paying.payment_id}\r\n${field('file')}; filename="receipt.png"\r\n\r\n`;
  const rest = Buffer.concat([pngFile(), Buffer.from('\r\n--b--\r\n')]);
  silentOf(paying.token);
  const length = head.length + rest.length;
  const slow = begin(PROOF, [`Authorization: Bearer ${paying.token}`, `Content-Length: ${length}`], head);
  // Both of the session's places are taken: the upload is authenticated, and waits for the file.
  await untilStatus(paying, 429);
  await world.clock.advance(1_000);
  await setMerchantStatus(world.gateway.deps, own.merchant.id, 'SUSPENDED');
  slow.write(rest);
  expect(await answerOf(slow)).toMatch(/^HTTP\/1\.1 403 /);
  expect(await rowsOf(world, 'select id from proof where merchant_id = $1', [own.merchant.id])).toEqual([]);
});

test('a page whose merchant is suspended while its file arrives stores no proof', async () => {
  const own = await world.merchant();
  const page = await transferPage(own);
  const paying = await promise(world, own);
  const file = pngFile();
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="receipt.png"\r\n\r\n';
  const end = '\r\n--b--\r\n';
  const length = head.length + file.length + end.length;
  silentOf(page.token);
  const slow = begin(page.path, [`Cookie: ${page.cookie}`, `Content-Length: ${length}`], head);
  // Both of the session's places are taken: the page has been read, and waits for the file.
  await untilStatus(paying, 429, page.token);
  await setMerchantStatus(world.gateway.deps, own.merchant.id, 'SUSPENDED');
  slow.write(Buffer.concat([file, Buffer.from(end)]));
  expect(await answerOf(slow)).toMatch(/^HTTP\/1\.1 403 /);
  expect(await rowsOf(world, 'select id from proof where merchant_id = $1', [own.merchant.id])).toEqual([]);
});

test('a merchant has eight places: another merchant’s uploads continue', async () => {
  const [one, other] = [await world.merchant(), await world.merchant()];
  const [mine, stranger] = [await promise(world, one), await promise(world, other)];
  for (let i = 0; i < 8; i += 1) silentOf((await mint(world, one)).token);
  await untilStatus(mine, 429);
  expect((await upload(world, stranger, pngFile())).json.status).toBe('processing');
});

test('the page and the API are counted together', async () => {
  const own = await world.merchant();
  const page = await transferPage(own);
  const paying = await promise(world, own);
  silentOf(page.token);
  begin(page.path, [`Cookie: ${page.cookie}`, 'Content-Length: 3000000']);
  await untilStatus(paying, 429, page.token);
  const refused = await page.send(pngFile());
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('2');
});

test('a sender that is silent for thirty seconds is refused in words, and gives the place back', async () => {
  const own = await world.merchant();
  const page = await transferPage(own);
  const paying = await promise(world, own);
  const api = silentOf(page.token);
  const browser = begin(page.path, [`Cookie: ${page.cookie}`, 'Content-Length: 3000000', 'Accept-Language: en']);
  await untilStatus(paying, 429, page.token);
  const answers = Promise.all([answerOf(api), answerOf(browser)]);
  await world.clock.advance(30_000);
  const [called, shown] = await answers;
  expect(called).toMatch(/^HTTP\/1\.1 408 /);
  expect(called).toContain('"code":"UPLOAD_STALLED"');
  expect(called).toContain('"retryable":true');
  expect(shown).toMatch(/^HTTP\/1\.1 408 /);
  expect(textOf({ html: shown, status: 408, headers: new Headers(), url: '' })).toContain('The upload was interrupted');
  const closed = Promise.all([once(api, 'close'), once(browser, 'close')]);
  await world.clock.advance(1_000);
  await closed;
  expect((await page.send(pngFile())).status).toBe(303);
});

test('a stranger whose file is refused, and who never sends the rest of it, loses the connection', async () => {
  const socket = begin(PROOF, ['Authorization: Bearer sess_nobody', 'Content-Length: 1000']);
  expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 401 /);
  const isLost = async (): Promise<boolean> => {
    await world.clock.advance(SOCKET_LIMITS.requestMs);
    return socket.closed;
  };
  await expect.poll(isLost).toBe(true);
});

test('a phone that is silent for twenty seconds in the middle of its file is waited for, on both routes', async () => {
  const own = await world.merchant();
  const page = await transferPage(own);
  const paying = await promise(world, own);
  const png = pngFile();
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
  const id = `--b\r\nContent-Disposition: form-data; name="payment_id"\r\n\r\n${paying.payment_id}\r\n`;
  const bodyOf = (first: string): Buffer =>
    Buffer.concat([Buffer.from(first + head), png, Buffer.from('\r\n--b--\r\n')]);
  for (const { path, line, body, status } of [
    { path: PROOF, line: `Authorization: Bearer ${paying.token}`, body: bodyOf(id), status: 200 },
    { path: page.path, line: `Cookie: ${page.cookie}`, body: bodyOf(''), status: 303 },
  ]) {
    const middle = body.length - 20;
    const socket = begin(path, [line, `Content-Length: ${body.length}`], '');
    socket.write(body.subarray(0, middle));
    const answer = answerOf(socket);
    await world.clock.advance(20_000);
    socket.write(body.subarray(middle));
    expect(await answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

test('without a length, no more is read than a file may have, whatever its type, on both routes', async () => {
  const own = await world.merchant();
  const page = await transferPage(own);
  const { token } = await mint(world, own);
  const doors = [
    { path: PROOF, line: `Authorization: Bearer ${token}` },
    { path: page.path, line: `Cookie: ${page.cookie}` },
    { path: PROOF, line: 'Authorization: Bearer sess_nobody' },
    { path: page.path.replace(/chk_\w+/, 'chk_nobody'), line: 'Cookie: a=b' },
  ];
  const head = (name: string): string => `--b\r\nContent-Disposition: form-data; name="${name}"; filename="x"\r\n\r\n`;
  for (const [at, { path, line }] of doors.entries()) {
    for (const name of ['file', 'junk']) {
      const first = head(name);
      const begun = `${first.length.toString(16)}\r\n${first}\r\n`;
      const socket = begin(path, [line, 'Transfer-Encoding: chunked'], begun);
      const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
      const most = 200 * 1024 * 1024;
      let sent = 0;
      while (!socket.destroyed && sent < most) {
        const failed = await new Promise<unknown>((done) => socket.write(chunk, done));
        if (failed !== undefined && failed !== null) break;
        sent += chunk.length;
      }
      // What the kernel buffers for a loopback connection is counted too.
      expect(sent, `door ${at}, ${name}`).toBeLessThan(40 * 1024 * 1024);
    }
  }
});
