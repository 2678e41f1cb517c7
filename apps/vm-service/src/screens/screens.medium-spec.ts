import { readFile } from 'node:fs/promises';
import { dto } from '@inquest/contracts-base';
import {
  ClickRequest,
  IncarnationRequest,
  PressKeysRequest,
  ScrollRequest,
  TypeTextRequest,
  vmOps,
} from '@inquest/contracts-vm';
import { pngSize } from '@inquest/vm-driver';
import { fetchPicture } from '@inquest/vm-client';
import { blankPng, FAKE_SCREEN } from '@inquest/vm-driver/testing';
import { VmServiceHarness } from '../testing/vm-service-harness';

describe('the screen of a machine', () => {
  let vm: VmServiceHarness;
  let machineId: string;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
    ({ machineId } = await vm.boot({ screen: true }));
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);
  beforeEach(() => {
    vm.driver.machine(machineId).inputs.length = 0;
  });
  const inputs = () => vm.driver.machine(machineId).inputs;
  /** What the evidence says that the host did, without its times. */
  const recorded = async () => {
    const lines = (await readFile(vm.evidenceFile(machineId, 'actions.jsonl'), 'utf8')).trim().split('\n');
    return lines.map((line) => {
      const { action, by, reason } = JSON.parse(line) as Record<string, string>;
      return `${action} by ${by}: ${reason}`;
    });
  };

  it('is shown as it is, in its own size', async () => {
    const shot = await vm.call(vmOps.screenshot, dto(IncarnationRequest, { machineId }));
    expect(shot).toMatchObject({ machineId, ...FAKE_SCREEN });
    const answer = await fetch(shot.picture.url);
    expect(answer.headers.get('content-type')).toBe('image/png');
    const png = new Uint8Array(await answer.arrayBuffer());
    expect(pngSize(png)).toEqual(FAKE_SCREEN);
    expect(png).toHaveLength(shot.sizeBytes);
    await expect(vm.show(machineId)).resolves.toMatchObject({ hasScreen: true });
  });

  it('is given to one reader, who has the address with its signature', async () => {
    const shot = await vm.call(vmOps.screenshot, dto(IncarnationRequest, { machineId }));
    const { url } = shot.picture;
    const unsigned = await fetch(url.replace(/signature=.{4}/, 'signature=AAAA'));
    expect([unsigned.status, (await fetch(url)).status, (await fetch(url)).status]).toEqual([403, 200, 403]);
  });

  it('is shown whole where it is larger than any message', async () => {
    const machine = vm.driver.machine(machineId);
    const { screenshot } = machine;
    const large = Buffer.concat([blankPng({ width: 4096, height: 4096 }), Buffer.alloc(20 * 1024 * 1024, 5)]);
    machine.screenshot = () => Promise.resolve(large);
    const shot = await vm.call(vmOps.screenshot, dto(IncarnationRequest, { machineId }));
    machine.screenshot = screenshot;
    expect(shot).toMatchObject({ width: 4096, height: 4096, sizeBytes: large.length });
    expect(large.equals(await fetchPicture(shot.picture))).toBe(true);
    await expect(fetchPicture(shot.picture)).rejects.toMatchObject({ code: 'MACHINE_LOST' });
  });

  it('is clicked in the middle of the pixel that was named', async () => {
    await vm.call(vmOps.click, dto(ClickRequest, { machineId, x: 639, y: 0, button: 'right', times: 2 }));
    const press = { kind: 'button', button: 'right', isDown: true };
    const release = { kind: 'button', button: 'right', isDown: false };
    const move = { kind: 'move', x: 639.5 / FAKE_SCREEN.width, y: 0.5 / FAKE_SCREEN.height };
    expect(inputs()).toEqual([move, press, release, press, release]);
  });

  it('takes texts and combinations as strokes that are let go again', async () => {
    await expect(vm.call(vmOps.typeText, dto(TypeTextRequest, { machineId, text: 'A\n' }))).resolves.toEqual({
      machineId,
      inputs: 6,
    });
    await vm.call(vmOps.pressKeys, dto(PressKeysRequest, { machineId, keys: 'ctrl+c' }));
    const downs = inputs().map((input) => (input.kind === 'key' ? `${input.key} ${input.isDown ? 'down' : 'up'}` : ''));
    const typed = ['shift down', 'a down', 'a up', 'shift up', 'ret down', 'ret up'];
    expect(downs).toEqual([...typed, 'ctrl down', 'c down', 'c up', 'ctrl up']);
  });

  it('scrolls where the pointer is, or where it is sent first', async () => {
    await vm.call(vmOps.scroll, dto(ScrollRequest, { machineId, direction: 'down' }));
    await vm.call(vmOps.scroll, dto(ScrollRequest, { machineId, direction: 'up', steps: 1, x: 0, y: 0 }));
    expect(inputs().map(({ kind }) => kind)).toEqual(['scroll', 'move', 'scroll']);
  });

  it('has in its evidence who asked for which input, without what was typed', async () => {
    const before = (await recorded()).length;
    const request = { machineId, by: 'anna' };
    await vm.call(vmOps.click, dto(ClickRequest, { ...request, x: 3, y: 4 }));
    await vm.call(vmOps.typeText, dto(TypeTextRequest, { ...request, text: 'hunter2' }));
    await vm.call(vmOps.pressKeys, dto(PressKeysRequest, { ...request, keys: 'ctrl+alt+delete' }));
    await vm.call(vmOps.pressKeys, dto(PressKeysRequest, { ...request, keys: 'q' }));
    await vm.call(vmOps.scroll, dto(ScrollRequest, { ...request, direction: 'up', x: 1, y: 2 }));
    const lines = await recorded();
    expect(lines.slice(before)).toEqual([
      'click by anna: left button at 3,4, 1 time',
      'type_text by anna: 7 characters',
      'press_keys by anna: ctrl+alt+delete',
      'press_keys by anna: character',
      'scroll by anna: up, 3 steps at 1,2',
    ]);
    expect(lines.join()).not.toContain('hunter2');
    await expect(vm.verdict(machineId)).resolves.toMatchObject({ verdict: { class: 'still_running', warnings: [] } });
  });

  it('is sent nothing before it is on record', async () => {
    const machine = vm.driver.machine(machineId);
    const { sendInput } = machine;
    let known: string[] = [];
    machine.sendInput = async (...args) => {
      known = await recorded();
      return sendInput.apply(machine, args);
    };
    await vm.call(vmOps.typeText, dto(TypeTextRequest, { machineId, by: 'ben', text: 'ab' }));
    machine.sendInput = sendInput;
    expect(known.at(-1)).toBe('type_text by ben: 2 characters');
  });

  it.each([
    [
      'a pixel beside it',
      () => vm.call(vmOps.click, dto(ClickRequest, { machineId, x: 640, y: 0 })),
      'VM_INPUT_INVALID',
    ],
    [
      'a character that no key types',
      () => vm.call(vmOps.typeText, dto(TypeTextRequest, { machineId, text: 'aé' })),
      'VM_INPUT_INVALID',
    ],
    [
      'a key that there is not',
      () => vm.call(vmOps.pressKeys, dto(PressKeysRequest, { machineId, keys: 'any' })),
      'VM_INPUT_INVALID',
    ],
    [
      'half a position',
      () => vm.call(vmOps.scroll, dto(ScrollRequest, { machineId, direction: 'up', x: 1 })),
      'INPUT_INVALID',
    ],
    [
      'a text that is too long',
      () => vm.call(vmOps.typeText, dto(TypeTextRequest, { machineId, text: 'a'.repeat(1025) })),
      'INPUT_INVALID',
    ],
  ])('is sent nothing for %s', async (_, call, code) => {
    const before = await recorded();
    await expect(call()).rejects.toMatchObject({ code, fault: 'caller' });
    expect(inputs()).toEqual([]);
    await expect(recorded()).resolves.toEqual(before);
  });

  it('of a machine that has none is refused with what to do, and the machine is unharmed', async () => {
    const plain = await vm.boot();
    expect(plain.hasScreen).toBe(false);
    const request = { machineId: plain.machineId };
    for (const verb of [
      vm.call(vmOps.screenshot, dto(IncarnationRequest, request)),
      vm.call(vmOps.click, dto(ClickRequest, { ...request, x: 0, y: 0 })),
      vm.call(vmOps.typeText, dto(TypeTextRequest, { ...request, text: 'a' })),
    ]) {
      await expect(verb).rejects.toMatchObject({
        code: 'MACHINE_CAPABILITY_MISSING',
        remediation: expect.stringContaining('--screen'),
      });
    }
    await expect(vm.show(plain.machineId)).resolves.toMatchObject({ state: 'ready' });
    await vm.destroy(plain.machineId);
  });
});
