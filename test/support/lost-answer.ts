/**
 * Commits that take effect although their answer is lost, as when the connection to the database breaks.
 *
 * Invariant: the change has been committed before anybody is told that its outcome is unknown.
 */
import { CommitUnknown } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/store.ts';

/** The same dependencies, with a store that loses the answer of its first commit; `meanwhile` happens before its caller is told. */
export function losingAnswer<D extends { readonly store: Store }>(
  deps: D,
  meanwhile: () => Promise<unknown> = async () => undefined,
): D {
  let isLost = false;
  const commit: Store['commit'] = async (change) => {
    const outcome = await deps.store.commit(change);
    if (isLost) return outcome;
    isLost = true;
    await meanwhile();
    throw new CommitUnknown();
  };
  return { ...deps, store: { ...deps.store, commit } };
}
