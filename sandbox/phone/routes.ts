/**
 * The virtual phone over HTTP: its page, its live screen, and the one address at which a prompt is answered.
 * Invariant: the page's form and programs answer by one path, so that both meet the same rules.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { streamChanges } from '../pages/events.ts';
import { html } from '../pages/html.ts';
import { languageOf } from '../pages/languages.ts';
import { opensPage, sendHtml, sendPage } from '../pages/layout.ts';
import type { World } from '../world.ts';
import { phoneNotFound, sendAnswer } from './api.ts';
import { displayNumber, languageLinks, type PhoneView, phoneMain, phoneScreen } from './page.ts';
import { digitsOf, type Phones } from './phones.ts';
import { phoneWords } from './words.ts';

type PhoneParams = { Params: { msisdn: string }; Querystring: { hide?: unknown } };

export function phoneRoutes(app: FastifyInstance, phones: Phones, world: World): void {
  const viewOf = (request: FastifyRequest<PhoneParams>): PhoneView | undefined => {
    const msisdn = digitsOf(request.params.msisdn);
    if (msisdn === undefined) return undefined;
    const { hide } = request.query;
    const hidden = typeof hide === 'string' ? hide.split(',').slice(0, 50) : [];
    return { handset: phones.read(msisdn), language: languageOf(request), now: world.now(), hidden };
  };

  app.get<PhoneParams>('/phone/:msisdn', (request, reply) => {
    const view = viewOf(request);
    const { msisdn: given } = request.params;
    if (view === undefined)
      return opensPage(request) ? sendPhones(request, reply.code(404), { phones, given }) : phoneNotFound(reply);
    const words = phoneWords[view.language];
    return sendPage(reply, {
      title: displayNumber(view.handset.msisdn),
      language: view.language,
      links: words.links,
      current: '/phone',
      sheet: 'phone',
      tools: languageLinks(view.language, words.language),
      scripts: ['phone'],
      main: phoneMain(view),
    });
  });
  app.get<PhoneParams>('/phone/:msisdn/screen', (request, reply) => {
    const view = viewOf(request);
    return view === undefined ? phoneNotFound(reply) : sendHtml(reply, phoneScreen(view));
  });
  app.get<PhoneParams>('/phone/:msisdn/events', (request, reply) => {
    const msisdn = digitsOf(request.params.msisdn);
    if (msisdn === undefined) return phoneNotFound(reply);
    streamChanges(request, reply, (changed) => phones.watch(msisdn, changed));
    return reply;
  });
  app.post<{ Params: { msisdn: string; id: string }; Body: unknown }>(
    '/phone/:msisdn/prompts/:id',
    (request, reply) => {
      const msisdn = digitsOf(request.params.msisdn);
      if (msisdn === undefined) return phoneNotFound(reply);
      const { answer, pin } = answerIn(request.body);
      if (answer === undefined)
        return reply
          .code(400)
          .send({ error: 'invalid_answer', message: 'The field answer must be "approve" or "reject".' });
      const result = phones.answer(msisdn, request.params.id, answer, pin);
      // A form submission returns to the phone, which shows what became of the prompt, including a wrong PIN.
      if (request.body instanceof URLSearchParams)
        return reply.redirect(`/phone/${msisdn}?lang=${languageOf(request)}`, 303);
      return sendAnswer(reply, result);
    },
  );

  app.get<{ Querystring: { number?: unknown } }>('/phone', (request, reply) => phoneList(request, reply, phones));
}

function answerIn(body: unknown): { answer: 'approve' | 'reject' | undefined; pin: string } {
  const fields =
    body instanceof URLSearchParams
      ? { answer: body.get('answer'), pin: body.getAll('pin').join('') }
      : { answer: undefined, pin: undefined, ...(typeof body === 'object' ? body : {}) };
  return {
    answer: fields.answer === 'approve' || fields.answer === 'reject' ? fields.answer : undefined,
    pin: typeof fields.pin === 'string' ? fields.pin : '',
  };
}

/** The list of phones; with `?number=` it redirects to that phone. */
function phoneList(
  request: FastifyRequest<{ Querystring: { number?: unknown } }>,
  reply: FastifyReply,
  phones: Phones,
) {
  const { number } = request.query;
  const given = typeof number === 'string' ? number : undefined;
  const msisdn = given === undefined ? undefined : digitsOf(given);
  if (msisdn !== undefined) return reply.redirect(`/phone/${msisdn}?lang=${languageOf(request)}`, 303);
  return sendPhones(request, reply, { phones, given });
}

/** The phones that have had any activity, and a form for another one; `given`: what was given as a number, and is none. */
function sendPhones(
  request: FastifyRequest,
  reply: FastifyReply,
  { phones, given: wrong }: { readonly phones: Phones; readonly given: string | undefined },
) {
  const language = languageOf(request);
  const words = phoneWords[language];
  const recent = phones.recent(20).map(
    (handset) => html`<li><a href="/phone/${handset.msisdn}?lang=${language}">${displayNumber(handset.msisdn)}</a>
      <span class="soft">${handset.prompts[0] && words.status[handset.prompts[0].status]}</span></li>`,
  );
  const main = html`<div class="sheetless"><h1>${words.title}</h1><p class="lead">${words.about} ${words.pinIs} <code>0000</code>.</p>
    <form class="open card" method="get" action="/phone"><label for="number">${words.anotherNumber}</label>
    <input type="hidden" name="lang" value="${language}">
    <span class="row"><input id="number" name="number" type="tel" autocomplete="off" value="${wrong ?? '+243 810 000 042'}" required${wrong !== undefined && html` aria-invalid="true" aria-describedby="number-fault" autofocus`}><button class="main">${words.open}</button></span>
    ${wrong !== undefined && html`<p class="wrong" id="number-fault">${words.badNumber}</p>`}</form>
    ${recent.length > 0 && html`<ul class="list card">${recent}</ul>`}</div>`;
  const tools = languageLinks(language, words.language);
  return sendPage(reply, {
    title: words.title,
    language,
    links: words.links,
    current: '/phone',
    sheet: 'phone',
    tools,
    main,
  });
}
