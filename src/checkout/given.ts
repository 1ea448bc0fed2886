/**
 * A number that the shop has given: offered first, and masked, beside the field for another one.
 *
 * Invariant: the radio button decides which of the two numbers pays, with a script and without; the number itself never travels
 * to the browser.
 */

import { type Html, html, type Piece } from '../messages/html.ts';
import { faultLine, type Shown, text } from './shown.ts';

/** The form's word for the number that the shop has given; its field is `source`. */
export const GIVEN = 'given';

interface Choice {
  /** The method whose form it is. */
  readonly method: string;
  /** The number as it may be shown. */
  readonly masked: string;
  readonly help?: string;
  /** The fault of the number that was sent. */
  readonly fault: string | undefined;
  /** The field for another number; `fault` only if that number was at fault. */
  other(fault: string | undefined): Piece;
}

/** Two radio buttons, the given number's selected unless another one was typed before. */
export function givenOrOther(shown: Shown, { method, masked, help, fault, other }: Choice): Html {
  const isOther = shown.kept.method === method && shown.kept.source === 'other';
  const id = (source: string): string => `${method}-${source}`;
  const wrong = isOther ? undefined : fault;
  const invalid = html` role="radiogroup" aria-invalid="true" aria-describedby="${id('given-fault')}"`;
  return html`<fieldset class="sources"${wrong === undefined ? undefined : invalid}><legend class="label">${text(shown, 'which_number')}</legend>
<div class="source"><input type="radio" id="${id(GIVEN)}" name="source" value="${GIVEN}"${isOther ? undefined : html` checked`}${wrong === undefined ? undefined : html` autofocus`}><label class="source-label" for="${id(GIVEN)}"><strong>${masked}</strong>${help === undefined ? undefined : html` <span class="soft">${help}</span>`}</label></div>
${wrong === undefined ? undefined : faultLine(id('given-fault'), wrong)}
<div class="source"><input type="radio" id="${id('other')}" name="source" value="other"${isOther ? html` checked` : undefined}><label class="source-label" for="${id('other')}">${text(shown, 'other_number')}</label>
<div class="typed">${other(isOther ? fault : undefined)}</div></div></fieldset>`;
}
