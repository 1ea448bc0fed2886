/**
 * The customers' handsets: the prompts that carriers push, the messages that arrive, and what the owners answered.
 * Invariant: a prompt leaves `pending` once and never changes afterwards; memory is bounded by phones and by entries per phone.
 */
import { createWatchers } from '../watchers.ts';
import type { World } from '../world.ts';

export type PromptStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'failed';

/** A carrier's question on a handset. Times are milliseconds since the epoch; `amount` is decimal text. */
export type Prompt = {
  readonly id: string;
  readonly carrier: string;
  readonly msisdn: string;
  readonly amount: string;
  readonly currency: string;
  readonly merchant: string;
  readonly text: string;
  readonly at: number;
  readonly expires_at: number;
  /** True if the number's ending decides (contract §11): then nobody may answer on the phone. */
  readonly decides_by_itself: boolean;
  readonly status: PromptStatus;
  readonly wrong_pins: number;
};

/** Money that came in without the owner's doing: a payout. `amount` is decimal text; `note` is what the sender wrote. */
export type Received = {
  readonly carrier: string;
  readonly amount: string;
  readonly currency: string;
  readonly note: string;
};

/** `received` is the payment that a carrier's message announces; null for texts from anybody else. */
export type Message = {
  readonly at: number;
  readonly text: string;
  readonly code: string | null;
  readonly received: Received | null;
};

/** The owner's answer, as reported to the carrier; `locked` means three wrong PINs. */
export type Verdict = 'approve' | 'reject' | 'locked';
export type NewPrompt = Omit<Prompt, 'status' | 'wrong_pins'>;

export type AnswerResult =
  | { readonly kind: 'answered'; readonly prompt: Prompt }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'already_answered' }
  | { readonly kind: 'decides_by_itself' }
  | { readonly kind: 'wrong_pin'; readonly left: number };

export type Handset = {
  readonly msisdn: string;
  /** Newest first. */
  readonly prompts: readonly Prompt[];
  /** Newest first. */
  readonly messages: readonly Message[];
};

export type Phones = {
  readonly push: (prompt: NewPrompt, onVerdict: (verdict: Verdict) => void) => void;
  /** The carrier's own decision about a prompt: it leaves `pending`. Unknown or answered prompts are left alone. */
  readonly settle: (msisdn: string, id: string, status: Exclude<PromptStatus, 'pending'>) => void;
  readonly answer: (msisdn: string, id: string, answer: 'approve' | 'reject', pin: string) => AnswerResult;
  readonly message: (msisdn: string, text: string) => void;
  /** The carrier's message that money has come in. */
  readonly receive: (msisdn: string, received: Received) => void;
  readonly read: (msisdn: string) => Handset;
  /** Calls `changed` after every change of that phone, until the returned function is called. */
  readonly watch: (msisdn: string, changed: () => void) => () => void;
  /** The phones that have had any activity, newest first. */
  readonly recent: (count: number) => Handset[];
};

const phonesKept = 2_000;
const promptsKept = 20;
const messagesKept = 20;
const pinsAllowed = 3;
/** The PIN of every sandbox phone (contract §11). */
const rightPin = '0000';

/** 200 phones are forgotten at a time: finding a map's first key is expensive after many deletions at its front. */
const forgottenAtOnce = 200;

type Slot = {
  readonly asked: NewPrompt;
  /** Cleared once the prompt has been decided: the listener need not be kept as long as the prompt. */
  onVerdict: ((verdict: Verdict) => void) | undefined;
  status: PromptStatus;
  wrong_pins: number;
};
type Phone = { slots: Slot[]; messages: Message[] };

function promptOf({ asked, status, wrong_pins }: Slot): Prompt {
  return { ...asked, status, wrong_pins };
}

/** The six-digit code in a message, even if it is written as two groups of three. */
export function codeIn(text: string): string | null {
  const whole = /(?<!\d)\d{6}(?!\d)/.exec(text);
  if (whole !== null) return whole[0];
  const grouped = /(?<!\d[\s\u00a0\u202f-]?)(\d{3})[\s\u00a0\u202f-](\d{3})(?![\s\u00a0\u202f-]?\d)/.exec(text);
  return grouped === null ? null : `${grouped[1]}${grouped[2]}`;
}

