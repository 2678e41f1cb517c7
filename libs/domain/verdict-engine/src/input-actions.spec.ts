import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawVerdict } from './draw-verdict';
import { HOST_ACTIONS, type Evidence } from './evidence';
import { encodeAction } from './evidence-codec';
import { bytesOf } from './testing/evidence-builder';
import { evidenceOfRecordedEnding } from './testing/recorded-ending';
import { encodeVerdict } from './verdict';

const GOLDEN = join(__dirname, '..', 'golden');
/** What people and programs do on a machine from the host: typing, pointing, commands. */
const INPUTS = HOST_ACTIONS.slice(HOST_ACTIONS.indexOf('click'));

/** The same evidence, with each input at its start, just before its last look, and at its end. */
function withInputs(evidence: Evidence): Evidence {
  const { startedAtMs, observedAtMs, exit } = evidence.meta;
  const times = [startedAtMs, observedAtMs - 1, exit?.atMs ?? observedAtMs];
  const lines = times.flatMap((atMs) =>
    INPUTS.map((action) => encodeAction({ atMs, action, by: 'gateway', reason: 'x' })),
  );
  return { ...evidence, actions: Buffer.concat([evidence.actions, bytesOf(lines.join(''))]) };
}

describe('input on record', () => {
  it.each(readdirSync(GOLDEN).sort())('changes nothing in the verdict on %s', (name) => {
    const read = (file: string) => new Uint8Array(readFileSync(join(GOLDEN, name, file)));
    const evidence = evidenceOfRecordedEnding({
      name,
      events: read('events.jsonl'),
      serial: read('serial.log'),
      recorded: read('recorded.json'),
    });
    const busy = withInputs(evidence);
    expect(busy.actions.length).toBeGreaterThan(evidence.actions.length);
    expect(encodeVerdict(drawVerdict(busy))).toBe(encodeVerdict(drawVerdict(evidence)));
  });
});
