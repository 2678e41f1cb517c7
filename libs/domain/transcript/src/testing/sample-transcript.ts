import type { EntryBodies, EntryType, JsonValue, TranscriptEntry, VerbOutcome } from '../entry';

const START_MS = Date.UTC(2026, 0, 5, 10, 0, 0);

/** Builds the entries of one session in order: sequence and time are counted for the caller. */
export class SampleSession {
  readonly entries: TranscriptEntry[] = [];
  private atMs = START_MS;

  constructor(private runId: string | null = null) {}

  /** Time passes before the next entry. */
  after(ms: number): this {
    this.atMs += ms;
    return this;
  }

  add<T extends EntryType>(type: T, body: EntryBodies[T]): this {
    if (type === 'run_started') this.runId = 'r-1';
    const envelope = { sequence: this.entries.length + 1, atMs: this.atMs, sessionId: 's-1', runId: this.runId };
    this.entries.push({ type, ...envelope, ...body } as unknown as TranscriptEntry);
    return this;
  }

  verb(verb: string, args: JsonValue, summary: string, outcome: VerbOutcome = 'ok', durationMs = 12): this {
    const callId = `call-${this.entries.length}`;
    const startedAtMs = this.atMs;
    const body = { callId, verb, arguments: args, startedAtMs, durationMs, outcome, summary, bytes: summary.length };
    return this.after(durationMs).add('verb', body);
  }
}

/** One session with one entry of every type. */
export function sampleTranscript(): readonly TranscriptEntry[] {
  return new SampleSession()
    .add('session_opened', { formatVersion: 1, project: 'demo', image: 'tiny:1', machineId: 'local-3f9' })
    .add('run_started', { prompt: 'Write a FizzBuzz program with a README.', model: 'scripted' })
    .after(300)
    .add('model_turn', { text: 'I start with a plan.', tokens: { input: 812, output: 40 } })
    .add('plan_recorded', { steps: ['Write fizzbuzz.sh', 'Run it in the machine'] })
    .after(100)
    .verb('write_file', { path: '/mnt/project/fizzbuzz.sh', content: '#!/bin/sh\necho 1\n' }, 'wrote 17 bytes')
    .verb('run', { command: 'sh /mnt/project/fizzbuzz.sh 3' }, 'exit 0\n1\n2\nFizz', 'ok', 84)
    .verb('run', { command: 'sh missing.sh' }, 'exit 127\nsh: missing.sh: not found', 'failed')
    .verb('run', { command: 'cd /mnt/project && git add -A' }, '`git add` writes; use git_commit', 'refused', 0)
    .add('confirmation', {
      confirmationId: 'c-1',
      callId: 'call-9',
      question: 'Delete it?',
      state: 'approved',
      by: 'ana',
      reason: 'it is a copy',
    })
    .add('host_event', { event: 'hang_suspected', detail: 'no output for 600 s' })
    .add('verdict', {
      machineId: 'local-3f9',
      incarnation: 1,
      class: 'clean_poweroff',
      confidence: 'certain',
      account: 'The guest powered itself off.',
      deciding: [{ file: 'serial.log', offset: 5120, quote: 'reboot: Power down' }],
    })
    .add('publication', {
      commit: '1a2b3c4d5e6f708192a3b4c5d6e7f80910111213',
      branch: 'inquest/s-1',
      kept: ['README.md', 'fizzbuzz.sh'],
      held: [{ path: 'scratch_test.sh', rule: 'throw-away-test', why: 'a test script at the root' }],
      pushed: true,
      detail: 'file:///srv/forge/demo.git',
    })
    .add('run_ended', { outcome: 'done', summary: 'FizzBuzz works.' })
    .add('census', {
      verbs: [{ verb: 'run', count: 3, refused: 1, failed: 1, errors: 0 }],
      neverUsed: ['click'],
      modelTurns: 1,
      differences: [{ counter: 'exec', transcript: 2, guest: 3 }],
    })
    .add('session_closed', { reason: 'the machine was destroyed' }).entries;
}
