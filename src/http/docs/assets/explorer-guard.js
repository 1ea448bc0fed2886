/**
 * Runs before the explorer's library: tells it that no code is made out of text here.
 *
 * Invariant: the policy forbids it anyway. The library only tries whether it may, and each try would be reported as an
 * attack; it takes this refusal for the policy's.
 */
globalThis.Function = new Proxy(Function, {
  construct() {
    throw new EvalError('no code is made out of text on this page');
  },
});
