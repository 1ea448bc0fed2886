/**
 * No card number, expiry or security code reaches the gateway: not from the browser, not from the card network, not into a
 * row and not into the log (specification, rule 5 of "What the service does").
 *
 * Every byte that enters the process is kept: what arrives at its own port, and what the network answers.
 */
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import { expect, test } from 'vitest';
import { findBrowser, mayLeaveOut, openBrowser, openWindow } from '../support/browser.ts';
import { networkOrigin, typeCard } from '../support/card-form.ts';
import { portOf } from '../support/listening.ts';
import { plainText } from '../support/plain-text.ts';
import { rowsOf, tablesOf } from '../support/rows.ts';
import { collectBody, mint, openWorld } from '../support/world.ts';

const browserPath = findBrowser();
const NUMBER = '4508750015741019';

/** What gives a card away: its number however grouped, or a security code or an expiry by name or by value. */
const TRACES = [
  new RegExp(NUMBER.split('').join('[^0-9A-Za-z]{0,3}')),
  /security_?code[^0-9a-z+/_-]{1,9}[0-9]/i,
  // Of three letters, and as a whole name: sealed text ends in such letters by chance.
  /(?<![0-9a-z])(cvv|cvc|csc)[^0-9a-z+/_-]{1,9}[0-9]/i,
  /expiry[^0-9a-z]{0,6}(month|year)?[^0-9a-z+/_-]{1,9}[0-9]/i,
  /["'=]123["'&]/,
];

function tracesIn(text: string): string[] {
  const forms = new Set([text, plainText(text)]);
  return [...forms].flatMap((form) => TRACES.flatMap((trace) => trace.exec(form)?.[0] ?? []));
}

/** A proxy to the card network that keeps the network's answers. */
async function openListener(): Promise<{ url: string; target: string; heard: () => string; close: () => void }> {
  const kept: Buffer[] = [];
  const listener = { target: '' };
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const onward = ask(`${listener.target}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('data', (bytes: Buffer) => kept.push(bytes));
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(listener, {
    url: `http://127.0.0.1:${portOf(server)}`,
    heard: () => Buffer.concat(kept).toString('latin1'),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

test('the search would find these traces', () => {
  const card = '{"expiry":{"month":"05","year":"39"},"securityCode":"123"}';
  for (const text of [
    card,
    JSON.stringify(card),
    JSON.stringify(JSON.stringify({ card })),
    encodeURIComponent(card),
    new URLSearchParams({ card }).toString(),
    'number=4508+7500+1574+1019',
    'expiry%5Bmonth%5D=05',
    'card%5BsecurityCode%5D=123',
    'name="securityCode"\r\n\r\n123',
    'name="expiryMonth"\r\n\r\n05',
    '["expiryMonth","05"]',
    '["security_code","123"]',
    'cvv 123',
    '(cvc,123)',
    'card_cvv=123',
    'expiry 05/39',
    '<securityCode>123</securityCode>',
  ])
    expect(tracesIn(text), text).not.toEqual([]);
  for (const text of ['450875xxxxxx1019', 'kwcSc-4', 'x_CVV_7', '(txn_4k5wcsc,1,2026)'])
    expect(tracesIn(text), text).toEqual([]);
});

test.runIf(browserPath === undefined)('a browser to type a card with', () => {
  expect(mayLeaveOut('the proof that no card data reaches the gateway'), 'a build server needs a browser').toBe(true);
});

test.runIf(browserPath !== undefined)('a card with a challenge pays, and the gateway never sees it', async () => {
  const listener = await openListener();
  const world = await openWorld({ env: { CARDNET_BASE_URL: `${listener.url}/cardnet` } });
  listener.target = world.sandboxUrl;
  const received: Buffer[] = [];
  world.gateway.app.server.on('connection', (socket) => socket.on('data', (bytes) => received.push(bytes)));
  const browser = await openBrowser(browserPath ?? '');
  try {
    const merchant = await world.merchant();
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION' });
    const made = await world.call('POST', '/payments/collect', { bearer: token, body });
    const { page, close } = await openWindow(browser, 'small', world.url, { also: [networkOrigin(world)] });
    await page.goto(made.json.payment_url);
    await typeCard(page, NUMBER);
    await page.waitForURL(/\/cardnet\/acs\//);
    await page.locator('button').first().click();
    await page.locator('.receipt').waitFor();
    await close();

    const entered = Buffer.concat(received).toString('latin1');
    expect(entered).toContain('/3ds-callback');
    expect(tracesIn(entered)).toEqual([]);
    // The masked number shows that the network's answers were about this card.
    expect(listener.heard()).toMatch(/450875x+1019/);
    expect(tracesIn(listener.heard())).toEqual([]);
    for (const table of await tablesOf(world)) {
      const rows = await rowsOf<{ row: string }>(world, `select t::text as row from ${table} t`);
      expect([table, ...rows.flatMap(({ row }) => tracesIn(row))]).toEqual([table]);
    }
    expect(tracesIn(JSON.stringify(world.log.lines))).toEqual([]);
  } finally {
    await browser.close();
    await world.close();
    listener.close();
  }
});
