/**
 * The control page: deliberate faults, the speed of the pretend world, and the newest lines of the carriers' books.
 * Invariant: every form does what the JSON call shown beside it does.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { BookLine } from '../carriers/book.ts';
import { html, type SafeHtml } from '../pages/html.ts';
import { formatAmount, formatMoment } from '../pages/languages.ts';
import { sendPage } from '../pages/layout.ts';
import type { ControlParts } from './api.ts';
import { carriers, type FaultPlan, type Upstream, upstreams } from './faults.ts';

const titles: Readonly<Record<Upstream, string>> = {
  mtn: 'MTN MoMo',
  cardnet: 'Card network',
  inbox: 'Inboxes',
  sms: 'Text messages',
};

type RateName = Exclude<keyof FaultPlan, 'delay_ms' | 'refusal' | 'status' | 'hang'>;
const rates: readonly (readonly [RateName, string])[] = [
  ['drop_rate', 'Vanishes, no answer'],
  ['refuse_rate', 'Refused with 503'],
  ['error_rate', 'Fails with 500'],
  ['answer_lost_rate', 'Taken, answer lost'],
];
const callbackRates: readonly (readonly [RateName, string])[] = [
  ['duplicate_callback_rate', 'Callback twice'],
  ['lose_callback_rate', 'Callback lost'],
];

function isCarrier(upstream: Upstream): boolean {
  return carriers.some((carrier) => carrier === upstream);
}

function rateField(plan: FaultPlan, [name, label]: readonly [RateName, string]): SafeHtml {
  return html`<label>${label}<input name="${name}" type="number" min="0" max="1" step="any" value="${plan[name]}"></label>`;
}

function faultForm(upstream: Upstream, plan: FaultPlan): SafeHtml {
  const fields = isCarrier(upstream) ? [...rates, ...callbackRates] : rates;
  return html`<form class="card stack" method="post" action="/control/form/faults"><h2>${titles[upstream]}</h2>
    <input type="hidden" name="upstream" value="${upstream}">
    <div class="fields"><label>Delay, ms<input name="delay_ms" type="number" min="0" max="600000" step="1" value="${plan.delay_ms}"></label>
    ${fields.map((field) => rateField(plan, field))}
    ${
      upstream === 'inbox' &&
      html`<label>Status to answer<input name="status" type="number" min="200" max="599" step="1" value="${plan.status ?? 200}"></label>
      <label class="check"><input name="hang" type="checkbox" value="true"${plan.hang && html` checked`}>Never answer</label>`
    }</div>
    <div class="buttons"><button class="main">Apply to ${titles[upstream]}</button></div></form>`;
}

/** Roles are given explicitly, because on a narrow screen the style makes a list of it, which browsers take for no table. */
function bookTable(lines: readonly BookLine[]): SafeHtml {
  const rows = lines.map(
    (
      line,
    ) => html`<tr role="row"><th scope="row" role="rowheader" class="figure">${formatMoment('en', Date.parse(line.at))}</th>
      <td role="cell" data-head="Carrier">${line.carrier}</td><td role="cell" data-head="Kind">${line.kind}</td>
      <td role="cell" data-head="Number" class="figure">${line.msisdn === '' ? 'a card' : `+${line.msisdn}`}</td>
      <td role="cell" data-head="Amount" class="figure right">${formatAmount('en', line.amount, line.currency)}</td>
      <td role="cell" data-head="Times" class="figure right">${line.times}</td>
      <td role="cell" data-head="Reference" class="address">${line.reference}</td></tr>`,
  );
  const head = (title: string, look = '') => html`<th scope="col" role="columnheader" class="${look}">${title}</th>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="The carriers’ books"><table class="stacked" role="table" aria-label="The newest movements">
    <thead role="rowgroup"><tr role="row">${head('When')}${head('Carrier')}${head('Kind')}${head('Number')}${head('Amount', 'right')}${head('Times', 'right')}${head('Reference')}</tr></thead>
    <tbody role="rowgroup">${rows}</tbody></table></div>`;
}

