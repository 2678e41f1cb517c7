import type { TranscriptEntry } from '@inquest/transcript';
import { runsOf } from './runs';

const envelope = (sequence: number, runId: string | null) => ({
  sequence,
  atMs: sequence * 1000,
  sessionId: 'ses-1',
  runId,
});
const started = (sequence: number, runId: string): TranscriptEntry => ({
  ...envelope(sequence, runId),
  type: 'run_started',
  prompt: `work of ${runId}`,
  model: null,
});

describe('runsOf', () => {
  it('gives each run with its outcome, and one at work with none', () => {
    const ended: TranscriptEntry = { ...envelope(2, 'run-1'), type: 'run_ended', outcome: 'done', summary: 'made it' };
    expect(runsOf([started(1, 'run-1'), ended, started(3, 'run-2')])).toEqual([
      {
        runId: 'run-1',
        prompt: 'work of run-1',
        startedAtMs: 1000,
        outcome: 'done',
        summary: 'made it',
        endedAtMs: 2000,
      },
      { runId: 'run-2', prompt: 'work of run-2', startedAtMs: 3000, outcome: null, summary: '', endedAtMs: null },
    ]);
  });

  it('gives none for a session in which nothing was asked', () => {
    expect(runsOf([{ ...envelope(1, null), type: 'session_closed', reason: 'asked' }])).toEqual([]);
  });
});
