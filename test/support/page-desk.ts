/**
 * A real browser's windows on the hosted page: a world, a merchant whose customers pay a fee, and the demands on every page.
 *
 * Invariant: a complaint in a window fails its test, unless the test provokes it.
 */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { findBarriers, openBrowser, openWindow, type Watched, type WINDOWS, type WindowOptions } from './browser.ts';
import { setSettings } from './checkout-flows.ts';
import { addAccount } from './transfer-flows.ts';
import { openWorld, type World } from './world.ts';

export interface PageDesk {
  readonly world: World;
  readonly merchant: MerchantCreated;
  open(window: keyof typeof WINDOWS, url: string, options?: WindowOptions): Promise<Page>;
  /** Excuses the complaints that the current test provokes. */
  excuse(complaints: RegExp): void;
  /** Closes the windows of a test; they must have no complaints. */
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

/** Expects the page to be accessible to everyone, and not to scroll sideways. */
export async function expectUsable(page: Page): Promise<void> {
  expect(await page.locator('h1').count()).toBe(1);
  expect(await findBarriers(page)).toEqual([]);
  const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  expect(wide, 'nothing has to be scrolled sideways').toBe(false);
}

/** A promise that is pending until `end` is called. */
export function holdBack(): { readonly over: Promise<void>; end(): void } {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end: () => end() };
}
