import { CleanupStack } from '@inquest/kernel';
import { vmDriverError, type VmExit } from '@inquest/vm-driver';
import { sampleVmSpec } from '@inquest/vm-driver/testing';
import { releaseAll, startError, type StartEnd } from './start-failure';

const spec = sampleVmSpec('/var/lib/inquest');
const { machineId } = spec;
const never = new AbortController().signal;
const cause = new Error('the socket is gone');

const ended = (code: number | null, signal: string | null) => ({
  exited: Promise.resolve<VmExit>({ code, signal, stderrTail: '', atMs: 0 }),
});
const end = (overrides: Partial<StartEnd>): StartEnd => ({
  callerSignal: never,
  deadline: never,
  monitor: null,
  monitorName: 'The monitor',
  words: '',
  ...overrides,
});

describe('startError', () => {
  it.each<[string, Partial<StartEnd>, string]>([
    ['what failed here when no monitor was started', {}, cause.message],
    ['the words of the monitor', { monitor: ended(1, null), words: 'no such\u001b[2J disk\n' }, 'no such [2J disk'],
    ['the exit code of a silent monitor', { monitor: ended(1, null) }, 'The monitor ended with exit code 1'],
    ['the signal that ended a silent monitor', { monitor: ended(null, 'SIGABRT') }, 'The monitor ended with SIGABRT'],
    ['what failed here when the teardown killed the monitor', { monitor: ended(null, 'SIGKILL') }, cause.message],
  ])('gives %s as the reason', async (_, overrides, reason) => {
    await expect(startError(spec, cause, end(overrides))).resolves.toMatchObject({
      code: 'VM_START_FAILED',
      message: `machine ${machineId} did not start: ${reason}`,
      details: { machineId },
      cause,
    });
  });

  it('keeps an error that already says what went wrong', async () => {
    const known = vmDriverError('VM_HOST_MEMORY_EXHAUSTED', 'too much');
    await expect(startError(spec, known, end({ words: 'noise' }))).resolves.toBe(known);
  });

  it('says that time ran out, and before that, that the caller gave up', async () => {
    const over = AbortSignal.abort();
    const late = end({ deadline: over });
    await expect(startError(spec, cause, late)).resolves.toMatchObject({ code: 'VM_START_TIMEOUT', cause });
    const cancelled = end({ deadline: over, callerSignal: over });
    await expect(startError(spec, cause, cancelled)).resolves.toMatchObject({ code: 'OPERATION_ABORTED' });
  });
});

describe('releaseAll', () => {
  it('undoes everything, and names what could not be undone', async () => {
    const cleanup = new CleanupStack();
    let isRemoved = false;
    cleanup.defer('instance directory', async () => void (isRemoved = true));
    cleanup.defer('evidence files', () => Promise.reject(new Error('the disk is full')));
    await expect(releaseAll(cleanup, spec)).rejects.toMatchObject({
      code: 'VM_INSTANCE_LEFTOVER',
      message: expect.stringContaining('evidence files'),
      details: { machineId },
    });
    expect(isRemoved).toBe(true);
  });
});
