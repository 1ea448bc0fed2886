/**
 * The card form's script: lets the network put its frames in place of our fields, and goes on when it has the card.
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

function start(form: HTMLFormElement): void {
  const words = JSON.parse(form.dataset.words ?? '{}') as Words;
  const status = document.querySelector<HTMLElement>('[data-card-status]');
  const fault = form.querySelector<HTMLElement>('#card-fault');
  const button = form.querySelector('button');
  const network = (window as WithNetwork).PaymentSession;
  const say = (text: string): void => {
    if (status !== null) status.textContent = text;
  };
  // The form may have ended at the network: a button opens another one.
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
  const complain = (text: string): void => {
    fault.textContent = text;
    fault.hidden = text === '';
    say('');
    ready(true);
  };
  const fail = (): void => {
    complain(words.failed);
    offerAnother();
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
        say('');
        ready(true);
      },
      formSessionUpdate: (update: FormUpdate) => {
        // Our own form has no card in it: it only says that the network has one.
        if (update.status === 'ok') return form.submit();
        if (update.status === 'fields_in_error') complain(faultIn(update, words));
        else fail();
        // The button was off meanwhile, and whoever had pressed it by keyboard would begin again at the top.
        if (document.activeElement === document.body) button.focus();
      },
    },
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ready(false);
    fault.hidden = true;
    say(words.checking);
    network.updateSessionFromForm('card');
  });
}

function faultIn({ errors = {} }: FormUpdate, words: Words): string {
  const found = [
    'cardNumber' in errors ? words.cardNumber : '',
    'expiryMonth' in errors || 'expiryYear' in errors ? words.expiry : '',
    'securityCode' in errors ? words.securityCode : '',
  ];
  return found.filter((text) => text !== '').join(' ') || words.failed;
}

const form = document.querySelector<HTMLFormElement>('form[data-card]');
if (form !== null) start(form);
