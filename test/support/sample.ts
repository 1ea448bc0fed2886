/**
 * A call that succeeds, as data, so that walks of the route table can spoil it in one way.
 *
 * Invariant: it concerns only objects of its own, so that a walk's other calls do not change its answer.
 */

import type { Fields } from './flows.ts';

export interface Sample {
  readonly path: string;
  readonly bearer: string;
  readonly body?: Fields;
  /** The status it is answered with. */
  readonly answers: number;
  /** For POST: a body with a different meaning. */
  readonly otherBody?: Fields;
  /** For routes about an object: the same call about one that does not exist. */
  readonly unknown?: { readonly path: string; readonly body?: Fields };
  /** Consumes the calling session by a payment; undefined for the merchant's own calls. */
  consume?(): Promise<void>;
}
