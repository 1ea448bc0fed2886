/**
 * The card form's script: lets the network put its frames in place of our fields, and submits the form when it has the card.
 *
 * Invariant: nothing of a card is ever read here. What the network tells us is that it has one, or which field is wrong.
 */

interface FormUpdate {
  readonly status: 'ok' | 'fields_in_error' | 'request_timeout' | 'system_error';
  readonly errors?: { readonly [field: string]: string };
}

interface PaymentSession {
  configure(settings: object): void;
  updateSessionFromForm(kind: 'card'): void;
  setFocus(field: string): void;
  /** Calls back with a field's selector, once its content was changed and the field left. */
  onChange(fields: readonly string[], callback: (selector: string) => void): void;
}

/** The network's script, once it has been loaded. */
type WithNetwork = Window & { readonly PaymentSession?: PaymentSession };

interface Words {
  readonly failed: string;
  readonly checking: string;
  readonly cardNumber: string;
  readonly expiry: string;
  readonly securityCode: string;
}

/** The fields, in their order: the network's name for a fault and for the field, our element's, and what is said. */
const FIELDS = [
  { error: 'cardNumber', field: 'card.number', id: 'number', word: 'cardNumber' },
  { error: 'expiryMonth', field: 'card.expiryMonth', id: 'expiry-month', word: 'expiry' },
  { error: 'expiryYear', field: 'card.expiryYear', id: 'expiry-year', word: 'expiry' },
  { error: 'securityCode', field: 'card.securityCode', id: 'security-code', word: 'securityCode' },
] as const satisfies readonly { readonly [fact: string]: string }[];

/** Milliseconds that the submitted form waits for its answer: a load that was stopped raises no event. Submitting again is safe. */
const MAX_SUBMIT_MS = 20_000;

function start(form: HTMLFormElement): void {
  const words = JSON.parse(form.dataset.words ?? '{}') as Words;
  const status = document.querySelector<HTMLElement>('[data-card-status]');
  const fault = form.querySelector<HTMLElement>('#card-fault');
  const button = form.querySelector('button');
  const network = (window as WithNetwork).PaymentSession;
  const say = (text: string): void => {
    if (status !== null) status.textContent = text;
  };
  // The form may have expired at the network: a button opens another one.
  const offerAnother = (): void => document.querySelector('[data-card-renewal]')?.removeAttribute('hidden');
  if (network === undefined || button === null || fault === null) {
    say(words.failed);
    offerAnother();
    return;
  }
  form.hidden = false;
  const ready = (isReady: boolean): void => {
    button.disabled = !isReady;
    button.toggleAttribute('aria-busy', !isReady);
  };
  /** The button can be pressed again: the form has been filled, or its submit has brought no other page. */
  const release = (): void => {
    say('');
    ready(true);
  };
  const complain = (place: Element, text: string): void => {
    const line = place.querySelector('span');
    if (line !== null) line.textContent = text;
    place.toggleAttribute('hidden', text === '');
    place.classList.remove('past');
  };
  const fail = (): void => {
    complain(fault, words.failed);
    release();
    offerAnother();
  };
  /** Shows a fault beside each wrong field, and focuses the first. Returns false if none of the fields is ours. */
  const complainOf = (errors: FormUpdate['errors'] = {}): boolean => {
    const wrong = FIELDS.filter(({ error }) => error in errors);
    // Month and year are one date: a fault of both is shown once.
    const said = wrong.filter(({ word }, at) => wrong.findIndex((one) => one.word === word) === at);
    for (const { id, word } of said) {
      const place = form.querySelector(`#card-${id}-fault`);
      if (place !== null) complain(place, words[word]);
    }
    const [first] = wrong;
    if (first === undefined) return false;
    release();
    // If the network's frame takes no focus, a keyboard user goes on from the button, and not from the top of the page.
    button.focus();
    network.setFocus(first.field);
    return true;
  };
  /**
   * Takes back what was said about a changed field, or about the date that it is a part of: it has not been checked. The line keeps
   * its room: a press of the button is what leaves the field, and the button must not move away from under it.
   */
  const forget = (selector: string): void => {
    const word = FIELDS.find(({ id }) => `#card-${id}` === selector)?.word;
    for (const { id } of FIELDS.filter((one) => one.word === word)) {
      form.querySelector(`#card-${id}-fault`)?.classList.add('past');
      form.querySelector(`#card-${id}`)?.removeAttribute('aria-invalid');
    }
  };
  network.configure({
    session: form.dataset.card,
    fields: {
      card: {
        number: '#card-number',
        expiryMonth: '#card-expiry-month',
        expiryYear: '#card-expiry-year',
        securityCode: '#card-security-code',
      },
    },
    frameEmbeddingMitigation: ['javascript'],
    callbacks: {
      initialized: ({ status: outcome }: { readonly status: string }) => {
        if (outcome !== 'ok') return fail();
        release();
        network.onChange(
          FIELDS.map(({ field }) => field),
          forget,
        );
      },
      formSessionUpdate: (update: FormUpdate) => {
        if (update.status === 'ok') {
          // Our own form has no card in it: it only says that the network has one.
          form.submit();
          setTimeout(release, MAX_SUBMIT_MS);
          return;
        }
        if (update.status === 'fields_in_error' && complainOf(update.errors)) return;
        fail();
        // The button was disabled meanwhile, and a keyboard user who had pressed it would begin again at the top.
        if (document.activeElement === document.body) button.focus();
      },
    },
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ready(false);
    for (const place of form.querySelectorAll('.fault')) complain(place, '');
    say(words.checking);
    network.updateSessionFromForm('card');
  });
  // Shown again from the browser's memory, the page is loaded anew, but only once the gateway answers.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) release();
  });
}

const form = document.querySelector<HTMLFormElement>('form[data-card]');
if (form !== null) start(form);
