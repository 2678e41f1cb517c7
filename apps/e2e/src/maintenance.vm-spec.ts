import { createHash } from 'node:crypto';
import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { defaultServices, startStack } from '@inquest/stack';
import { eventually, tempDir, type TempDir } from '@inquest/testing';
import { BrowserUnderTest } from './testing/browser-under-test';
import { confirmationScenes } from './testing/confirmation-scenes';
import { PlatformUnderTest } from './testing/platform-under-test';
import { IMPOSSIBLE_CHECK, recipesWithBrokenImage } from './testing/recipes-with-broken-image';

const REPOSITORY = path.resolve(__dirname, '../../..');
/** A build or a guest under emulation, on a machine that is five times slower than usual. */
const WORK_MS = 300_000;

/** The maintenance app as a person uses it: a real browser, the running services, real guests. In the order of a day. */
describe('the maintenance app', () => {
  let platform: PlatformUnderTest;
  let tools: TempDir;
  let url: string;
  let token: string;
  let browser: BrowserUnderTest;
  let page: Page;

  beforeAll(async () => {
    tools = await tempDir('tools');
    platform = await PlatformUnderTest.create('maintenance');
    url = await startWithTools(platform, await recipesWithBrokenImage(tools.path));
    token = (await readFile(platform.layout.token, 'utf8')).trim();
    browser = await BrowserUnderTest.open(url);
    page = browser.page;
  }, WORK_MS);
  afterAll(async () => {
    await browser?.close();
    await platform?.remove();
    await tools?.remove();
  }, 120_000);

  const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const card = (title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('link', { name: title, exact: true }) });

  it('asks for a token and says when it is not accepted', async () => {
    await page.goto(url);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The gateway does not accept this token').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    // The browser itself reports the refusal.
    expect(browser.complaints.splice(0).join()).toContain('401');
  });

  it('takes a token from the fragment, out of sight at once', async () => {
    await page.goto(`${url}/images#token=${token}`);
    await page.reload();
    await heading('Images').waitFor();
    expect(page.url()).toBe(`${url}/images`);
    expect(await page.evaluate('localStorage.length + document.cookie.length')).toBeLessThanOrEqual(1);
    expect(await page.evaluate("sessionStorage.getItem('inquest.token')")).toBe(token);
  });

  it(
    'builds an image from its recipe with the log as it comes',
    async () => {
      await page.getByRole('link', { name: 'tiny' }).click();
      await page.getByText('No version was built yet').waitFor();
      await button('Build a version').click();
      await button('Build it').click();
      await heading('Build tiny:1').waitFor();
      await page.getByText(/^Built in/).waitFor({ timeout: WORK_MS });
      expect(await page.getByRole('region', { name: 'Log of tiny:1' }).innerText()).toContain(
        'writing the file system',
      );
    },
    WORK_MS,
  );

  it(
    'freezes it: every check, the console of the smoke boot, the digest',
    async () => {
      await page.goto(`${url}/images/tiny`);
      await button('Freeze …').click();
      await button('Freeze it').click();
      await heading('Freeze tiny:1').waitFor();
      await page.getByText('the guest agent answers', { exact: true }).waitFor({ timeout: WORK_MS });
      await page.getByText(/^Proven and frozen in .*: smoke gate \d.*, template \d.*\.$/).waitFor({ timeout: WORK_MS });
      await page.getByText(/sha256:[0-9a-f]{64}/).waitFor();
      const checks = await page.locator('.check').allInnerTexts();
      expect(checks.filter((text) => text.startsWith('passed'))).toHaveLength(6);
      expect(checks.find((text) => text.includes('required CLI'))).toMatch(/^unchecked/);
      expect(await page.getByRole('region', { name: 'Output of the serial console' }).innerText()).toContain(
        'Power down',
      );
    },
    WORK_MS,
  );

  it(
    'shows which check a broken image failed, and that no session gets it',
    async () => {
      await page.goto(`${url}/images/broken`);
      await button('Build a version').click();
      await button('Build it').click();
      await page.getByText(/^Built in/).waitFor({ timeout: WORK_MS });
      await page.goto(`${url}/images/broken`);
      await button('Freeze …').click();
      await button('Freeze it').click();
      await page.getByRole('alert').getByText(`failed the check "${IMPOSSIBLE_CHECK}"`).waitFor({ timeout: WORK_MS });
      await page.getByText('IMAGE_SMOKE_FAILED').waitFor();
      await page.goto(`${url}/images/broken`);
      await card('broken:1').getByText('failed', { exact: true }).waitFor();
      await page.getByText('No version is frozen, so no session can use it yet').waitFor();
      expect(await button('Freeze …').count()).toBe(0);
      const { status, body } = await platform.request('/v1/machines', {
        method: 'POST',
        body: JSON.stringify({ image: 'broken' }),
      });
      expect([status, body['code']]).toEqual([409, 'IMAGE_NOT_FROZEN']);
    },
    WORK_MS,
  );

  it(
    'verifies a frozen version on demand',
    async () => {
      await page.goto(`${url}/images/tiny`);
      await button('Verify …').click();
      await button('Verify it').click();
      await page.getByText('Every file is as it was frozen').waitFor({ timeout: WORK_MS });
    },
    WORK_MS,
  );

  it(
    'starts a machine, says honestly when it was seen, and shows the verdict with its evidence on one time line',
    async () => {
      await page.goto(`${url}/machines`);
      await button('Start a machine').click();
      await page.getByLabel('Name').fill('by-hand');
      await button('Start it').click();
      await heading('by-hand').waitFor();
      await button('Power off').waitFor({ timeout: WORK_MS });
      await page.getByText(/^last seen \d+ s ago/).waitFor();
      await button('Power off').click();
      await button('Power it off').click();
      await page.locator('.verdict').getByText('clean poweroff').waitFor({ timeout: WORK_MS });
      const timeline = page.getByRole('list', { name: 'Time line of the evidence' });
      const decided = timeline.getByRole('listitem').filter({ hasText: 'decided the verdict' });
      await decided.filter({ hasText: 'SHUTDOWN' }).waitFor();
      const rows = (await timeline.getByRole('listitem').allInnerTexts()).join('\n');
      for (const seen of [
        'start asked for by',
        'RESUME',
        'guest agent answered',
        'shutdown asked for by gateway',
        'init stops',
      ]) {
        expect(rows).toContain(seen);
      }
      await page
        .getByRole('region', { name: 'Output of the serial console' })
        .locator('mark', { hasText: 'Power down' })
        .waitFor();
    },
    WORK_MS,
  );

  it(
    'opens a terminal in a machine: typed into, as large as its window, left by keyboard, and still there after a reload',
    async () => {
      const wanted = { image: 'tiny', name: 'typed-into' };
      const started = await platform.request('/v1/machines', { method: 'POST', body: JSON.stringify(wanted) });
      const machine = `${url}/machines/${String(started.body['machineId'])}`;
      await page.goto(machine);
      await button('Open a terminal').click({ timeout: WORK_MS });
      await heading('Terminal of typed-into').waitFor();
      await page.getByText('You are in control.').first().waitFor();
      const screen = page.getByRole('region', { name: 'Screen of typed-into' }).locator('.xterm-rows');
      await screen.getByText('root@typed-into').waitFor();
      await page.keyboard.type("printf 'orange: \\033[38;2;255;100;0mgl''ow\\033[0m\\n'\n");
      const glow = screen.getByText('glow', { exact: true });
      // Set as a property, which the browser puts into its own words: the page's policy forbids it as an attribute.
      expect(await glow.getAttribute('style')).toContain('rgb(255, 100, 0)');
      const { width = 0, height = 0 } = page.viewportSize() ?? {};
      await page.setViewportSize({ width: 360, height: 740 });
      await page.keyboard.type('until stty size | grep " 3.$"; do sleep 0.1; done\n');
      await screen.getByText(/^\d+ 3\d$/).waitFor();
      expect(await browser.accessibilityFindings()).toEqual([]);
      expect(await browser.sidewaysOverflowPx()).toBe(0);
      await page.setViewportSize({ width, height });
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string>('document.activeElement?.getAttribute("aria-label")')).toBe('Terminal input');
      await page.keyboard.press('Control+F6');
      await whenFocused(page, 'Back to the screen');
      await page.reload();
      await page.getByText('You are in control.').first().waitFor();
      await glow.waitFor();
      await page.goto(machine);
      await button('Open a terminal').click();
      await button('End it').click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'End it' }).click();
      await page.getByText('It has ended: it was closed.').first().waitFor();
      await platform.request('/v1/machines/typed-into', { method: 'DELETE' });
    },
    WORK_MS,
  );

  describe('while a model waits for a person', () => confirmationScenes(() => ({ platform, browser, url })));

  it(
    'shows the transcript of a session while it is written, then verdict, publication and closing census',
    async () => {
      const project = { project: 'browser', image: 'tiny' };
      const opened = await platform.request('/v1/sessions', { method: 'POST', body: JSON.stringify(project) });
      const sessionId = String(opened.body['sessionId']);
      await page.goto(`${url}/sessions`);
      await page.getByRole('link', { name: sessionId }).click();
      await heading(sessionId).waitFor();
      const section = page.getByRole('region', { name: 'Transcript' });
      await section.getByText('live', { exact: true }).waitFor({ timeout: WORK_MS });
      await page.locator('.page-title').getByText('ready').waitFor({ timeout: WORK_MS });
      await platform.request(`/v1/sessions/${sessionId}/runs`, {
        method: 'POST',
        body: JSON.stringify({ prompt: 'Print FizzBuzz.', closeWhenDone: true }),
      });
      await section.getByText('Print FizzBuzz.').waitFor();
      await section.getByText('refused', { exact: true }).waitFor({ timeout: WORK_MS });
      await page.getByText('closing census').waitFor({ timeout: WORK_MS });
      await section.getByText('complete', { exact: true }).waitFor();
      const census = page.getByRole('table', { name: 'Calls of each verb' });
      expect(await census.getByRole('row', { name: /^run/ }).innerText()).toMatch(/run\s+3\s+1\s+0\s+0/);
      await page.getByRole('region', { name: 'Verdict' }).getByText('clean poweroff').waitFor();
      await page.getByRole('region', { name: 'Publication' }).getByText('published', { exact: true }).waitFor();
    },
    WORK_MS,
  );

  it('shows what a publication held back, and the rule that held it', async () => {
    await page.goto(`${url}/publications`);
    await page.getByRole('list', { name: 'Publications' }).getByRole('link').first().click();
    const held = page.getByRole('region', { name: 'Held back' });
    await held.getByText('check_fizzbuzz.sh').waitFor();
    await held.getByText(/rule throwaway/).waitFor();
    await page.getByText('yes, its branch is this commit').waitFor();
  });

  it(
    'unfreezes an image with a reason, warns on every page, and a session is refused until it is frozen again',
    async () => {
      await page.goto(`${url}/images/tiny`);
      await card('tiny:1').getByRole('button', { name: 'Unfreeze …' }).click();
      await page.getByLabel('Reason').fill('a newer busybox');
      await button('Unfreeze it').click();
      await page.getByText(/^A working copy is open/).waitFor({ timeout: WORK_MS });
      await page.goto(`${url}/nodes`);
      const banner = page.getByRole('region', { name: 'An image is unfrozen' });
      await banner.getByText('Sessions that name no version of it are refused').waitFor();
      const refused = await platform.request('/v1/machines', {
        method: 'POST',
        body: JSON.stringify({ image: 'tiny' }),
      });
      expect([refused.status, refused.body['code']]).toEqual([409, 'IMAGE_UNFROZEN']);
      expect(refused.body['detail']).toContain('image tiny is unfrozen; freeze it in the maintenance app');
      await banner.getByRole('link', { name: 'tiny' }).click();
      await card('tiny:2').getByText('a newer busybox').waitFor();
      await card('tiny:2').getByRole('button', { name: 'Freeze …' }).click();
      await button('Freeze it').click();
      await page.getByText(/^Proven and frozen in/).waitFor({ timeout: WORK_MS });
      await banner.waitFor({ state: 'detached' });
      await page.goto(`${url}/images/tiny`);
      await page.getByText('Sessions get version 2.').waitFor();
    },
    WORK_MS,
  );

  it(
    'imports a disk: refuses one of the wrong digest in words, and makes a version of the right one with its progress',
    async () => {
      const disk = path.join(platform.home, 'images', 'tiny', '1', 'disk.raw');
      await page.goto(`${url}/images`);
      await page.getByRole('link', { name: 'Import an image …' }).click();
      await heading('Import an image').waitFor();
      expect(await button('Import it').isDisabled()).toBe(true);
      await page.getByLabel('Image', { exact: true }).fill('brought');
      await page.getByLabel('What it is').selectOption('ext4');
      await page.getByLabel('File').setInputFiles(disk);
      await page.getByLabel('sha256 digest').fill('0'.repeat(63));
      await page.keyboard.press('Tab');
      await page.getByText('Not 64 digits of a sha256').waitFor();
      await page.getByLabel('sha256 digest').fill('0'.repeat(64));
      await button('Import it').click();
      await page.getByRole('alert').getByText('IMAGE_SOURCE_DIGEST_WRONG').waitFor({ timeout: WORK_MS });
      // The browser itself reports the refusal.
      expect(browser.complaints.splice(0).join()).toContain('422');
      await page.getByLabel('sha256 digest').fill(`${await sha256Of(disk)}  disk.raw`);
      await button('Import it').click();
      await heading('Import brought:2').waitFor({ timeout: WORK_MS });
      await page.getByText(/^Imported in/).waitFor({ timeout: WORK_MS });
      await page.goto(`${url}/images/brought`);
      await card('brought:2').getByText('built', { exact: true }).waitFor();
      await card('brought:1').getByText('failed', { exact: true }).waitFor();
    },
    WORK_MS,
  );

  it('compares two versions, and says why a version cannot be retired', async () => {
    await page.goto(`${url}/images/tiny/versions/2`);
    await page.getByRole('region', { name: 'Use' }).getByText('a newer busybox').waitFor();
    await page.getByLabel('Compared with').selectOption('1');
    await page.getByRole('region', { name: 'Changes' }).locator('.changes, .absent').waitFor();
    await page.goto(`${url}/images/tiny`);
    await card('tiny:1').getByRole('button', { name: 'Retire …' }).click();
    await button('Retire it').click();
    await page.getByRole('alert').getByText('tiny:2').waitFor();
    await card('tiny:1').getByText('frozen', { exact: true }).waitFor();
  });

  it('says what to do when the gateway does not answer, keeps what it knew, and recovers by itself', async () => {
    await page.goto(`${url}/nodes`);
    await page.getByText('answers', { exact: true }).waitFor();
    await page.route('**/v1/nodes', (route) => route.abort());
    await page.getByRole('alert').getByText('Check with `vmctl status`').waitFor();
    await page.getByText('What follows is from').waitFor();
    expect(await page.getByText('Memory free').count()).toBe(1);
    await page.unroute('**/v1/nodes');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    browser.complaints.splice(0);
  });

  it('can be used by keyboard alone', async () => {
    await page.goto(`${url}/images/tiny`);
    await button('Build a version').waitFor();
    await page.keyboard.press('Tab');
    await whenFocused(page, 'Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await whenFocused(page, 'Images');
    await page.keyboard.press('Tab');
    await whenFocused(page, 'Build a version');
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog', { name: 'Build the next version of tiny?' }).waitFor();
    await whenFocused(page, 'Build it');
    await page.keyboard.press('Escape');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await whenFocused(page, 'Build a version');
    await page.getByRole('link', { name: 'Sessions' }).press('Enter');
    await heading('Sessions').waitFor();
    await whenFocused(page, 'Sessions');
  });

  it.each([
    ['1280 px, light', { width: 1280, height: 900 }, 'light'],
    ['360 px, dark', { width: 360, height: 740 }, 'dark'],
  ] as const)(
    'has no accessibility finding on any page at %s, and never scrolls sideways',
    async (_, size, colorScheme) => {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      const findings: Record<string, unknown> = {};
      for (const { route, shows } of await everyPage()) {
        await page.goto(url + route);
        await page.getByText(shows).first().waitFor();
        const current = await page
          .locator('.places [aria-current="page"], .places [aria-current="true"]')
          .allInnerTexts();
        expect([route, current]).toEqual([route, [placeOf(route)]]);
        const found = await browser.accessibilityFindings();
        const overflowPx = await browser.sidewaysOverflowPx();
        if (found.length > 0 || overflowPx > 0) findings[route] = { found, overflowPx };
      }
      expect(findings).toEqual({});
    },
    WORK_MS,
  );

  it('asks nobody but its gateway, and leaves no error in the console', () => {
    expect(browser.complaints).toEqual([]);
  });

  /** Each page with something that is only there once it has loaded. */
  async function everyPage(): Promise<readonly { readonly route: string; readonly shows: string | RegExp }[]> {
    const newest = async (list: string): Promise<Record<string, unknown>> => {
      const { body } = await platform.request(list);
      return (body['items'] as readonly Record<string, unknown>[])[0] ?? {};
    };
    const machine = String((await newest('/v1/machines?all=true'))['machineId']);
    const session = String((await newest('/v1/sessions'))['sessionId']);
    const publication = String((await newest('/v1/publications'))['publicationId']);
    return [
      { route: '/images', shows: 'Newest version' },
      { route: '/images/tiny', shows: 'tiny:1' },
      { route: '/images/tiny/versions/1', shows: /check passed/ },
      { route: '/import', shows: 'sha256 digest' },
      { route: '/machines', shows: 'by-hand' },
      { route: `/machines/${machine}`, shows: 'RESUME' },
      { route: '/sessions', shows: session },
      { route: `/sessions/${session}`, shows: 'closing census' },
      { route: '/publications', shows: publication },
      { route: `/publications/${publication}`, shows: 'check_fizzbuzz.sh' },
      { route: '/nodes', shows: 'Memory free' },
      { route: '/images/tiny/no/such/page', shows: 'No such page' },
    ];
  }
});

