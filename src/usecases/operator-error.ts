/**
 * How an operator's command is refused.
 *
 * Invariant: the message is one English sentence that says what to do, and holds no secret.
 */

/** A command was not carried out. The message is one English sentence that says what to do; it holds no secret. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

/**
 * A command was used wrongly: it could not be carried out whatever the database holds, because an option has an invalid value,
 * or an option that it needs is missing. The exit status says so (docs/operating.md).
 */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}
