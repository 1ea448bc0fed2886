/**
 * The virtual phone as a page: a handset that shows what carriers push, and beside it an explanation.
 * Invariant: everything shown works without script; the script only swaps the parts whose version changed.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js';
import { type Ending, endingOf, endings } from '../carriers/endings.ts';
import { html, type SafeHtml } from '../pages/html.ts';
import { formatAmount, formatClock, formatDay, type Language, languageNames, languages } from '../pages/languages.ts';
import type { Handset, Message, Prompt } from './phones.ts';
import { fill, type PhoneWords, phoneWords } from './words.ts';

/** What the page depends on. `hidden` holds the ids of prompts that the person chose to ignore. */
export type PhoneView = {
  readonly handset: Handset;
  readonly language: Language;
  readonly now: number;
  readonly hidden: readonly string[];
};

const carrierNames: Readonly<Record<string, string>> = { mtn: 'MTN MoMo' };

function carrierName(carrier: string): string {
  return carrierNames[carrier] ?? carrier.toUpperCase();
}

/** A number as people write it; with bare digits if its numbering plan is unknown. */
export function displayNumber(msisdn: string): string {
  return parsePhoneNumberFromString(`+${msisdn}`)?.formatInternational() ?? `+${msisdn}`;
}

function link(view: PhoneView, hidden: readonly string[]): string {
  const query = new URLSearchParams({ lang: view.language, ...(hidden.length > 0 ? { hide: hidden.join(',') } : {}) });
  return `/phone/${view.handset.msisdn}?${query}`;
}

function behaviourWords(words: PhoneWords, ending: Ending | undefined): string {
  return ending === undefined ? words.other : words.endings[ending];
}

/** The minutes and seconds left, in the format in which the script goes on counting. */
function timeLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Enter presses a form's first button: that is a hidden Approve, so that Reject can be shown first without Enter rejecting. */
function pinForm(view: PhoneView, words: PhoneWords, prompt: Prompt): SafeHtml {
  const boxes = [1, 2, 3, 4].map(
    (
      n,
    ) => html`<input name="pin" type="password" inputmode="numeric" pattern="[0-9]" maxlength="1" autocomplete="off" required
      aria-label="${fill(words.pinDigit, { n })}"${prompt.wrong_pins > 0 && html` aria-invalid="true" aria-describedby="pin-error"`}>`,
  );
  const action = `/phone/${view.handset.msisdn}/prompts/${encodeURIComponent(prompt.id)}?lang=${view.language}`;
  return html`<form method="post" action="${action}" data-answer>
    <button class="hush" name="answer" value="approve" tabindex="-1" aria-hidden="true">${words.approve}</button>
    <fieldset class="pin"><legend>${words.pin}</legend><div class="boxes">${boxes}</div></fieldset>
    ${prompt.wrong_pins > 0 && html`<p class="wrong" id="pin-error" role="alert">${fill(words.wrongPin, { left: 3 - prompt.wrong_pins })}</p>`}
    <div class="choice">
      <button class="quiet" name="answer" value="reject" formnovalidate>${words.reject}</button>
      <button class="main" name="answer" value="approve">${words.approve}</button>
    </div>
    <a class="ignore" href="${link(view, [...view.hidden, prompt.id])}" data-hide="${prompt.id}">${words.ignore}</a>
  </form>`;
}

/** An amount of more characters is wider than the handset, in the usual type. */
const LONG_AMOUNT = 14;

function sheet(view: PhoneView, words: PhoneWords, prompt: Prompt): SafeHtml {
  const merchant = prompt.merchant === '' ? '—' : prompt.merchant;
  const left = timeLeft(prompt.expires_at - view.now);
  const amount = formatAmount(view.language, prompt.amount, prompt.currency);
  return html`<div class="sheet ${prompt.carrier}${prompt.wrong_pins > 0 && ' still'}">
    <div class="sheet-top"><span class="carrier">${carrierName(prompt.carrier)}</span>
      <span class="left"><span class="hush">${words.expiresIn} </span><span data-until="${prompt.expires_at}">${left}</span></span></div>
    <p class="pay-to">${words.payTo} <strong>${merchant}</strong></p>
    <p class="amount${amount.length > LONG_AMOUNT && ' long'}">${amount}</p>
    ${prompt.text !== '' && html`<p class="about">${prompt.text}</p>`}
    ${
      prompt.decides_by_itself
        ? html`<p class="self">${words.byItself} ${behaviourWords(words, endingOf(view.handset.msisdn))}.</p>`
        : pinForm(view, words, prompt)
    }
  </div>`;
}

function notification(view: PhoneView, words: PhoneWords, message: Message): SafeHtml {
  const { received, code } = message;
  const from = received === null ? 'Mbongo' : carrierName(received.carrier);
  return html`<li class="note"><div class="note-top"><strong>${from}</strong><time datetime="${new Date(message.at).toISOString()}">${formatClock(view.language, message.at)}</time></div>
    ${
      received === null
        ? html`<p>${message.text}</p>`
        : html`<p>${fill(words.received, { amount: formatAmount(view.language, received.amount, received.currency) })}</p>
    ${received.note !== '' && html`<p>${received.note}</p>`}`
    }
    ${code !== null && html`<button class="copy" type="button" data-copy="${code}" data-copied="${words.copied}">${fill(words.copy, { code: `${code.slice(0, 3)}\u00a0${code.slice(3)}` })}</button>`}</li>`;
}

