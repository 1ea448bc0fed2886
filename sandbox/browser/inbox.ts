/**
 * The inbox page's script: new webhooks appear by themselves, and addresses are copied on click.
 * Invariant: the page shows the same without it, after a refresh.
 */
import { copyOnClick, goLive } from './live.ts';

goLive(() => undefined);
copyOnClick();
