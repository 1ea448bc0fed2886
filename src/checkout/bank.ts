/**
 * Bank transfers: the choice of an account, what to transfer where, and the form for the proof.
 *
 * Invariant: one value per line, and what is copied is what a bank's own field takes, however it is shown.
 */

import { MAX_PROOF_BYTES } from '../domain/file-type.ts';
import { formatMinor } from '../domain/money.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import { type Html, html, type Piece } from '../messages/html.ts';
import { joinSentences } from '../messages/messages.ts';
import {
  about,
  faultLine,
  moment,
  money,
  noticeOf,
  pathOf,
  returnLink,
  type Shown,
  text,
  textAround,
} from './shown.ts';

/** Radio buttons, one per account; a single account is selected already. */
export function accountChoice(shown: Shown): Html {
  const { accounts } = shown.view;
  const fault = shown.faults.fields.account;
  const rows = accounts.map(
    ({ id, bank_name, account_number, account_name }, place) =>
      html`<label class="account"><input type="radio" name="account" value="${id}" required${accounts.length === 1 || shown.kept.account === id ? html` checked` : undefined}${fault !== undefined && place === 0 ? html` autofocus` : undefined}><span><strong>${bank_name}</strong> <span class="soft"><span class="isolated">${account_name}</span> · <span class="whole">${account_number}</span></span></span></label>`,
  );
  const invalid = html` role="radiogroup" aria-invalid="true" aria-describedby="account-fault"`;
  return html`<fieldset class="accounts"${fault === undefined ? undefined : invalid}><legend class="label">${text(shown, 'bank_choose')}</legend>${rows}${
    fault === undefined ? undefined : faultLine('account-fault', fault)
  }</fieldset>`;
}

/** An amount of more characters is broken in two on a narrow screen, in the usual type of a heading. */
const LONG_AMOUNT = 15;

/** The title: what to transfer, or, once money has come in another way, that nothing is to be paid. */
export function proofTitle(shown: Shown): string {
  const { payment, isPaidAside } = shown.view;
  return isPaidAside
    ? text(shown, 'paid_before')
    : text(shown, 'bank_title', { amount: money(shown, payment.total_minor) });
}

/** Waiting for the transfer: its facts, and below them the form for its proof. */
export function proofMain(shown: Shown): Html {
  const { payment } = shown.view;
  const fault = shown.faults.fields.file;
  const [before, after] = textAround(shown, 'proof_until', 'date');
  return html`<section class="card">${noticeOf(shown)}${request(shown)}
<h2>${text(shown, 'proof_title')}</h2><p class="soft">${before}${moment(shown, payment.expires_at)}${joinSentences(shown.language, after, text(shown, 'proof_later'))}</p>
<form method="post" action="${pathOf(shown, 'proof')}" enctype="multipart/form-data" data-once novalidate>
<div class="field"><label class="label" for="file">${text(shown, 'proof_file')}</label><input id="file" name="file" type="file" accept="image/jpeg,image/png,application/pdf" required data-most="${MAX_PROOF_BYTES}" data-large="${text(shown, 'file_large')}"${fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="file-fault" autofocus`}>${
    fault === undefined ? undefined : faultLine('file-fault', fault)
  }</div><button class="button">${text(shown, 'proof_send')}</button></form><p class="back">${returnLink(shown, 'quiet', { mayBePaid: true })}</p></section>`;
}

/**
 * What to transfer, and where; or, once money has come in another way, that nothing is to be paid. A customer who had made the
 * transfer before can still prove it.
 */
function request(shown: Shown): Html {
  const { accounts, isPaidAside, payment } = shown.view;
  const title = proofTitle(shown);
  if (isPaidAside) return html`<h1>${title}</h1>${about(shown)}`;
  const [account] = accounts;
  const isLong = money(shown, payment.total_minor).length > LONG_AMOUNT;
  return html`<h1>${isLong ? html`<span class="dense">${title}</span>` : title}</h1>
<p>${text(shown, 'bank_text')}</p>${account === undefined ? undefined : facts(shown, account)}`;
}

function facts(shown: Shown, account: BankAccount): Html {
  const { payment } = shown.view;
  // A bank's field takes digits and a decimal point, no currency sign and no spaces between thousands.
  const plain = formatMinor(payment.total_minor, payment.currency);
  return html`<dl class="facts">${fact(shown, text(shown, 'amount'), plain, money(shown, payment.total_minor))}
${fact(shown, text(shown, 'bank_name'), account.bank_name)}
${fact(shown, text(shown, 'bank_holder'), account.account_name)}
${fact(shown, text(shown, 'bank_number'), account.account_number)}
${account.iban === null ? undefined : fact(shown, 'IBAN', account.iban, groupedIban(account.iban))}
${account.swift === null ? undefined : fact(shown, 'SWIFT / BIC', account.swift)}
${account.branch_city === null ? undefined : fact(shown, text(shown, 'bank_city'), account.branch_city)}
${fact(shown, text(shown, 'bank_reference'), payment.customer_reference)}</dl><p class="hush" role="status" data-copy-status></p>`;
}

/** In groups of four, as banks print it; the gaps are drawn, so that nobody copies them. */
function groupedIban(iban: string): Html {
  const groups = iban.match(/.{1,4}/g) ?? [];
  return html`${groups.map((group, place) => html`${place === 0 ? undefined : html`<wbr>`}<span class="quad">${group}</span>`)}`;
}

/** A value, and a button that copies it, which a script makes visible. `written`: how the value is shown, if otherwise. */
function fact(shown: Shown, name: string, value: string, written: Piece = value): Piece {
  return html`<div><dt>${name}</dt><dd><span>${written}</span><button type="button" class="copy" data-copy="${value}" data-copied="${text(shown, 'copied')}" data-name="${name}" aria-label="${text(shown, 'copy')}: ${name}" hidden>${text(shown, 'copy')}</button></dd></div>`;
}
