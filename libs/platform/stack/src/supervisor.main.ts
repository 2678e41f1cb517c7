import { text } from 'node:stream/consumers';
import { systemClock } from '@inquest/kernel';
import { processIdentity } from '@inquest/process';
import { endLeftovers } from './home-processes';
import type { StackDeclaration } from './service-declaration';
import { stackLayout } from './stack-layout';
import { removeRunFiles, Supervisor, type SupervisorOptions } from './supervisor';

const LEFTOVER_GRACE_MS = 5_000;

const log: SupervisorOptions['log'] = (level, message) => {
  const time = new Date(systemClock.nowMs()).toISOString();
  process.stdout.write(`${JSON.stringify({ time, level, service: 'supervisor', msg: message })}\n`);
};

/** Run under the lock of its home: `supervisor.main.js <INQUEST_HOME>`, with the `StackDeclaration` on standard input. */
async function main(home: string): Promise<number> {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());
  // The terminal it was started from may close; the stack stays.
  process.on('SIGHUP', () => undefined);
  const layout = stackLayout(home);
  const declaration = JSON.parse(await text(process.stdin)) as StackDeclaration;
  for (const { name, pid, how } of await endLeftovers(layout, LEFTOVER_GRACE_MS)) {
    log('info', `ended ${name} (process ${pid}) that an earlier supervisor had left: ${how}`);
  }
  const identity = await processIdentity(process.pid);
  if (identity === null) throw new Error('cannot read /proc/self/stat');
  const supervisor = new Supervisor({ layout, declaration, identity, startedAtMs: systemClock.nowMs(), log });
  // After a failed start the state says why; whoever asked for the start reads and removes it.
  if (!(await supervisor.run(stopping.signal))) return 1;
  await removeRunFiles(layout);
  return 0;
}

main(process.argv[2] ?? '').then(
  (exitCode) => process.exit(exitCode),
  (e: unknown) => {
    log('error', e instanceof Error ? (e.stack ?? e.message) : String(e));
    process.exit(1);
  },
);
