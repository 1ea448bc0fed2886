/**
 * A headless browser for the tests of pages: Chromium, its headless shell or Chrome, if this machine has one.
 *
 * Invariant: whatever a page complains about is kept: errors in its console, what its policy blocked, what could not be
 * loaded, and requests to any other origin.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type axe from 'axe-core';
import { type Browser, chromium, type Frame, type Page } from 'playwright-core';

/** The headless shell first: the same browser without its desktop parts takes two thirds of the CPU time. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Makes the browser log what its policy blocked: that is an event, besides a line in the console. */
const TELL_WHAT_IS_BLOCKED = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' blocked ' + event.blockedURI);
});`;

/** Path of a browser: CHROME_PATH, or one of the usual places; undefined if there is none. */
export function findBrowser(): string | undefined {
  const given = process.env.CHROME_PATH;
  return [...(given === undefined || given === '' ? [] : [given]), ...PLACES].find((path) => existsSync(path));
}

/**
 * Reports conspicuously what a run leaves out because this machine has no browser, and returns whether it may: on a build
 * server (CI=true) it may not.
 */
export function mayLeaveOut(what: string): boolean {
  const left = `LEFT OUT: ${what}, because no Chromium or Chrome was found.`;
  const line = '*'.repeat(left.length);
  process.stderr.write(`\n${line}\n${left}\nInstall one, or set CHROME_PATH.\n${line}\n\n`);
  return process.env.CI !== 'true';
}

export function openBrowser(executablePath: string): Promise<Browser> {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({
    executablePath,
    args: [
      ...asRoot,
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

/** 120 000 ms at most for a page: a limit for what never comes, far beyond what a slow machine takes. */
const PATIENCE_MS = 120_000;

export interface Watched {
  readonly page: Page;
  /** What the page has complained about so far. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export const WINDOWS = {
  narrow: { width: 320, height: 740 },
  small: { width: 360, height: 740 },
  phone: { width: 390, height: 844 },
  wide: { width: 1100, height: 760 },
  desktop: { width: 1280, height: 900 },
} as const;

/** How a window differs from the default one. */
export interface WindowOptions {
  readonly locale?: string;
  readonly javaScriptEnabled?: boolean;
  readonly colorScheme?: 'light' | 'dark';
  /** Other origins that it may contact. */
  readonly also?: readonly string[];
}

/** A fresh window, in English, that may only contact `origin`. */
export async function openWindow(
  browser: Browser,
  window: keyof typeof WINDOWS,
  origin: string,
  options: WindowOptions = {},
): Promise<Watched> {
  const { also = [], locale = 'en-GB', javaScriptEnabled = true, colorScheme = 'light' } = options;
  const context = await browser.newContext({
    viewport: WINDOWS[window],
    locale,
    javaScriptEnabled,
    colorScheme,
    reducedMotion: 'reduce',
    ...((window === 'phone' || window === 'small') && { hasTouch: true, isMobile: true }),
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (![origin, ...also].includes(new URL(request.url()).origin)) complaints.push(`request to ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} for ${response.url()}`);
  });
  await page.addInitScript({ content: TELL_WHAT_IS_BLOCKED });
  return { page, complaints, close: () => context.close() };
}

/** Saves a screenshot of the whole page for a person to look at, if PICTURES names a folder. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES ?? '';
  if (folder !== '') await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** The checker of accessibility, made small: it is sent to each document. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Brings the checker into a document, once. It comes from outside the page, which the page's policy does not forbid. */
export async function bringAxe(document: Page | Frame): Promise<void> {
  if (!(await document.evaluate<boolean>("'axe' in window"))) await document.evaluate(AXE);
}

/**
 * The page's accessibility violations in both colour schemes, one line each. Frames are left out: they belong to other
 * origins, which a script of this one cannot see into.
 */
export async function findBarriers(page: Page): Promise<string[]> {
  const findings: string[] = [];
  await bringAxe(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // In dark mode only the colours differ. Passed checks are not reported, since they are the majority.
    const rules = colorScheme === 'light' ? '' : "runOnly: ['color-contrast', 'link-in-text-block'],";
    const options = `{ ${rules} iframes: false, preload: false, resultTypes: ['violations'] }`;
    const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${options})`);
    for (const { id, help, nodes } of violations) {
      findings.push(`${colorScheme}: ${id}, ${help}: ${nodes[0]?.html} ${nodes[0]?.failureSummary ?? ''}`);
    }
  }
  return findings;
}
