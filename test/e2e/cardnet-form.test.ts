/**
 * The card network's hosted form in a real browser: on a bare payment page of another origin, under a strict policy, the
 * fields are filled by keyboard, and no digit of the card reaches the page. Then the issuer's challenge, with and
 * without JavaScript.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type axe from 'axe-core';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CardClient, cardClient, type Opened, transactionPath } from '../../sandbox/testing/cardnet-client.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/testing/start-sandbox.ts';
import { bringAxe, findBarriers, findBrowser, openBrowser, openWindow, type Watched } from '../support/browser.ts';
import { portOf } from '../support/listening.ts';
import { plainText } from '../support/plain-text.ts';

const browserPath = findBrowser();
const CARD = { number: '4508750015741019', month: '11', year: '38', code: '847', name: 'Grace Ilunga' };
// The code as a whole word: ports, ids and fractions of a second contain its digits by chance.
const SECRETS = new RegExp(
  [CARD.number, '4508 7500 1574 1019', String.raw`(?<![\w.])847(?!\w)`, '"11"', '"38"'].join('|'),
);

/** A minimal payment page: five labelled fields, a button, and what its script heard. */
const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pay</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/page.css"><script src="SCRIPT" defer></script><script src="/page.js" defer></script></head>
<body><main><h1>Pay 12.50 USD</h1><form id="pay">
<label for="number">Card number</label><input id="number" class="card" readonly>
<label for="month">Month</label><input id="month" class="card" readonly>
<label for="year">Year</label><input id="year" class="card" readonly>
<label for="code">Security code</label><input id="code" class="card" readonly>
<label for="name">Name on the card</label><input id="name" class="card" readonly>
<p id="heard" role="status"></p><button>Pay</button></form></main></body></html>`;

const STYLE = `body{margin:0;padding:24px;font:16px system-ui;background:Canvas;color:CanvasText}form{display:grid;gap:8px;max-width:420px}
.card{height:48px;border:1px solid GrayText;border-radius:12px;padding:0 14px;font:inherit;background:Field;color:FieldText}
.card[aria-invalid]{border-color:#a3262a;border-width:2px}
button{min-height:48px}`;

const SCRIPT = `window.heard = []; window.messages = [];
addEventListener('message', (event) => messages.push(JSON.stringify(event.data)));
const say = (what) => (answer) => { heard.push({ what, answer }); document.querySelector('#heard').textContent = what + ' ' + answer.status; };
PaymentSession.configure({ session: new URLSearchParams(location.search).get('session'),
  fields: { card: { number: '#number', expiryMonth: '#month', expiryYear: '#year', securityCode: '#code', nameOnCard: '#name' } },
  frameEmbeddingMitigation: ['javascript'],
  callbacks: { initialized: say('initialized'), formSessionUpdate: say('updated') } });
document.querySelector('#pay').addEventListener('submit', (event) => { event.preventDefault(); PaymentSession.updateSessionFromForm('card'); });`;

/** A gateway that only keeps what browsers post to it. */
interface Gateway {
  readonly url: string;
  readonly posts: URLSearchParams[];
  readonly server: Server;
}

async function startPage(cardOrigin: string): Promise<Gateway> {
  const posts: URLSearchParams[] = [];
  const script = `${cardOrigin}/cardnet/form/version/100/merchant/TESTMBONGO/session.js`;
  const policy = `default-src 'none'; script-src 'self' ${cardOrigin}; frame-src 'self' ${cardOrigin}; style-src 'self'; img-src 'self'; form-action 'self'`;
  const files = new Map([
    ['/', ['text/html', PAGE.replace('SCRIPT', script)]],
    ['/around', ['text/html', '<!doctype html><html lang="en"><title>Around</title><iframe src="/"></iframe></html>']],
    ['/page.css', ['text/css', STYLE]],
    ['/page.js', ['text/javascript', SCRIPT]],
    ['/favicon.ico', ['image/x-icon', '']],
    ['/back', ['text/html', '<!doctype html><html lang="en"><title>Back</title><h1>Back at the gateway</h1></html>']],
  ]);
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      if (request.method === 'POST') posts.push(new URLSearchParams(body));
      const { pathname } = new URL(request.url ?? '/', 'http://page');
      const [type = 'text/plain', content = ''] = files.get(pathname) ?? [];
      response.writeHead(files.has(pathname) ? 200 : 404, {
        'content-type': `${type}; charset=utf-8`,
        'content-security-policy': policy,
      });
      response.end(content);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${portOf(server)}`, posts, server };
}

let running: RunningSandbox;
let cards: CardClient;
let gateway: Gateway;
let browser: Browser;
let cardOrigin: string;
let watched: Watched;
let page: Page;
let requests: Request[];
let opened: Opened;

