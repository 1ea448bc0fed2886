/**
 * How a call to somebody who may not answer went: an upstream, or a merchant's receiver.
 */

export type CallOutcome =
  /** An answer came, whatever it said. */
  | 'answered'
  /** None came, or none that says what has become of the call. */
  | 'silent'
  /** Nothing was sent, or the silence is not to be blamed on whoever was called. */
  | 'not_called';
