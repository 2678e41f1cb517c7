import type { Page } from 'playwright-core';
import { eventually } from '@inquest/testing';
import type { BrowserUnderTest } from './browser-under-test';
import type { PlatformUnderTest } from './platform-under-test';

/** The maintenance app in a browser, and the platform behind it, with a frozen `tiny`. */
export interface AppUnderTest {
  readonly platform: PlatformUnderTest;
  readonly browser: BrowserUnderTest;
  readonly url: string;
}

/** A session with a machine of its own, on a machine that is five times slower than usual. */
const WORK_MS = 300_000;

/** What the app does while models wait for a person. Played within the suite that has the platform running. */
export function confirmationScenes(app: () => AppUnderTest): void {
  const page = (): Page => app().browser.page;
  const banner = () => page().getByRole('region', { name: 'Waiting for a person' });
  const press = (name: string) => banner().getByRole('button', { name, exact: true }).click();
  const ask = async (target: string, body: object): Promise<Record<string, unknown>> =>
    (await app().platform.request(target, { method: 'POST', body: JSON.stringify(body) })).body;
  /** A run of the variant that asks; gives its session. */
  const asking = async (project: string, confirm: object | null): Promise<string> => {
    const sessionId = String((await ask('/v1/sessions', { project, image: 'tiny' }))['sessionId']);
    await app().platform.request(`/v1/sessions/${sessionId}/wait?state=ready&state=failed&waitMs=50000`);
    const prompt = 'Tidy up, but ask me first.';
    await ask(`/v1/sessions/${sessionId}/runs`, { prompt, confirm, closeWhenDone: true });
    return sessionId;
  };
  const confirmationOf = async (sessionId: string, state: string): Promise<Record<string, unknown>> => {
    const { body } = await app().platform.request(`/v1/confirmations?state=${state}`);
    const found = (body['items'] as Record<string, unknown>[]).find((one) => one['sessionId'] === sessionId);
    if (found === undefined) throw new Error(`session ${sessionId} has no confirmation that is ${state}`);
    return found;
  };

  /** Waits until what has the focus is called so. */
  const whenFocused = (name: string): Promise<void> =>
    eventually(async () => {
      const focused = page().locator(':focus');
      expect([await focused.getAttribute('aria-label'), await focused.innerText(), await labelOf()]).toContain(name);
    });
  const labelOf = (): Promise<string> =>
    page().evaluate<string>('document.activeElement?.labels?.[0]?.textContent ?? ""');

  it(
    'shows the question of a model on every page, announces it, and takes neither the focus nor what is being typed',
    async () => {
      await page().goto(`${app().url}/import`);
      await page().getByLabel('Image', { exact: true }).fill('half-typed');
      await asking('asker', { verbs: [], commands: ['rm -rf'] });
      await banner().getByText('What shall become of them?').waitFor({ timeout: WORK_MS });
      expect(await page().evaluate<string>('document.activeElement?.value')).toBe('half-typed');
      expect(await page().getByRole('alert').innerText()).toMatch(/in project asker: The directory "old"/);
      await banner()
        .getByText(/^asked \d+ s ago, \d+ min left$/)
        .waitFor();
      for (const place of ['Nodes', 'Sessions']) {
        await page().getByRole('navigation', { name: 'Main' }).getByRole('link', { name: place }).click();
        await banner().getByText('Project asker').waitFor();
      }
    },
    WORK_MS,
  );

  it.each([
    ['1280 px, light', { width: 1280, height: 900 }, 'light'],
    ['360 px, dark', { width: 360, height: 740 }, 'dark'],
  ] as const)(
    'has no accessibility finding while it asks at %s, with its buttons in sight',
    async (_, size, scheme) => {
      await page().setViewportSize(size);
      await page().emulateMedia({ colorScheme: scheme });
      await eventually(async () => expect(await app().browser.accessibilityFindings()).toEqual([]));
      expect(await app().browser.sidewaysOverflowPx()).toBe(0);
      for (const name of ['Approve', 'Deny']) {
        const box = await banner().getByRole('button', { name, exact: true }).boundingBox();
        expect((box?.y ?? 0) + (box?.height ?? Infinity)).toBeLessThan(size.height);
      }
    },
  );

  it('can be answered by keyboard alone, and the focus goes on to the page', async () => {
    await page().setViewportSize({ width: 1280, height: 900 });
    await page().emulateMedia({ colorScheme: 'light' });
    expect(await banner().getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await eventually(() => banner().getByRole('button', { name: 'Deny' }).isEnabled());
    const choice = banner().getByRole('radio', { name: 'Remove all of them' });
    await choice.focus();
    await page().keyboard.press('Space');
    await eventually(() => choice.isChecked());
    await page().keyboard.press('Tab');
    await whenFocused('Reason (the model is told)');
    await page().keyboard.type('go ahead');
    await page().keyboard.press('Tab');
    await whenFocused('Approve');
    await page().keyboard.press('Enter');
    // The scenario then wants to run what the run's policy marks.
    await banner().getByText('command:').waitFor({ timeout: WORK_MS });
    expect(await banner().getByRole('region').innerText()).toMatch(/^command:\n {2}cd .*\n {2}rm -rf old/);
    await eventually(async () => expect(await page().locator(':focus').getAttribute('id')).toBe('main'));
    const { body } = await app().platform.request('/v1/confirmations?state=approved');
    expect(body['items']).toMatchObject([{ choice: 'Remove all of them', reason: 'go ahead', project: 'asker' }]);
  }, 120_000);

  it(
    'counts several, steps through them, and takes one away with the focus on it as soon as it was answered elsewhere',
    async () => {
      const other = await asking('other', null);
      await banner().getByText('2 questions wait').waitFor({ timeout: WORK_MS });
      // A new one does not take the place of the one that is being read.
      await banner().getByText('1 of 2').waitFor();
      await banner().getByText('Project asker').waitFor();
      await press('Next question');
      await banner().getByText('Project other').waitFor();
      await banner().getByLabel('Reason (the model is told)').fill('half-typed');
      // What goes now is told by events alone.
      await page().route('**/v1/confirmations?*', (route) => route.abort());
      const open = await confirmationOf(other, 'open');
      const { runId, callId, argumentsDigest } = open;
      const bound = { runId, callId, argumentsDigest };
      const target = `/v1/confirmations/${String(open['confirmationId'])}/answer`;
      const reason = 'nothing may go';
      expect(await ask(target, { ...bound, decision: 'deny', reason })).toMatchObject({
        state: 'denied',
        by: 'gateway',
      });
      await banner().getByText('1 question waits').waitFor();
      await banner().getByText('Project asker').waitFor();
      await whenFocused('Waiting for a person');
      await page().unroute('**/v1/confirmations?*');
      const { complaints } = app().browser;
      complaints.splice(0, Infinity, ...complaints.filter((one) => !one.includes('ERR_FAILED')));
    },
    WORK_MS,
  );

  it(
    'denies with a reason that the model is told, and disappears when nobody waits any more',
    async () => {
      await page().getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' }).click();
      await banner().getByRole('link', { name: /^ses-/ }).click();
      await press('Fold');
      expect(await banner().getByRole('button', { name: 'Deny' }).count()).toBe(0);
      await press('Show');
      await banner().getByLabel('Reason (the model is told)').fill('keep them after all');
      await press('Deny');
      await banner().waitFor({ state: 'detached' });
      const transcript = page().getByRole('region', { name: 'Transcript' });
      await transcript.getByText('keep them after all').first().waitFor();
      await transcript.getByText('refused', { exact: true }).waitFor({ timeout: WORK_MS });
      await page().getByText('closing census').waitFor({ timeout: WORK_MS });
    },
    WORK_MS,
  );
}
