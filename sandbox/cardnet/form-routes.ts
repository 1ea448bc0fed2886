/**
 * The hosted card form: the script that a payment page loads, the frames that hold the real fields, and the route to which
 * those frames send what was typed.
 * Invariant: what was typed travels from the frames to this server and nowhere else; answers show it masked or not at all.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html, type SafeHtml } from '../pages/html.ts';
import { languageOf } from '../pages/languages.ts';
import type { CardErrors, CardField } from './card-input.ts';
import { show } from './cards.ts';
import type { Sessions } from './sessions.ts';
import { fieldNames } from './words.ts';

export type FormParts = {
  readonly sessions: Sessions;
  readonly merchantId: string;
  /** The compiled `session.js`; undefined if the project was not built. */
  readonly script: string | undefined;
};

const base = '/form/version/:version/merchant/:merchant';

/** How each field is typed: autofill, keyboard, and maximum length including blanks. */
const inputs: Readonly<Record<CardField, { autocomplete: string; inputmode: string; longest: number }>> = {
  cardNumber: { autocomplete: 'cc-number', inputmode: 'numeric', longest: 23 },
  expiryMonth: { autocomplete: 'cc-exp-month', inputmode: 'numeric', longest: 2 },
  expiryYear: { autocomplete: 'cc-exp-year', inputmode: 'numeric', longest: 4 },
  securityCode: { autocomplete: 'cc-csc', inputmode: 'numeric', longest: 4 },
  nameOnCard: { autocomplete: 'cc-name', inputmode: 'text', longest: 100 },
};

function isCardField(name: string): name is CardField {
  return Object.hasOwn(inputs, name);
}

/** What the script requests a frame for. */
type Frame = { field: CardField; session: string; form: string; origin: string; label: string };

function frameIn(query: unknown): Frame | undefined {
  const given = new Map(Object.entries(typeof query === 'object' && query !== null ? query : {}));
  const text = (name: string) => {
    const value: unknown = given.get(name);
    return typeof value === 'string' ? value : '';
  };
  const [field, session, form, origin] = [text('field'), text('session'), text('form'), text('origin')];
  const address = URL.canParse(origin) ? new URL(origin) : undefined;
  const isOrigin = address?.origin === origin && /^https?:$/.test(address.protocol);
  const fits = isCardField(field) && /^SESSION\w{1,40}$/.test(session) && /^[0-9a-f]{32}$/.test(form) && isOrigin;
  return fits ? { field, session, form, origin, label: text('label').slice(0, 80) } : undefined;
}

function framePage(language: string, label: string, { field, session, form, origin }: Frame, path: string): SafeHtml {
  const { autocomplete, inputmode, longest } = inputs[field];
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${label}</title>
<link rel="stylesheet" href="/assets/cardnet.css">
<script type="module" src="/assets/cardnet-field.js"></script>
</head>
<body class="field">
<main><label for="value">${label}</label><input id="value" type="text" autocomplete="${autocomplete}" inputmode="${inputmode}" maxlength="${longest}"
 autocapitalize="off" autocorrect="off" spellcheck="false" data-field="${field}" data-form="${form}" data-origin="${origin}" data-target="${path}/session/${session}"></main>
</body>
</html>
`;
}

const framePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
].join('; ');

type FormRequest = FastifyRequest<{ Params: { version: string; merchant: string; session: string } }>;

/** What the form's script passes to the page; `errors` name fields, never values. */
function formAnswer(sessions: Sessions, id: string, body: unknown) {
  const input = typeof body === 'object' && body !== null ? { ...body } : {};
  const result = sessions.fill(id, input);
  if (result.kind === 'errors') return inError(id, result.errors);
  if (result.kind !== 'ok') {
    const message = result.kind === 'unknown' ? 'The session is unknown.' : 'The session was updated too often.';
    return { status: 'system_error', session: { id }, errors: { message } };
  }
  const { number, scheme } = show(result.card);
  const { version, updateStatus } = result.session;
  const card = { brand: scheme, number, scheme };
  return { status: 'ok', session: { id, updateStatus, version }, sourceOfFunds: { provided: { card }, type: 'CARD' } };
}

function inError(id: string, errors: CardErrors) {
  return { status: 'fields_in_error', session: { id }, errors };
}

/** Registers the routes on `scope`, whose prefix is /cardnet. */
export function formRoutes(scope: FastifyInstance, { sessions, merchantId, script }: FormParts): void {
  const unknownMerchant = (reply: FastifyReply) =>
    reply.code(404).send({ error: 'not_found', message: 'The card network has no such merchant.' });

  scope.get(`${base}/session.js`, (request: FormRequest, reply) => {
    if (request.params.merchant !== merchantId) return unknownMerchant(reply);
    if (script === undefined)
      return reply.code(503).send({ error: 'not_built', message: 'Build the project first: npm run build.' });
    return reply
      .header('content-type', 'text/javascript; charset=utf-8')
      .header('cross-origin-resource-policy', 'cross-origin')
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-cache')
      .send(script);
  });

  scope.get(`${base}/field`, (request: FormRequest, reply) => {
    const { merchant, version } = request.params;
    if (merchant !== merchantId) return unknownMerchant(reply);
    const frame = frameIn(request.query);
    if (frame === undefined)
      return reply.code(400).send({ error: 'bad_request', message: 'Fields are opened by session.js.' });
    const language = languageOf(request);
    const label = frame.label === '' ? fieldNames[language][frame.field] : frame.label;
    const path = `/cardnet/form/version/${version}/merchant/${merchant}`;
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', framePolicy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-store')
      .send(framePage(language, label, frame, path).text);
  });

  scope.post(`${base}/session/:session`, (request: FormRequest, reply) => {
    if (request.params.merchant !== merchantId) return unknownMerchant(reply);
    return reply.header('cache-control', 'no-store').send(formAnswer(sessions, request.params.session, request.body));
  });
}
