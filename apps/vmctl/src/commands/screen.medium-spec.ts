import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { tempDir, type TempDir } from '@inquest/testing';
import { runCommandLine } from '../run-command-line';
import { CapturedOutput } from '../testing/captured-output';
import { GatewayDouble, sendProblem } from '../testing/gateway-double';
import { sampleMachine } from '../testing/samples';

const { machineId } = sampleMachine();
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const sendPicture = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);

describe('the screen of a machine on the command line', () => {
  let gateway: GatewayDouble;
  let directory: TempDir;

  beforeAll(async () => {
    gateway = await GatewayDouble.start();
    directory = await tempDir('shots');
  });
  beforeEach(() => gateway.reset());
  afterAll(async () => {
    await gateway.stop();
    await directory.remove();
  });

  const vmctl = async (...args: readonly string[]) => {
    const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()];
    const host = { env: gateway.environment, stdin: Readable.from([]), stdout, stderr };
    const status = await runCommandLine(['node', 'vmctl', ...args], { ...host, signal: new AbortController().signal });
    return { status, stdout: stdout.text, stderr: stderr.text };
  };

  it('is written to the file that was asked for', async () => {
    gateway.on('POST', '/v1/machines/desk/screenshot', (_, response) => sendPicture(response));
    const file = path.join(directory.path, 'desk.png');
    await expect(vmctl('shot', 'desk', '-o', file)).resolves.toMatchObject({
      status: 0,
      stdout: expect.stringContaining(file),
    });
    await expect(readFile(file)).resolves.toEqual(PNG);
  });

  it('leaves no file for a machine that has none, and says what to do', async () => {
    gateway.on('POST', '/v1/machines/box/screenshot', (_, response) =>
      sendProblem(response, 422, 'MACHINE_CAPABILITY_MISSING', 'screenshot is not supported'),
    );
    const before = await readdir(directory.path);
    await expect(vmctl('shot', 'box', '-o', path.join(directory.path, 'box.png'))).resolves.toMatchObject({
      status: 1,
      stderr: expect.stringContaining('[MACHINE_CAPABILITY_MISSING]'),
    });
    await expect(readdir(directory.path)).resolves.toEqual(before);
  });

  it('that breaks off leaves no file', async () => {
    gateway.on('POST', '/v1/machines/desk/screenshot', (_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.write(PNG, () => response.destroy());
    });
    await expect(vmctl('shot', 'desk', '-o', path.join(directory.path, 'cut.png'))).resolves.toMatchObject({
      status: 1,
    });
    await expect(readdir(directory.path)).resolves.not.toContain('cut.png');
  });

  it('of a session is a verb of the session', async () => {
    const session = 'ses-2345678923';
    const result = { outcome: 'error', text: 'it has no screen', durationMs: 1, picture: null };
    gateway.on('POST', `/v1/sessions/${session}/screenshot`, (_, response) => sendPicture(response));
    gateway.on('POST', `/v1/sessions/${session}/screenshot`, result);
    const file = path.join(directory.path, 'session.png');
    await expect(vmctl('shot', session, '-o', file)).resolves.toMatchObject({ status: 0 });
    await expect(readFile(file)).resolves.toEqual(PNG);
    await expect(vmctl('shot', session, '-o', `${file}.none`)).resolves.toMatchObject({
      status: 1,
      stdout: expect.stringContaining('it has no screen'),
    });
    await expect(readdir(directory.path)).resolves.not.toContain('session.png.none');
  });

  it.each([
    [['screen', 'click', 'desk', '3', '4', '--times', '2'], 'click', { x: 3, y: 4, button: 'left', times: 2 }],
    [['screen', 'type', 'desk', 'ls -l'], 'type', { text: 'ls -l' }],
    [['screen', 'key', 'desk', 'ctrl+c'], 'keys', { keys: 'ctrl+c' }],
    [['screen', 'scroll', 'desk', 'up'], 'scroll', { direction: 'up', steps: 3, x: null, y: null }],
  ])('takes %j', async (args, verb, body) => {
    gateway.on('POST', `/v1/machines/desk/screen/${verb}`, { machineId, inputs: 2 });
    const { status, stdout } = await vmctl(...args, '--json');
    expect({ status, sent: JSON.parse(stdout) as object }).toEqual({ status: 0, sent: { machineId, inputs: 2 } });
    expect(JSON.parse(gateway.requests[0]?.body ?? '')).toEqual(body);
  });

  it('is part of a machine that is asked for with it, and so is its clock', async () => {
    gateway.on('POST', '/v1/machines', sampleMachine({ hasScreen: true, rtcBaseMs: 0 }));
    await expect(vmctl('new', 'tiny', '--screen', '--rtc', '2024-02-29T12:00:00Z', '--no-wait')).resolves.toMatchObject(
      { status: 0 },
    );
    expect(JSON.parse(gateway.requests[0]?.body ?? '')).toMatchObject({
      image: 'tiny',
      screen: true,
      rtcBaseMs: Date.UTC(2024, 1, 29, 12),
    });
  });
});
