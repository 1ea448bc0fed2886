/**
 * The pages of the card's bank: its question to the customer, and the way back to the gateway.
 * Invariant: they cannot be mistaken for anybody else's pages, run no inline script, and work as plain forms without script.
 */
import type { FastifyReply } from 'fastify';
import { html, type SafeHtml } from '../pages/html.ts';
import { formatAmount, type Language, languageNames, languages } from '../pages/languages.ts';
import { fill } from '../phone/words.ts';
import { amountText } from './amounts.ts';
import type { CallbackFields } from './callback.ts';
import { type Challenge, challengeAnswers } from './challenges.ts';
import type { Transaction } from './orders.ts';
import { type IssuerWords, issuerWords } from './words.ts';

type IssuerPage = {
  readonly language: Language;
  readonly title: string;
  readonly main: SafeHtml;
  /** Loads the script that posts the form by itself. */
  readonly posts?: boolean;
  /** The address of this page, if it can be shown in another language. */
  readonly path?: string;
};

/**
 * The page may be framed, as the real ones may. Its last form goes wherever the merchant said, and browsers also apply
 * `form-action` to what that address redirects to, so that page cannot have a `form-action`.
 */
function policy(posts: boolean): string {
  const rules = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "base-uri 'none'"];
  return [...rules, ...(posts ? [] : ["form-action 'self'"])].join('; ');
}

function sendIssuerPage(reply: FastifyReply, page: IssuerPage, status = 200): FastifyReply {
  const { language, title, main, posts = false, path } = page;
  const words = issuerWords[language];
  const links = languages.map(
    (one) =>
      html`<a href="${path}?lang=${one}" lang="${one}" hreflang="${one}"${one === language && html` aria-current="true"`}>${languageNames[one]}</a>`,
  );
  const document = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${words.bank}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
<link rel="stylesheet" href="/assets/cardnet.css">
${posts && html`<script type="module" src="/assets/cardnet-return.js"></script>`}
</head>
<body class="issuer">
<header class="bank"><span class="bank-mark" aria-hidden="true"></span><span>${words.bank}</span><span class="bank-tag">Sandbox</span></header>
<main class="question">${main}</main>
${path !== undefined && html`<footer><nav class="languages" aria-label="${words.language}">${links}</nav></footer>`}
</body>
</html>
`;
  return (
    reply
      .code(status)
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', policy(posts))
      .header('x-content-type-options', 'nosniff')
      // With no referrer at all, the page's post would carry `Origin: null`.
      .header('referrer-policy', 'origin')
      .header('cache-control', 'no-store')
      .send(document.text)
  );
}

function choices({ choices }: IssuerWords): SafeHtml {
  const buttons = ([...challengeAnswers, 'timeout'] as const).map((answer) => {
    const [label, meaning] = choices[answer];
    const kind = answer === 'pass' ? 'main' : 'quiet';
    return html`<li><button class="${kind}" name="answer" value="${answer}" aria-describedby="about-${answer}">${label}</button>
      <span id="about-${answer}" class="soft">${meaning}</span></li>`;
  });
  return html`<ul class="choices">${buttons}</ul>`;
}

export type Question = {
  readonly challenge: Challenge;
  readonly transaction: Transaction;
  readonly merchant: string;
  readonly now: number;
};

export function sendQuestion(reply: FastifyReply, language: Language, question: Question): FastifyReply {
  const { challenge, transaction, merchant, now } = question;
  const words = issuerWords[language];
  const minutes = Math.max(0, Math.ceil((challenge.expiresAt - now) / 60_000));
  const { amount, currency, card } = transaction;
  const path = `/cardnet/acs/${challenge.id}`;
  const main = html`<h1>${words.title}</h1>
    <p class="amount">${formatAmount(language, amountText(amount, currency), currency)}</p>
    <dl class="facts"><div><dt>${words.merchant}</dt><dd>${merchant}</dd></div>
      <div><dt>${words.card}</dt><dd class="figure">•••• ${card?.number.slice(-4)}</dd></div>
      <div><dt>${words.order}</dt><dd class="address">${challenge.orderId}</dd></div></dl>
    <p class="soft">${words.about}</p>
    <form method="post" action="${path}/answer?lang=${language}">${choices(words)}</form>
    <p class="left">${fill(words.minutesLeft, { minutes })}</p>`;
  return sendIssuerPage(reply, { language, title: words.title, main, path });
}

export function sendReturn(reply: FastifyReply, language: Language, to: string, fields: CallbackFields): FastifyReply {
  const words = issuerWords[language];
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const main = html`<h1>${words.returnTitle}</h1><p class="soft">${words.returnAbout}</p>
    <form method="post" action="${to}" data-post>${inputs}<button class="main">${words.goOn}</button></form>`;
  return sendIssuerPage(reply, { language, title: words.returnTitle, main, posts: true });
}

/** What the customer sees of a bank that never answers; the challenge stays open behind the page. */
export function sendSilence(reply: FastifyReply, language: Language, challenge: Challenge): FastifyReply {
  const words = issuerWords[language];
  const main = html`<h1>${words.silenceTitle}</h1><p class="soft">${words.silenceAbout}</p>
    <p><a href="/cardnet/acs/${challenge.id}?lang=${language}">${words.back}</a></p>`;
  return sendIssuerPage(reply, { language, title: words.silenceTitle, main });
}

export function sendUnknown(reply: FastifyReply, language: Language): FastifyReply {
  const words = issuerWords[language];
  const main = html`<h1>${words.unknownTitle}</h1><p class="soft">${words.unknownAbout}</p>`;
  return sendIssuerPage(reply, { language, title: words.unknownTitle, main }, 404);
}