const sha256Of = async (file: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

/** The entry of the main navigation that a page belongs to. */
function placeOf(route: string): string {
  const first = route === '/import' ? 'images' : (route.split('/')[1] ?? '');
  return `${first.charAt(0).toUpperCase()}${first.slice(1)}`;
}

/** The text of what has the focus. */
const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement?.textContent ?? ""');

/** A dialog that opens or closes moves the focus a moment later. */
const whenFocused = (page: Page, text: string): Promise<void> =>
  eventually(async () => expect(await focused(page)).toBe(text));

/** Starts the platform with other recipes. The kernel is the one that other tests have fetched, where there is one. */
async function startWithTools(platform: PlatformUnderTest, tools: string): Promise<string> {
  const { home } = platform;
  await cp(path.join(REPOSITORY, '.inquest', 'boot-cache'), path.join(home, 'kernels'), { recursive: true }).catch(
    () => undefined,
  );
  const services = defaultServices({ repositoryRoot: REPOSITORY, model: null, scenario: null }).map((service) =>
    service.name === 'image-service'
      ? { ...service, env: { ...service.env, INQUEST_TOOLS_DIRECTORY: tools } }
      : service,
  );
  const state = await startStack({ home, declaration: { services, nodeId: 'local', pgBin: null } });
  return state.gatewayUrl ?? '';
}