function historyList(view: PhoneView, words: PhoneWords, prompts: readonly Prompt[]): SafeHtml {
  const lines = prompts.map(
    (prompt) => html`<li><span class="who">${prompt.merchant === '' ? '—' : prompt.merchant}</span>
      <span class="sum">${formatAmount(view.language, prompt.amount, prompt.currency)}</span>
      <span class="state ${prompt.status}">${words.status[prompt.status]}</span>
      <time datetime="${new Date(prompt.at).toISOString()}">${formatClock(view.language, prompt.at)}</time></li>`,
  );
  return html`<h2>${words.history}</h2><ol class="past">${lines}</ol>`;
}

type Part = { readonly name: string; readonly version: string; readonly content: SafeHtml };

function part({ name, version, content }: Part): SafeHtml {
  return html`<div data-part="${name}" data-version="${version}">${content}</div>`;
}

/** The content of the screen; the live script fetches it again after every change. */
export function phoneScreen(view: PhoneView): SafeHtml {
  const { handset, language, now, hidden } = view;
  const words = phoneWords[language];
  const pending = handset.prompts.filter((prompt) => prompt.status === 'pending' && prompt.expires_at > now);
  const shown = pending.find((prompt) => !hidden.includes(prompt.id));
  // A prompt fills the screen; past ones are shown only when it has been answered.
  const past = shown === undefined ? handset.prompts.filter((prompt) => prompt.status !== 'pending').slice(0, 5) : [];
  const notes = handset.messages.slice(0, shown === undefined ? 3 : 1);
  const idle = past.length === 0 && shown === undefined && notes.length === 0;
  const clock = formatClock(language, now);
  const day = formatDay(language, now);
  const announced =
    shown === undefined
      ? ((past[0] && `${past[0].merchant}: ${words.status[past[0].status]}`) ?? '')
      : fill(words.newPrompt, {
          merchant: shown.merchant,
          amount: formatAmount(language, shown.amount, shown.currency),
        });
  const again = shown === undefined && pending.length > 0;
  return html`<div class="glass${shown !== undefined && ' lit'}" data-screen>
    ${part({ name: 'bar', version: language, content: html`<div class="bar"><span>Mbongo 4G</span><span>${displayNumber(handset.msisdn)}</span></div>` })}
    ${part({ name: 'clock', version: `${clock}${day}`, content: html`<p class="clock">${clock}</p><p class="day">${day}</p>` })}
    ${part({
      name: 'notes',
      version: `${notes.length}${notes.map((note) => note.at).join()}`,
      content: html`<ul class="notes">${notes.map((note) => notification(view, words, note))}</ul>`,
    })}
    ${part({
      name: 'past',
      version: `${idle}${past.map((prompt) => prompt.id + prompt.status).join()}`,
      content: html`${past.length > 0 && historyList(view, words, past)}${idle && html`<p class="idle">${words.idle}</p>`}`,
    })}
    ${part({
      name: 'sheet',
      version: shown === undefined ? `none${again}` : `${shown.id}${shown.wrong_pins}`,
      content: html`${shown && sheet(view, words, shown)}${again && html`<a class="again" href="${link(view, [])}" data-show>${words.showAgain}</a>`}`,
    })}
    <p class="hush" role="status" aria-live="polite" data-announce>${announced}</p>
  </div>`;
}

function numbersTable(words: PhoneWords): SafeHtml {
  return html`<table class="numbers"><thead><tr><th scope="col">${words.ending}</th><th scope="col">${words.behaviour}</th></tr></thead>
    <tbody>${endings.map((ending) => html`<tr><th scope="row">… ${ending}</th><td>${words.endings[ending]}</td></tr>`)}
    <tr><th scope="row" class="other">${words.anyOther}</th><td>${words.other}</td></tr></tbody></table>`;
}

/** Links to the same page in each language. */
export function languageLinks(current: Language, label: string): SafeHtml {
  const links = languages.map(
    (one) =>
      html`<a href="?lang=${one}" lang="${one}" hreflang="${one}" title="${languageNames[one]}"${one === current && html` aria-current="true"`}>${one === 'zh' ? '中文' : one.toUpperCase()}</a>`,
  );
  return html`<nav class="languages" aria-label="${label}">${links}</nav>`;
}

export function phoneMain(view: PhoneView): SafeHtml {
  const words = phoneWords[view.language];
  const { msisdn } = view.handset;
  const query = new URL(link(view, view.hidden), 'http://phone').search;
  return html`<div class="stage">
    <section class="intro"><h1>${words.title}</h1><p>${words.about} ${words.pinIs} <code>0000</code>.</p></section>
    <section class="handset" aria-label="${displayNumber(msisdn)}" data-live="/phone/${msisdn}/screen${query}" data-events="/phone/${msisdn}/events">
      ${phoneScreen(view)}
      <p class="offline" role="status" data-offline="${words.offline}"></p>
    </section>
    <section class="tries"><h2>${words.tryTitle}</h2><ul>${words.tries.map((one) => html`<li>${one}</li>`)}</ul>
      <form class="open" method="get" action="/phone"><label for="number">${words.anotherNumber}</label>
        <input type="hidden" name="lang" value="${view.language}">
        <span class="row"><input id="number" name="number" type="tel" autocomplete="off" value="${displayNumber(msisdn)}" required><button class="quiet">${words.open}</button></span></form>
      <p class="noscript"><a href="${link(view, view.hidden)}">${words.refresh}</a></p></section>
    <section class="table"><h2>${words.numbersTitle}</h2>${numbersTable(words)}</section>
  </div>`;
}
