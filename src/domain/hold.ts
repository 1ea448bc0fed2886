/**
 * The names of holds. While a connector is held, no payout and no refund is sent through it.
 *
 * Invariant: the same connector has the same name everywhere: in the settings, where its hold is stored, and in the journal.
 */

const PREFIX = 'hold:';
const CONNECTOR = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** The name of a connector's hold, under which it is stored. */
export function holdId(connector: string): string {
  return `${PREFIX}${connector}`;
}

/** Whether a text has the form of such a name. */
export function isHoldId(text: string): boolean {
  return text.startsWith(PREFIX) && CONNECTOR.test(text.slice(PREFIX.length));
}
