import { agentOps } from '@inquest/contracts-agent';
import { imageOps } from '@inquest/contracts-image';
import { publishOps } from '@inquest/contracts-publish';
import { vmOps } from '@inquest/contracts-vm';
import { MACHINE_ROUTES } from './machine-routes';
import type { Route } from './route';

const DIGEST = `sha256:${'0'.repeat(64)}`;

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
    route: 'POST /v1/images/{name}/template',
    call: '/v1/images/tiny/template',
    body: { version: 3 },
    status: 202,
    subject: imageOps.makeTemplate.subject,
    request: { name: 'tiny', version: 3 },
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
  ...MACHINE_ROUTES,
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
    call: '/v1/publications',
    subject: publishOps.list.subject,
    request: { limit: 50, nextToken: null },
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
  'POST /v1/machines/{machine}/screenshot',
  'POST /v1/sessions/{sessionId}/screenshot',
  'GET /v1/sessions/{sessionId}/events',
  'PUT /v1/images/{name}/import',
  'GET /v1/operations/{operationId}/events',
];