/** The digits of a number that may be written with `+`, blanks or dashes; undefined if it cannot be a phone number. */
export function digitsOf(msisdn: string): string | undefined {
  const digits = msisdn.replace(/^\+|[\s().-]/g, '');
  return /^\d{6,15}$/.test(digits) ? digits : undefined;
}

export function createPhones(world: World): Phones {
  const phones = new Map<string, Phone>();
  const { watch, changed } = createWatchers();

  const touch = (msisdn: string): Phone => {
    const phone = phones.get(msisdn) ?? { slots: [], messages: [] };
    // Deleting and setting again keeps the map in order of last use, so that the first key is the one to forget.
    phones.delete(msisdn);
    phones.set(msisdn, phone);
    if (phones.size >= phonesKept + forgottenAtOnce) forgetOldest();
    return phone;
  };
  const forgetOldest = () => {
    for (const oldest of phones.keys()) {
      if (phones.size <= phonesKept) break;
      phones.delete(oldest);
    }
  };
  const slotOf = (msisdn: string, id: string) => phones.get(msisdn)?.slots.find((slot) => slot.asked.id === id);
  /** Sets the final status; returns the listener, for the caller to call. */
  const finish = (slot: Slot, status: PromptStatus) => {
    const { onVerdict } = slot;
    slot.onVerdict = undefined;
    slot.status = status;
    changed(slot.asked.msisdn);
    return onVerdict;
  };
  const wrongPin = (slot: Slot): AnswerResult => {
    slot.wrong_pins += 1;
    if (slot.wrong_pins < pinsAllowed) {
      changed(slot.asked.msisdn);
    } else {
      finish(slot, 'failed')?.('locked');
    }
    return { kind: 'wrong_pin', left: pinsAllowed - slot.wrong_pins };
  };

  const read = (msisdn: string): Handset => {
    const phone = phones.get(msisdn);
    return { msisdn, prompts: phone?.slots.map(promptOf) ?? [], messages: phone?.messages ?? [] };
  };
  const arrive = (msisdn: string, message: Message) => {
    const phone = touch(msisdn);
    phone.messages.unshift(message);
    if (phone.messages.length > messagesKept) phone.messages.pop();
    changed(msisdn);
  };

  return {
    push: (asked, onVerdict) => {
      const phone = touch(asked.msisdn);
      phone.slots.unshift({ asked, onVerdict, status: 'pending', wrong_pins: 0 });
      if (phone.slots.length > promptsKept) phone.slots.pop();
      changed(asked.msisdn);
    },
    settle: (msisdn, id, status) => {
      const slot = slotOf(msisdn, id);
      if (slot !== undefined && slot.status === 'pending') finish(slot, status);
    },
    answer: (msisdn, id, answer, pin) => {
      const slot = slotOf(msisdn, id);
      if (slot === undefined) return { kind: 'unknown' };
      if (slot.status !== 'pending') return { kind: 'already_answered' };
      if (slot.asked.decides_by_itself) return { kind: 'decides_by_itself' };
      if (answer === 'approve' && pin !== rightPin) return wrongPin(slot);
      finish(slot, answer === 'approve' ? 'approved' : 'rejected')?.(answer);
      return { kind: 'answered', prompt: promptOf(slot) };
    },
    message: (msisdn, text) => arrive(msisdn, { at: world.now(), text, code: codeIn(text), received: null }),
    receive: (msisdn, received) => {
      const { amount, currency, note } = received;
      const text = `You have received ${amount} ${currency.toUpperCase()}. ${note}`.trim();
      arrive(msisdn, { at: world.now(), text, code: null, received });
    },
    read,
    watch,
    recent: (count) => {
      const newest = [...phones.keys()].slice(-count).reverse();
      return newest.map(read);
    },
  };
}
