// What the platform adds to one command and to bytes on their way.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { encodeControl, FRAME_PORT } from '@inquest/frame-protocol';
import { inTurn, p50 } from './statistics.mjs';

const VERBS = 60;
/** Code that has run a few times only is not compiled yet, on either side: a platform of some minutes is what is measured. */
const WARM_UP = 200;
const TRANSFERS = 3;
const TRANSFER_BYTES = 32 * 1024 * 1024;
const BOUNDS = { headBytes: 4096, tailBytes: 4096 };
const VERB_MS = 30_000;
/** In memory: the emulated disk is not what is measured. */
const GUEST_FILE = '/dev/shm/transfer';

const soon = () => AbortSignal.timeout(VERB_MS);

/** @param {import('./platform.mjs').Platform} platform @param {import('./bare-qemu.mjs').BareQemu} bare @param {import('./figures.mjs').Figures} figures */
export async function measureVerbs(platform, bare, figures) {
  const machine = await platform.startMachine();
  const alone = await bare.clone();
  try {
    const where = `/v1/machines/${machine.machineId}/exec`;
    const works = {
      edge: () => timedVerb(() => platform.call('POST', where, { command: 'true' })),
      client: () => timedVerb(() => alone.agent.execBounded({ shell: 'true' }, { signal: soon(), bounds: BOUNDS })),
      raw: () => timedVerb(() => rawTrue(alone.link)),
    };
    await inTurn(WARM_UP, works);
    const { edge, client, raw } = await inTurn(VERBS, works);
    const told = `${VERBS} each, in turn, after ${WARM_UP}`;
    figures.set('control_plane_p50_ms', p50(added(edge, client)), `${told}; at the edge ${p50(edge).toFixed(1)} ms`);
    figures.set('exec_overhead_p50_ms', p50(added(client, raw)), `${told}; raw ${p50(raw).toFixed(1)} ms`);
  } finally {
    await platform.removeMachine(machine.machineId);
    await alone.end();
  }
}

/** What one way takes longer than the other, round by round: neighbours in time have the host's mood in common. */
const added = (longer, shorter) => longer.map((value, round) => value - shorter[round]);

/** Against bytes on a second port of the same kind, which nothing but the kernel's copy stands behind. */
export async function measureTransfers(platform, bare, figures) {
  const machine = await platform.startMachine();
  const alone = await bare.boot({ withRawPort: true });
  try {
    const port = createConnection(alone.rawSocket);
    await once(port, 'connect');
    const content = Buffer.alloc(TRANSFER_BYTES, 'inquest ');
    const where = `/v1/machines/${machine.machineId}/files?archive=file&path=${GUEST_FILE}`;
    const values = await inTurn(TRANSFERS, {
      put: () => timedVerb(() => platform.request('PUT', where, { body: content, headers: BINARY })),
      rawPut: () => timedVerb(() => rawPut(alone.agent, port, content)),
      get: () => timedVerb(async () => (await platform.request('GET', where)).arrayBuffer()),
      rawGet: () => timedVerb(() => rawGet(alone.agent, port)),
    });
    port.destroy();
    tell(figures, 'put_vs_raw_ratio', values.rawPut, values.put);
    tell(figures, 'get_vs_raw_ratio', values.rawGet, values.get);
  } finally {
    await platform.removeMachine(machine.machineId);
    await alone.end();
  }
}

const BINARY = { 'content-type': 'application/octet-stream' };

function tell(figures, name, rawMs, oursMs) {
  const speed = (values) => `${(TRANSFER_BYTES / 1024 / 1024 / (p50(values) / 1000)).toFixed(0)} MiB/s`;
  const why = `${TRANSFERS} times 32 MiB; ${speed(oursMs)} against ${speed(rawMs)}`;
  figures.set(name, p50(rawMs) / p50(oursMs), why);
}

async function timedVerb(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** `true` with nothing of ours on the host but the link: one frame out, bytes back until the exit is among them. */
async function rawTrue(link) {
  const stream = await link.connect(FRAME_PORT, soon(), () => encodeControl({ op: 'exec', shell: 'true' }));
  let received = '';
  for await (const chunk of stream) {
    received += chunk.toString('latin1');
    if (received.includes('"type":"exit"')) break;
  }
  stream.destroy();
}

const PORT_OF_NAME = 'for p in /sys/class/virtio-ports/*; do grep -qx raw $p/name && echo /dev/${p##*/}; done';

async function rawPut(agent, port, content) {
  const reader = `head -c ${TRANSFER_BYTES} $(${PORT_OF_NAME}) > ${GUEST_FILE}`;
  const done = agent.execBounded({ shell: reader }, { signal: soon(), bounds: BOUNDS });
  port.write(content);
  await requireSuccess(done);
}

async function rawGet(agent, port) {
  const writer = `head -c ${TRANSFER_BYTES} ${GUEST_FILE} > $(${PORT_OF_NAME})`;
  const done = agent.execBounded({ shell: writer }, { signal: soon(), bounds: BOUNDS });
  let missing = TRANSFER_BYTES;
  await new Promise((resolve) => {
    const take = (chunk) => {
      missing -= chunk.length;
      if (missing > 0) return;
      port.off('data', take);
      resolve();
    };
    port.on('data', take);
  });
  await requireSuccess(done);
}

async function requireSuccess(done) {
  const { code, stderr } = await done;
  if (code !== 0) throw new Error(`the raw copy failed: ${Buffer.from(stderr.head).toString()}`);
}