/** What the payment page's own script knows. */
const heard = () => page.evaluate<{ what: string; answer: { status: string } }[]>('heard');

async function openForm(): Promise<void> {
  await page.goto(`${gateway.url}/?session=${opened.session}`);
  await page.getByText('initialized ok').waitFor();
}

/** The field inside its frame. */
const field = (id: string) => page.frameLocator(`#gw-proxy-${id}`).locator('input');

async function typeCard(): Promise<void> {
  const { number, month, year, code, name } = CARD;
  for (const [id, text] of Object.entries({ number, month, year, code, name })) {
    await page.keyboard.press('Tab');
    // Focus moves to another process, which takes a moment; a person is slower than that.
    await page.locator(`#gw-proxy-${id}[data-focused]`).waitFor();
    await page.keyboard.type(text);
  }
}

describe.runIf(browserPath !== undefined)('the hosted card form', () => {
  beforeAll(async () => {
    running = await startSandbox();
    cards = cardClient(running);
    cardOrigin = `http://localhost:${new URL(running.url).port}`;
    gateway = await startPage(cardOrigin);
    browser = await openBrowser(browserPath ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    gateway?.server.close();
    gateway?.server.closeAllConnections();
    await running?.close();
  });
  beforeEach(async () => {
    opened = await cards.open();
    watched = await openWindow(browser, 'phone', gateway.url);
    page = watched.page;
    requests = [];
    page.on('request', (request) => requests.push(request));
  });
  afterEach(async () => {
    const complaints = watched.complaints.filter((text) => !text.startsWith(`request to ${cardOrigin}/`));
    await watched.close();
    expect(complaints).toEqual([]);
  });

  test('is filled by keyboard, and no digit of the card reaches the page', async () => {
    await openForm();
    await typeCard();
    expect(await field('number').inputValue()).toBe('4508 7500 1574 1019');
    await page.keyboard.press('Enter');
    await page.getByText('updated ok').waitFor();

    const { session } = opened;
    const card = { brand: 'VISA', number: '450875xxxxxx1019', scheme: 'VISA' };
    expect(await heard()).toEqual([
      { what: 'initialized', answer: { status: 'ok', session: { id: session } } },
      {
        what: 'updated',
        answer: {
          status: 'ok',
          session: { id: session, updateStatus: 'SUCCESS', version: expect.any(String) },
          sourceOfFunds: { provided: { card }, type: 'CARD' },
        },
      },
    ]);
    const bound = (await cards.ask('GET', `/session/${session}`)).json;
    expect(bound.sourceOfFunds.provided.card).toMatchObject({ number: '450875xxxxxx1019', nameOnCard: CARD.name });

    // One request carries the card: from a frame of the network to the network.
    const carrying = requests.filter((request) =>
      SECRETS.test(plainText(`${request.url()} ${request.postData() ?? ''}`)),
    );
    expect(carrying.map((request) => [new URL(request.url()).origin, new URL(request.frame().url()).origin])).toEqual([
      [cardOrigin, cardOrigin],
    ]);
    const told = [...(await page.evaluate<string[]>('messages')), await page.content(), JSON.stringify(await heard())];
    for (const text of told) expect(plainText(text)).not.toMatch(SECRETS);
    const origins = page.frames().map((frame) => new URL(frame.url()).origin);
    expect(origins).toEqual([gateway.url, ...Array(5).fill(cardOrigin)]);
    for (let n = 0; n < 5; n += 1)
      await expect(page.evaluate(`frames[${n}].document.body.innerHTML`), 'frames are closed').rejects.toThrow();
  });

  test('names the fields that are wrong, and accepts them once they are right', async () => {
    await openForm();
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByText('updated fields_in_error').waitFor();
    const missing = ['cardNumber', 'expiryMonth', 'expiryYear', 'securityCode'];
    expect((await heard()).at(-1)?.answer).toEqual({
      status: 'fields_in_error',
      session: { id: opened.session },
      errors: Object.fromEntries(missing.map((name) => [name, 'missing'])),
    });
    for (const id of ['number', 'month', 'year', 'code']) {
      await expect.poll(() => field(id).getAttribute('aria-invalid')).toBe('true');
      // The frame is styled as the page's style sheet styles a wrong field.
      const border = `getComputedStyle(document.querySelector('#gw-proxy-${id}')).borderTopWidth`;
      expect(await page.evaluate(border)).toBe('2px');
    }
    expect(await field('name').getAttribute('aria-invalid')).toBeNull();
    // A click on a label focuses the field in its frame.
    await page.getByText('Card number').click();
    await page.locator('#gw-proxy-number[data-focused]').waitFor();
    await page.keyboard.type(CARD.number);
    await page.getByText('Security code').click();
    await page.locator('#gw-proxy-code[data-focused]').waitFor();
    await page.keyboard.type('12');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await heard()).length).toBe(3);
    expect((await heard()).at(-1)?.answer).toMatchObject({
      errors: { expiryMonth: 'missing', expiryYear: 'missing', securityCode: 'invalid' },
    });
    expect(await field('number').getAttribute('aria-invalid')).toBeNull();
  });

  test('can be used by everyone, inside and outside its frames', async () => {
    await openForm();
    expect(await findBarriers(page)).toEqual([]);
    for (const frame of page.frames().slice(1)) {
      await bringAxe(frame);
      // A field is not a page: its heading is outside.
      const alone = "axe.run({ preload: false, rules: { 'page-has-heading-one': { enabled: false } } })";
      const { violations } = await frame.evaluate<axe.AxeResults>(alone);
      expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    }
    expect(await page.locator('iframe').evaluateAll((frames) => frames.map((frame) => frame.title))).toEqual([
      'Card number',
      'Month',
      'Year',
      'Security code',
      'Name on the card',
    ]);
  });

  test('an unknown session is reported as a system error', async () => {
    opened = { ...opened, session: 'SESSION0002UNKNOWN' };
    await openForm();
    await typeCard();
    await page.keyboard.press('Enter');
    await page.getByText('updated system_error').waitFor();
  });

  test('a page that another site frames gets no fields', async () => {
    await page.goto(`${gateway.url}/around`);
    await page.frameLocator('iframe').getByText('initialized system_error').waitFor();
    expect(page.frames()).toHaveLength(2);
  });

  describe.each([true, false])('the challenge, with JavaScript: %s', (javaScriptEnabled) => {
    let context: BrowserContext;
    beforeEach(async () => {
      context = await browser.newContext({ javaScriptEnabled, locale: 'en-GB' });
    });
    afterEach(() => context.close());

    async function askIssuer(): Promise<Page> {
      await cards.fill(opened.session, { number: CARD.number, expiry: '01/39' });
      await cards.initiate(opened);
      const redirectResponseUrl = `${gateway.url}/back`;
      const pending = await cards.authenticate(opened, { authentication: { redirectResponseUrl } });
      const issuer = await context.newPage();
      await issuer.setContent(`<!doctype html><title>x</title>${pending.json.authentication.redirect.html}`);
      if (!javaScriptEnabled) await issuer.getByRole('button', { name: 'Continue' }).click();
      await issuer.getByRole('heading', { name: 'Is it you who is paying?' }).waitFor();
      expect(new URL(issuer.url()).origin).toBe(cardOrigin);
      return issuer;
    }

    test.each([
      ['Pass', 'AUTHENTICATED', 'AUTHENTICATION_SUCCESSFUL'],
      ['Fail', 'REJECTED', 'AUTHENTICATION_FAILED'],
      ['Cancel', 'REJECTED', 'AUTHENTICATION_FAILED'],
    ])('%s is posted to the gateway, signed', async (button, result, status) => {
      const issuer = await askIssuer();
      if (javaScriptEnabled) expect(await findBarriers(issuer)).toEqual([]);
      await issuer.getByRole('button', { name: button }).focus();
      await issuer.keyboard.press('Enter');
      if (!javaScriptEnabled) await issuer.getByRole('button', { name: 'Continue' }).click();
      await issuer.getByRole('heading', { name: 'Back at the gateway' }).waitFor();
      const fields = Object.fromEntries(gateway.posts.at(-1) ?? []);
      expect(fields).toMatchObject({ order_id: opened.order, transaction_id: opened.order, result });
      const { timestamp, nonce, order_id, transaction_id } = fields;
      const signed = [timestamp, nonce, order_id, transaction_id, result].join('.');
      const signature = createHmac('sha256', 'sandbox-cardnet-callback-secret').update(signed).digest('hex');
      expect(fields.signature).toBe(signature);
      const read = await cards.ask('GET', transactionPath(opened.order, 'auth-1'));
      expect(read.json.transaction.authenticationStatus).toBe(status);
    });

    test('a bank that falls silent leaves its challenge open', async () => {
      const issuer = await askIssuer();
      const before = gateway.posts.length;
      await issuer.getByRole('button', { name: 'Time out' }).click();
      await issuer.getByRole('heading', { name: 'The bank does not answer' }).waitFor();
      await issuer.getByRole('link', { name: 'Back to the question' }).click();
      await issuer.getByRole('heading', { name: 'Is it you who is paying?' }).waitFor();
      expect(gateway.posts).toHaveLength(before);
    });
  });
});