function controlMain({ book, settings, faults }: ControlParts, refused: boolean): SafeHtml {
  const plans = faults.plans();
  const newest = book.newest(20);
  return html`<div class="sheetless"><h1>Control</h1>
    <p class="lead">What goes wrong on purpose, and how fast the pretend world is. Rates go from 0 (never) to 1 (always); the seed makes a run repeat.</p>
    ${refused && html`<p class="wrong" role="alert">A value was outside its range; nothing was changed.</p>`}
    ${upstreams.map((upstream) => faultForm(upstream, plans[upstream]))}
    <div class="columns">
    <form class="card stack" method="post" action="/control/form/seed"><h2>Seed</h2>
      <label for="seed" class="soft">The same seed, plan and order of requests give the same faults. Setting it starts the draws again.</label>
      <span class="row"><input id="seed" name="seed" maxlength="100" required autocomplete="off" value="${faults.seed()}"><button class="main">Set</button></span></form>
    <form class="card stack" method="post" action="/control/form/clear"><h2>No faults</h2><p class="soft">Every upstream behaves again; numbers that decide by themselves still do.</p>
      <div class="buttons"><button class="quiet">Clear all faults</button></div></form></div>
    <form class="card stack" method="post" action="/control/form/settings"><h2>Pace, in milliseconds</h2><div class="fields">
      <label>Paying by itself<input name="auto_approve_ms" type="number" min="0" max="86400000" value="${settings.auto_approve_ms}"></label>
      <label>Failing by itself<input name="decline_ms" type="number" min="0" max="86400000" value="${settings.decline_ms}"></label>
      <label>A prompt’s life<input name="prompt_life_ms" type="number" min="0" max="86400000" value="${settings.prompt_life_ms}"></label></div>
      <div class="buttons"><button class="main">Apply the pace</button></div></form>
    <section class="card stack"><div class="head"><h2>The carriers’ books</h2><a href="/control/books">JSON, all ${book.size()}</a></div>
      <p class="soft">Every movement of money that a carrier really made. <em>Times</em> above 1 would mean that one reference was paid twice.</p>
      ${newest.length > 0 ? bookTable(newest) : html`<p>No money has moved yet. Pay with a number that ends in <code>01</code>.</p>`}</section>
    <section class="card stack"><h2>For programs</h2><pre tabindex="0">curl -X POST $SANDBOX/control/faults -H 'Content-Type: application/json' \\
  -d '{"upstream":"mtn","answer_lost_rate":0.1,"lose_callback_rate":0.5}'
curl -X POST $SANDBOX/control/faults -H 'Content-Type: application/json' \\
  -d '{"upstream":"mtn","refusal":{"status":404,"code":"PAYER_NOT_FOUND"}}'
curl -X POST $SANDBOX/control/seed -H 'Content-Type: application/json' -d '{"seed":"run-7"}'
curl -X POST $SANDBOX/control/cardnet/sessions/$SESSION_ID -H 'Content-Type: application/json' \\
  -d '{"number":"4508750015741019","expiry_month":1,"expiry_year":39,"security_code":"100"}'
curl -X POST $SANDBOX/control/cardnet/challenges/$TRANSACTION_ID -H 'Content-Type: application/json' -d '{"result":"pass"}'
curl $SANDBOX/control/faults
curl -X DELETE $SANDBOX/control/faults
curl $SANDBOX/control/books</pre></section></div>`;
}

/** The number in a field, if it is within its range; undefined otherwise. */
function numberIn(text: string | null, max: number, min = 0): number | undefined {
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return value >= min && value <= max ? value : undefined;
}

function wholeIn(text: string | null, max: number, min = 0): number | undefined {
  const value = numberIn(text, max, min);
  return Number.isInteger(value) ? value : undefined;
}

/** The plan that a form describes; undefined when one of its values is outside its range. */
function planIn(form: URLSearchParams, upstream: Upstream): Partial<FaultPlan> | undefined {
  const fields = isCarrier(upstream) ? [...rates, ...callbackRates] : rates;
  const numbers = fields.map(([name]) => [name, numberIn(form.get(name), 1)] as const);
  const delay_ms = wholeIn(form.get('delay_ms'), 600_000);
  const status = upstream === 'inbox' ? wholeIn(form.get('status'), 599, 200) : 200;
  if (delay_ms === undefined || status === undefined || numbers.some(([, value]) => value === undefined))
    return undefined;
  return {
    ...Object.fromEntries(numbers),
    delay_ms,
    status: status === 200 ? null : status,
    hang: form.get('hang') === 'true',
  };
}

export function controlPage(app: FastifyInstance, parts: ControlParts): void {
  const { faults, settings } = parts;
  const back = (reply: FastifyReply, done: boolean) => reply.redirect(done ? '/control' : '/control?refused=1', 303);
  const formOf = (body: unknown) => (body instanceof URLSearchParams ? body : new URLSearchParams());

  app.get<{ Querystring: { refused?: unknown } }>('/control', (request, reply) => {
    const main = controlMain(parts, request.query.refused !== undefined);
    return sendPage(reply, { title: 'Control', language: 'en', current: '/control', sheet: 'tools', main });
  });
  app.post('/control/form/faults', (request, reply) => {
    const form = formOf(request.body);
    const upstream = upstreams.find((one) => one === form.get('upstream'));
    const plan = upstream && planIn(form, upstream);
    if (upstream !== undefined && plan !== undefined) faults.set(upstream, plan);
    return back(reply, plan !== undefined);
  });
  app.post('/control/form/clear', (_request, reply) => {
    faults.clear();
    return back(reply, true);
  });
  app.post('/control/form/seed', (request, reply) => {
    const seed = formOf(request.body).get('seed') ?? '';
    const fits = seed !== '' && seed.length <= 100;
    if (fits) faults.reseed(seed);
    return back(reply, fits);
  });
  app.post('/control/form/settings', (request, reply) => {
    const form = formOf(request.body);
    const [auto_approve_ms, decline_ms, prompt_life_ms] = ['auto_approve_ms', 'decline_ms', 'prompt_life_ms'].map(
      (name) => wholeIn(form.get(name), 86_400_000),
    );
    if (auto_approve_ms === undefined || decline_ms === undefined || prompt_life_ms === undefined)
      return back(reply, false);
    Object.assign(settings, { auto_approve_ms, decline_ms, prompt_life_ms });
    return back(reply, true);
  });
}
