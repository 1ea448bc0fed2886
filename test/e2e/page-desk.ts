/**
 * Windows of a real browser on the hosted page: a world, a merchant whose customers pay a fee, and what every page has to be.
 *
 * Invariant: what a window complains about fails its test, but for what the test provokes.
 */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setSettings } from '../api/checkout-flows.ts';
import { addAccount } from '../api/transfer-flows.ts';
import {
  findBarriers,
  openBrowser,
  openWindow,
  type Watched,
  type WINDOWS,
  type WindowOptions,
} from '../support/browser.ts';
import { openWorld, type World } from '../support/world.ts';

export interface PageDesk {
  readonly world: World;
  readonly merchant: MerchantCreated;
  open(window: keyof typeof WINDOWS, url: string, options?: WindowOptions): Promise<Page>;
  /** What the test under way provokes. */
  excuse(complaints: RegExp): void;
  /** Closes the windows of a test; they must not have complained. */
  endTest(): Promise<void>;
  close(): Promise<void>;
}

export async function openPageDesk(browserPath: string): Promise<PageDesk> {
  const world = await openWorld();
  const merchant = await world.merchant();
  await addAccount(world, merchant);
  await setSettings(world, merchant, { fees: [{ currency: 'usd', rate_ppm: 20_000 }] });
  const browser = await openBrowser(browserPath);
  let windows: Watched[] = [];
  let excused: RegExp | undefined;
  return {
    world,
    merchant,
    async open(window, url, options = {}) {
      const watched = await openWindow(browser, window, world.url, options);
      windows.push(watched);
      await watched.page.goto(url);
      return watched.page;
    },
    excuse: (complaints) => {
      excused = complaints;
    },
    async endTest() {
      const complaints = windows.flatMap((one) => one.complaints).filter((text) => excused?.test(text) !== true);
      excused = undefined;
      await Promise.all(windows.map((watched) => watched.close()));
      windows = [];
      expect(complaints).toEqual([]);
    },
    async close() {
      await browser.close();
      await world.close();
    },
  };
}

/** Everyone can use the page, and nothing of it has to be scrolled sideways. */
export async function expectUsable(page: Page): Promise<void> {
  expect(await page.locator('h1').count()).toBe(1);
  expect(await findBarriers(page)).toEqual([]);
  const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  expect(wide, 'nothing has to be scrolled sideways').toBe(false);
}

/** Something that is held back until it is let go. */
export function holdBack(): { readonly over: Promise<void>; end(): void } {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end: () => end() };
}
