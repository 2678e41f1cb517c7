import type { OwnedProcess, ProcessExit } from '@inquest/process';
import type { ServiceStatus } from './stack-state';
import { SupervisedService, type LaunchContext, type Launched } from './supervised-service';

const POLICY = { firstBackoffMs: 1, maxBackoffMs: 2, maxFailures: 3, stableAfterMs: 60_000 };

/** A process without a kernel: it ends when it is told to, or when the test says so. */
class FakeProcess implements OwnedProcess {
  readonly startTicks = 1;
  private settle!: (exit: ProcessExit) => void;
  readonly exited = new Promise<ProcessExit>((resolve) => {
    this.settle = resolve;
  });
  constructor(readonly pid: number) {}
  die(code: number): void {
    this.settle({ code, signal: null });
  }
  stop(): Promise<ProcessExit> {
    this.settle({ code: null, signal: 'SIGTERM' });
    return this.exited;
  }
  unref(): void {
    // Nothing holds the event loop.
  }
}

type Attempt = 'ready' | 'fails';

/** Plays `attempts`, then is always ready; tells the test of every change. */
function supervised(attempts: Attempt[]) {
  const processes: FakeProcess[] = [];
  const contexts: LaunchContext[] = [];
  const waiters: { readonly accept: (status: ServiceStatus) => boolean; readonly resolve: () => void }[] = [];
  const launch = async (context: LaunchContext): Promise<Launched> => {
    contexts.push(context);
    const process = new FakeProcess(100 + processes.length);
    processes.push(process);
    context.onSpawn(process);
    await Promise.resolve();
    if (attempts.shift() === 'fails') throw new Error('port taken');
    return { process, url: `http://127.0.0.1:${process.pid}` };
  };
  const service = new SupervisedService({
    name: 'vm-service',
    logFile: '/log',
    launch,
    policy: POLICY,
    onChange: (status) => waiters.filter(({ accept }) => accept(status)).forEach(({ resolve }) => resolve()),
  });
  const until = (accept: (status: ServiceStatus) => boolean): Promise<void> =>
    new Promise((resolve) => {
      waiters.push({ accept, resolve });
      if (accept(service.status)) resolve();
    });
  return { service, processes, contexts, until };
}

describe('SupervisedService', () => {
  it('starts a service again that died, and asks for the same port', async () => {
    const { service, processes, contexts, until } = supervised([]);
    await service.start();
    processes[0]?.die(1);
    await until(({ state, restarts }) => state === 'running' && restarts === 1);
    expect(service.status).toMatchObject({ process: { pid: 101 }, lastFailure: 'ended with 1' });
    expect(contexts[1]?.earlierUrl).toBe('http://127.0.0.1:100');
    await service.stop(1);
  });

  it('asks for any port after its own could not be had', async () => {
    const { service, processes, contexts, until } = supervised(['ready', 'fails']);
    await service.start();
    processes[0]?.die(1);
    await until(({ state, restarts }) => state === 'running' && restarts === 2);
    expect(contexts.map(({ earlierUrl }) => earlierUrl)).toEqual([null, 'http://127.0.0.1:100', null]);
    await service.stop(1);
  });

  it('gives up after too many failures in a row and says why', async () => {
    const { service, processes, until } = supervised(['ready', 'fails', 'fails', 'fails', 'fails']);
    await service.start();
    processes[0]?.die(139);
    await until(({ state }) => state === 'failed');
    expect(service.status).toMatchObject({ process: null, lastFailure: 'port taken', restarts: 3 });
    await service.stop(1);
    expect(service.status.state).toBe('failed');
  });

  it('fails at once when its first start fails', async () => {
    const { service } = supervised(['fails']);
    await expect(service.start()).rejects.toThrow('port taken');
    expect(service.status.process).toBeNull();
  });

  it('is not started again once it was stopped', async () => {
    const { service, processes } = supervised([]);
    await service.start();
    await service.stop(1);
    await service.stop(1);
    expect(processes).toHaveLength(1);
    expect(service.status).toMatchObject({ state: 'stopped', process: null });
  });

  it('does not start after it was stopped before its turn came', async () => {
    const { service, processes } = supervised([]);
    await service.stop(1);
    await expect(service.start()).rejects.toThrow();
    expect(processes).toHaveLength(0);
  });
});
