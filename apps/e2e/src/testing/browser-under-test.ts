import { readFile } from 'node:fs/promises';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { tempDir, type TempDir } from '@inquest/testing';

/** Debian's package. */
const CHROMIUM = '/usr/bin/chromium';
/** Tests run as root in containers, without a graphics card, and must ask nobody on the network. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Anything that the page does by itself, on a machine that is five times slower than usual. */
const PATIENCE_MS = 60_000;

/** One finding of axe: a rule of WCAG or of good practice that a page breaks. */
export interface AccessibilityFinding {
  readonly id: string;
  readonly targets: readonly string[];
}

/** Chromium with a fresh profile, and what it complained of. */
export class BrowserUnderTest {
  /** Errors and warnings of the console, failures of scripts, requests to any other host than the page's. */
  readonly complaints: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly profile: TempDir,
  ) {}

  static async open(origin: string): Promise<BrowserUnderTest> {
    const profile = await tempDir('chromium');
    const context = await chromium.launchPersistentContext(profile.path, {
      executablePath: CHROMIUM,
      // Playwright's own headless mode needs its own build of the browser.
      headless: false,
      args: ARGUMENTS,
      reducedMotion: 'reduce',
      viewport: { width: 1280, height: 900 },
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = context.pages()[0] ?? (await context.newPage());
    const browser = new BrowserUnderTest(page, context, profile);
    browser.listen(origin);
    return browser;
  }

  /** What axe finds on the page as it is. */
  async accessibilityFindings(): Promise<readonly AccessibilityFinding[]> {
    await this.page.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'));
    return this.page.evaluate(async () => {
      const { axe } = globalThis as unknown as { readonly axe: Axe };
      const { violations } = await axe.run();
      return violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ target }) => target.join(' ')) }));
    });
  }

  /** How far the page reaches beyond the window, in CSS pixels. */
  sidewaysOverflowPx(): Promise<number> {
    // As a string, because the types of the tests know no document.
    return this.page.evaluate<number>(
      'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)',
    );
  }

  /** Closes it and removes its profile. */
  async close(): Promise<void> {
    await this.context.close();
    await this.profile.remove();
  }

  private listen(origin: string): void {
    this.page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text());
    });
    this.page.on('pageerror', (error) => this.complaints.push(error.message));
    this.page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) this.complaints.push(`asked ${request.url()}`);
    });
  }
}

/** The part of axe-core that is used here. */
interface Axe {
  run(): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly target: readonly string[] }[];
    }[];
  }>;
}
