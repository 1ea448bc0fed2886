/**
 * Posts the issuer's answer to the gateway at once.
 * Invariant: without this script, the page's button does the same.
 */
document.querySelector<HTMLFormElement>('form[data-post]')?.requestSubmit();
