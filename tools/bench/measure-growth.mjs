// Whether what is streamed through the platform stays out of its memory: what two Node.js processes keep of it is what
// they have not collected yet, a few times the 16 MiB of their young generations, however much comes through.
import { pssMib } from './host.mjs';

const MIB = 1024 * 1024;
const CONTENT_MIB = 1024;
const CHUNK = Buffer.alloc(MIB, 'inquest ');
/** One direction; what has not come through by then is not waited for, and the figure says so. */
const PATIENCE_MS = 60_000;
const SAMPLE_MS = 50;
/** Both directions, and the boot of a guest that no template has. */
export const GROWTH_MS = 2 * PATIENCE_MS + 30_000;
/** Half of it is what the guest's /dev/shm holds. */
const GUEST_MIB = 2 * CONTENT_MIB + 512;
const GUEST_FILE = '/dev/shm/large';
/** The processes that the bytes pass through. */
const PASSED = ['gateway', 'vm-service'];

/** @param {import('./platform.mjs').Platform} platform @param {import('./figures.mjs').Figures} figures */
export async function measureGrowth(platform, figures) {
  const { machineId } = await platform.startMachine({ memoryMib: GUEST_MIB });
  try {
    const machine = `/v1/machines/${machineId}`;
    const where = `${machine}/files?archive=file&path=${GUEST_FILE}`;
    await tell(platform, figures, 'put_1gib_growth_mib', (moved, signal) =>
      platform.request('PUT', where, { body: content(moved), duplex: 'half', headers: BINARY, signal }),
    );
    // Holes read as zeros: the guest's memory is not what is measured.
    const command = `rm -f ${GUEST_FILE}; dd if=/dev/zero of=${GUEST_FILE} bs=1 count=0 seek=${CONTENT_MIB}M`;
    const { exitCode, stderr } = await platform.call('POST', `${machine}/exec`, { command });
    if (exitCode !== 0) throw new Error(`no file to get: ${stderr.text}`);
    await tell(platform, figures, 'get_1gib_growth_mib', async (moved, signal) => {
      for await (const chunk of (await platform.request('GET', where, { signal })).body) moved.bytes += chunk.length;
    });
  } finally {
    await platform.removeMachine(machineId);
  }
}

const BINARY = { 'content-type': 'application/octet-stream' };

/** One chunk over and over; taken chunks are counted. */
async function* content(moved) {
  for (let left = CONTENT_MIB; left > 0; left--) {
    yield CHUNK;
    moved.bytes += CHUNK.length;
  }
}

async function tell(platform, figures, name, stream) {
  const processes = await platform.processes();
  const weigh = () => PASSED.map((service) => pssMib(processes.get(service)));
  const moved = { bytes: 0 };
  const before = weigh();
  const peak = [...before];
  const sample = () => weigh().forEach((value, at) => (peak[at] = Math.max(peak[at], value)));
  const sampling = setInterval(sample, SAMPLE_MS);
  const started = performance.now();
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    await stream(moved, patience);
  } catch (e) {
    if (!patience.aborted) throw e;
  } finally {
    clearInterval(sampling);
  }
  sample();
  const growth = peak.map((value, at) => value - before[at]);
  const shares = PASSED.map((service, at) => `${service} ${growth[at].toFixed(0)} on ${before[at].toFixed(0)} MiB`);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const amount = `${Math.round(moved.bytes / MIB)} of ${CONTENT_MIB} MiB in ${seconds} s`;
  figures.set(name, growth[0] + growth[1], `${amount}; ${shares.join(', ')}`);
}
