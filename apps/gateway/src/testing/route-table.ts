import { agentOps } from '@inquest/contracts-agent';
import { imageOps } from '@inquest/contracts-image';
import { publishOps } from '@inquest/contracts-publish';
import { vmOps } from '@inquest/contracts-vm';

export const MACHINE_ID = 'n1-bcdfghjkmn';
const DIGEST = `sha256:${'0'.repeat(64)}`;

/** One route, how it is called, and the call that it must become. */
export interface Route {
  /** As OpenAPI writes it. */
  readonly route: string;
  readonly call: string;
  readonly body?: object;
  readonly status?: number;
  /** The last call that is made for it, and what of its request matters. */
  readonly subject: string;
  readonly request: object;
}

export const ROUTES: readonly Route[] = [
  { route: 'GET /v1/images', call: '/v1/images', subject: imageOps.list.subject, request: {} },
  {
    route: 'GET /v1/images/{name}',
    call: '/v1/images/tiny',
    subject: imageOps.show.subject,
    request: { name: 'tiny' },
  },
  {
    route: 'GET /v1/images/{name}/versions/{version}/log',
    call: '/v1/images/tiny/versions/3/log?fromOffset=10',
    subject: imageOps.log.subject,
    request: { name: 'tiny', version: 3, fromOffset: 10 },
  },
  {
    route: 'POST /v1/images/{name}/build',
    call: '/v1/images/tiny/build',
    status: 202,
    subject: imageOps.build.subject,
    request: { name: 'tiny' },
  },
  {
    route: 'POST /v1/images/{name}/freeze',
    call: '/v1/images/tiny/freeze',
    body: { version: 2 },
    status: 202,
    subject: imageOps.freeze.subject,
    request: { name: 'tiny', version: 2 },
  },
  {
    route: 'POST /v1/images/{name}/verify',
    call: '/v1/images/tiny/verify',
    status: 202,
    subject: imageOps.verify.subject,
    request: { name: 'tiny', version: null },
  },
  {
    route: 'GET /v1/operations/{operationId}',
    call: '/v1/operations/op-1?waitMs=500&knownStep=boot',
    subject: imageOps.operation.subject,
    request: { operationId: 'op-1', waitMs: 500, knownStep: 'boot' },
  },
  {
    route: 'POST /v1/images/{name}/import',
    call: '/v1/images/tiny/import',
    body: { path: 'base.qcow2', format: 'qcow2', digest: DIGEST },
    status: 202,
    subject: imageOps.import.subject,
    request: { name: 'tiny', path: 'base.qcow2', format: 'qcow2', digest: DIGEST },
  },
  {
    route: 'POST /v1/images/{name}/unfreeze',
    call: '/v1/images/tiny/unfreeze',
    body: { reason: 'new certificates' },
    status: 202,
    subject: imageOps.unfreeze.subject,
    request: { name: 'tiny', version: null, reason: 'new certificates' },
  },
  {
    route: 'GET /v1/images/{name}/versions/{version}',
    call: '/v1/images/tiny/versions/2',
    subject: imageOps.showVersion.subject,
    request: { name: 'tiny', version: 2 },
  },
  {
    route: 'POST /v1/images/{name}/versions/{version}/retire',
    call: '/v1/images/tiny/versions/2/retire',
    subject: imageOps.retire.subject,
    request: { name: 'tiny', version: 2 },
  },
  {
    route: 'DELETE /v1/images/{name}/versions/{version}',
    call: '/v1/images/tiny/versions/2',
    subject: imageOps.remove.subject,
    request: { name: 'tiny', version: 2 },
  },
  {
    route: 'GET /v1/images/{name}/diff',
    call: '/v1/images/tiny/diff?from=1&to=2',
    subject: imageOps.diff.subject,
    request: { name: 'tiny', from: 1, to: 2 },
  },
  {
    route: 'DELETE /v1/operations/{operationId}',
    call: '/v1/operations/op-1',
    subject: imageOps.cancelOperation.subject,
    request: { operationId: 'op-1' },
  },
  {
    route: 'GET /v1/machines',
    call: '/v1/machines?all=true&limit=7',
    subject: vmOps.list.subject,
    request: { includeEnded: true, limit: 7 },
  },
  {
    route: 'POST /v1/machines',
    call: '/v1/machines',
    body: { image: 'tiny', name: 'box' },
    status: 202,
    subject: vmOps.start.subject,
    request: { image: 'tiny', name: 'box', version: null, purpose: 'session' },
  },
  {
    route: 'POST /v1/groups',
    call: '/v1/groups',
    body: { group: 'lab', count: 3, machine: { image: 'tiny' } },
    status: 202,
    subject: vmOps.startGroup.subject,
    request: { group: 'lab', count: 3, machine: { image: 'tiny', name: null, purpose: 'session' } },
  },
  {
    route: 'GET /v1/machines/{machine}',
    call: `/v1/machines/${MACHINE_ID}`,
    subject: vmOps.show.subject,
    request: { machineId: MACHINE_ID },
  },
  {
    route: 'GET /v1/machines/{machine}/wait',
    call: `/v1/machines/${MACHINE_ID}/wait?state=ready&state=ended&waitMs=5`,
    subject: vmOps.wait.subject,
    request: { machineId: MACHINE_ID, states: ['ready', 'ended'], waitMs: 5 },
  },
  {
    route: 'GET /v1/machines/{machine}/verdict',
    call: `/v1/machines/${MACHINE_ID}/verdict?incarnation=2`,
    subject: vmOps.verdict.subject,
    request: { machineId: MACHINE_ID, incarnation: 2 },
  },
  {
    route: 'GET /v1/machines/{machine}/evidence/{file}',
    call: `/v1/machines/${MACHINE_ID}/evidence/serial.log?fromOffset=9`,
    subject: vmOps.evidence.subject,
    request: { machineId: MACHINE_ID, file: 'serial.log', fromOffset: 9, incarnation: null },
  },
  {
    route: 'POST /v1/machines/{machine}/exec',
    call: `/v1/machines/${MACHINE_ID}/exec`,
    body: { command: 'true', env: { A: '1' } },
    subject: vmOps.exec.subject,
    request: { machineId: MACHINE_ID, command: 'true', env: { A: '1' } },
  },
  {
    route: 'POST /v1/machines/{machine}/exec-serial',
    call: `/v1/machines/${MACHINE_ID}/exec-serial`,
    body: { command: 'true' },
    subject: vmOps.execSerial.subject,
    request: { machineId: MACHINE_ID, command: 'true', timeoutMs: 60_000 },
  },
  {
    route: 'POST /v1/machines/{machine}/reset',
    call: `/v1/machines/${MACHINE_ID}/reset`,
    body: { incarnation: 1 },
    status: 202,
    subject: vmOps.reset.subject,
    request: { machineId: MACHINE_ID, incarnation: 1, by: 'gateway' },
  },
  {
    route: 'POST /v1/machines/{machine}/clone',
    call: `/v1/machines/${MACHINE_ID}/clone`,
    body: { name: 'twin' },
    status: 202,
    subject: vmOps.cloneMachine.subject,
    request: { machineId: MACHINE_ID, incarnation: null, name: 'twin', by: 'gateway' },
  },
  {
    route: 'POST /v1/machines/{machine}/shares',
    call: `/v1/machines/${MACHINE_ID}/shares`,
    body: { directory: '/srv/docs', guestPath: '/mnt/docs' },
    subject: vmOps.share.subject,
    request: { machineId: MACHINE_ID, share: { directory: '/srv/docs', guestPath: '/mnt/docs' } },
  },
  {
    route: 'DELETE /v1/machines/{machine}/shares',
    call: `/v1/machines/${MACHINE_ID}/shares?guestPath=/mnt/docs`,
    subject: vmOps.unshare.subject,
    request: { machineId: MACHINE_ID, guestPath: '/mnt/docs' },
  },
  {
    route: 'POST /v1/machines/{machine}/shutdown',
    call: `/v1/machines/${MACHINE_ID}/shutdown`,
    body: { mode: 'reboot', waitMs: 1 },
    subject: vmOps.shutdown.subject,
    request: { machineId: MACHINE_ID, mode: 'reboot', waitMs: 1, by: 'gateway' },
  },
  {
    route: 'POST /v1/machines/{machine}/screenshot',
    call: `/v1/machines/${MACHINE_ID}/screenshot`,
    subject: vmOps.screenshot.subject,
    request: { machineId: MACHINE_ID },
  },
  {
    route: 'POST /v1/machines/{machine}/screen/click',
    call: `/v1/machines/${MACHINE_ID}/screen/click`,
    body: { x: 3, y: 4, times: 2 },
    subject: vmOps.click.subject,
    request: { machineId: MACHINE_ID, x: 3, y: 4, button: 'left', times: 2 },
  },
  {
    route: 'POST /v1/machines/{machine}/screen/type',
    call: `/v1/machines/${MACHINE_ID}/screen/type`,
    body: { text: 'ls\n' },
    subject: vmOps.typeText.subject,
    request: { machineId: MACHINE_ID, text: 'ls\n' },
  },
  {
    route: 'POST /v1/machines/{machine}/screen/keys',
    call: `/v1/machines/${MACHINE_ID}/screen/keys`,
    body: { keys: 'ctrl+c' },
    subject: vmOps.pressKeys.subject,
    request: { machineId: MACHINE_ID, keys: 'ctrl+c' },
  },
  {
    route: 'POST /v1/machines/{machine}/screen/scroll',
    call: `/v1/machines/${MACHINE_ID}/screen/scroll`,
    body: { direction: 'up', x: 1, y: 2 },
    subject: vmOps.scroll.subject,
    request: { machineId: MACHINE_ID, direction: 'up', steps: 3, x: 1, y: 2 },
  },
  {
    route: 'DELETE /v1/machines/{machine}',
    call: `/v1/machines/${MACHINE_ID}`,
    subject: vmOps.destroy.subject,
    request: { machineId: MACHINE_ID, by: 'gateway' },
  },
  {
    route: 'GET /v1/machines/{machine}/metrics',
    call: `/v1/machines/${MACHINE_ID}/metrics?incarnation=2`,
    subject: vmOps.guestMetrics.subject,
    request: { machineId: MACHINE_ID, incarnation: 2 },
  },
  {
    route: 'POST /v1/machines/{machine}/terminals',
    call: `/v1/machines/${MACHINE_ID}/terminals`,
    body: { command: 'top', cols: 132, rows: 43, term: 'vt220' },
    status: 201,
    subject: vmOps.openTerminal.subject,
    request: { machineId: MACHINE_ID, command: 'top', cols: 132, rows: 43, term: 'vt220', incarnation: null },
  },
  {
    route: 'GET /v1/machines/{machine}/terminals',
    call: `/v1/machines/${MACHINE_ID}/terminals`,
    subject: vmOps.listTerminals.subject,
    request: { machineId: MACHINE_ID },
  },
  {
    route: 'GET /v1/machines/{machine}/terminals/{terminal}',
    call: `/v1/machines/${MACHINE_ID}/terminals/term-1`,
    subject: vmOps.showTerminal.subject,
    request: { machineId: MACHINE_ID, terminalId: 'term-1' },
  },
  {
    route: 'DELETE /v1/machines/{machine}/terminals/{terminal}',
    call: `/v1/machines/${MACHINE_ID}/terminals/term-1`,
    subject: vmOps.closeTerminal.subject,
    request: { machineId: MACHINE_ID, terminalId: 'term-1' },
  },
  {
    route: 'POST /v1/machines/{machine}/terminals/{terminal}/attach',
    call: `/v1/machines/${MACHINE_ID}/terminals/term-1/attach`,
    body: { mode: 'view', fromOffset: 7 },
    status: 201,
    subject: vmOps.attachTerminal.subject,
    request: { machineId: MACHINE_ID, terminalId: 'term-1', mode: 'view', fromOffset: 7 },
  },
  { route: 'GET /v1/nodes', call: '/v1/nodes', subject: vmOps.nodes.subject, request: {} },
  {
    route: 'GET /v1/sessions',
    call: '/v1/sessions?limit=3',
    subject: agentOps.listSessions.subject,
    request: { limit: 3, nextToken: null },
  },
  {
    route: 'POST /v1/sessions',
    call: '/v1/sessions',
    body: { project: 'prj' },
    status: 202,
    subject: agentOps.openSession.subject,
    request: { project: 'prj', image: 'tiny' },
  },
  {
    route: 'GET /v1/sessions/{sessionId}',
    call: '/v1/sessions/ses-1',
    subject: agentOps.showSession.subject,
    request: { sessionId: 'ses-1' },
  },
  {
    route: 'GET /v1/sessions/{sessionId}/wait',
    call: '/v1/sessions/ses-1/wait?state=closed&waitMs=2',
    subject: agentOps.waitSession.subject,
    request: { sessionId: 'ses-1', states: ['closed'], waitMs: 2 },
  },
  {
    route: 'POST /v1/sessions/{sessionId}/close',
    call: '/v1/sessions/ses-1/close',
    body: { publish: false },
    status: 202,
    subject: agentOps.closeSession.subject,
    request: { sessionId: 'ses-1', publish: false, by: 'gateway' },
  },
  {
    route: 'POST /v1/sessions/{sessionId}/runs',
    call: '/v1/sessions/ses-1/runs',
    body: { prompt: 'do it' },
    status: 202,
    subject: agentOps.submitRun.subject,
    request: { sessionId: 'ses-1', prompt: 'do it', closeWhenDone: false },
  },
  {
    route: 'POST /v1/sessions/{sessionId}/verbs/{verb}',
    call: '/v1/sessions/ses-1/verbs/run',
    body: { arguments: { command: 'true' } },
    subject: agentOps.invokeVerb.subject,
    request: { sessionId: 'ses-1', verb: 'run', arguments: { command: 'true' } },
  },
  {
    route: 'GET /v1/sessions/{sessionId}/transcript',
    call: '/v1/sessions/ses-1/transcript?fromSequence=4&limit=9',
    subject: agentOps.readTranscript.subject,
    request: { sessionId: 'ses-1', fromSequence: 4, limit: 9 },
  },
  {
    route: 'GET /v1/runs/{runId}',
    call: '/v1/runs/run-1',
    subject: agentOps.showRun.subject,
    request: { runId: 'run-1' },
  },
  {
    route: 'GET /v1/runs/{runId}/wait',
    call: '/v1/runs/run-1/wait?waitMs=3',
    subject: agentOps.waitRun.subject,
    request: { runId: 'run-1', waitMs: 3 },
  },
  {
    route: 'DELETE /v1/runs/{runId}',
    call: '/v1/runs/run-1',
    subject: agentOps.cancelRun.subject,
    request: { runId: 'run-1' },
  },
  {
    route: 'GET /v1/publications',
    call: '/v1/publications?state=failed&project=demo',
    subject: publishOps.list.subject,
    request: { limit: 50, nextToken: null, project: 'demo', sessionId: null, state: 'failed' },
  },
  {
    route: 'GET /v1/publications/{publicationId}',
    call: '/v1/publications/pub-1',
    subject: publishOps.show.subject,
    request: { publicationId: 'pub-1' },
  },
  {
    route: 'POST /v1/publications/{publicationId}/retry',
    call: '/v1/publications/pub-1/retry',
    body: { ownBranch: true },
    subject: publishOps.retry.subject,
    request: { publicationId: 'pub-1', ownBranch: true },
  },
  {
    route: 'POST /v1/publications/{publicationId}/release',
    call: '/v1/publications/pub-1/release',
    body: { tag: 'v1', artifacts: ['dist/app.tar'] },
    subject: publishOps.release.subject,
    request: { publicationId: 'pub-1', tag: 'v1', title: '', notes: '', artifacts: ['dist/app.tar'] },
  },
  {
    route: 'GET /v1/projects/{project}',
    call: '/v1/projects/prj',
    subject: publishOps.showProject.subject,
    request: { project: 'prj' },
  },
  { route: 'GET /v1/forge', call: '/v1/forge', subject: publishOps.checkForge.subject, request: {} },
];

/** Routes whose bodies are streams; their own tests are beside them. */
export const STREAMED = [
  'POST /v1/machines/{machine}/exec-stream',
  'POST /v1/machines/{machine}/exec-pipe',
  'PUT /v1/machines/{machine}/files',
  'GET /v1/machines/{machine}/files',
  'GET /v1/machines/{machine}/tail',
  'GET /v1/sessions/{sessionId}/events',
  'PUT /v1/images/{name}/import',
  'GET /v1/operations/{operationId}/events',
];
