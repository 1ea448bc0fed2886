/**
 * Types a card into the network's own frames on the hosted page, as its owner would.
 *
 * Invariant: the card is typed at the card network; nothing here reads it back.
 */
import type { Page } from 'playwright-core';
import type { World } from './world.ts';

const CARD = { cardNumber: '', securityCode: '123', expiryMonth: '05', expiryYear: '39' };

/** Types a card into the network's frames as soon as they have loaded, and submits it. */
export async function typeCard(page: Page, cardNumber: string): Promise<void> {
  await page.locator('form[data-card] button:enabled').waitFor();
  for (const [field, value] of Object.entries({ ...CARD, cardNumber })) {
    await page.frameLocator(`iframe[src*="field=${field}"]`).locator('input').fill(value);
  }
  await page.locator('form[data-card] button').click();
}

/** The origin of the card network's frames, which differs from that of the sandbox's pages. */
export function networkOrigin({ sandboxUrl }: Pick<World, 'sandboxUrl'>): string {
  return sandboxUrl.replace('127.0.0.1', 'localhost');
}
