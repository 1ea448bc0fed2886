/**
 * No card number, expiry or security code reaches the gateway: not from the browser, not from the card network, not into a
 * row and not into the log (specification, rule 5 of "What the service does").
 *
 * Every byte that enters the process is kept: what comes over its own port, and what the network answers.
 */
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { rowsOf, tablesOf } from '../api/flows.ts';
import { findBrowser, mayLeaveOut, openBrowser, openWindow } from '../support/browser.ts';
import { networkOrigin, typeCard } from '../support/card-form.ts';
import { collectBody, mint, openWorld } from '../support/world.ts';

const browserPath = findBrowser();
const NUMBER = '4508750015741019';

/** What gives a card away: its number however it is grouped, a security code or an expiry by name or as a value. */
const TRACES = [
  new RegExp(NUMBER.split('').join('[^0-9A-Za-z]{0,3}')),
  // With what stands between a name and its value: what is sealed holds such letters, blanks for blanks, by chance.
  /(security_?code|cvv|cvc|csc)[^0-9a-z]{0,3}[=:][^0-9a-z]{0,3}[0-9]/i,
  /expiry[^0-9a-z]{0,6}(month|year)?[^0-9a-z]{0,3}[=:][^0-9a-z]{0,3}[0-9]/i,
  /["'=]123["'&]/,
];

function tracesIn(text: string): string[] {
  return TRACES.flatMap((trace) => trace.exec(text)?.[0] ?? []);
}

/** A way to the card network that keeps what the network answers. */
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
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard: () => Buffer.concat(kept).toString('latin1'),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

test('the traces that are looked for would be found', () => {
  const body = '{"sourceOfFunds":{"provided":{"card":{"expiry":{"month":"05","year":"39"},"securityCode":"123"}}}}';
  expect(tracesIn(body).length).toBeGreaterThanOrEqual(3);
  expect(tracesIn('number=4508+7500+1574+1019')).toHaveLength(1);
  expect(tracesIn('450875xxxxxx1019')).toEqual([]);
});

test.runIf(browserPath === undefined)('a browser to type a card with', () => {
  expect(mayLeaveOut('the proof that no card data reaches the gateway'), 'a build server needs a browser').toBe(true);
});

test.runIf(browserPath !== undefined)(
  'a card with a challenge is paid with, and the gateway never sees it',
  async () => {
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
      // The masked number shows that the network did speak of this card.
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
  },
);
