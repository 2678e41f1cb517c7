import { Injectable } from '@nestjs/common';
import type { GitCommitArguments } from '@inquest/contracts-agent';
import { publishOps, type CommitView, type HeldView } from '@inquest/contracts-publish';
import { RpcClient } from '@inquest/messaging';
import { TranscriptsService } from '../transcript/transcripts.service';
import { answered, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

/** Paths that the answer lists one by one. */
const LISTED = 20;

/** `git_commit`: the project is collected from the guest and committed on the host, without scratch files. */
@Injectable()
export class GitCommitVerb implements VerbHandler<GitCommitArguments> {
  constructor(
    private readonly rpc: RpcClient,
    private readonly transcripts: TranscriptsService,
  ) {}

  async invoke({ message, forceInclude }: GitCommitArguments, context: VerbContext): Promise<VerbAnswer> {
    const { session, sessionId, machineId, runId, callId, signal } = context;
    const { project, author } = session;
    const request = { project, requestId: callId, sessionId, machineId, message, author, forceInclude };
    const commit = await this.rpc.call(publishOps.commit, request, { signal });
    await this.transcripts.append(sessionId, runId, 'publication', {
      commit: commit.commit,
      branch: commit.branch,
      kept: commit.kept,
      held: [...commit.held, ...commit.refused],
      pushed: false,
      detail: 'committed on the host; published when the session closes',
    });
    return answered(describeCommit(commit));
  }
}

/** The commit as text for whoever asked for it. */
export function describeCommit(commit: CommitView): string {
  const lines =
    commit.commit === null
      ? ['Nothing to commit: no file that belongs into the project differs from the last commit.']
      : [
          `Committed ${commit.commit.slice(0, 12)} on ${commit.branch}: ${commit.keptCount} changed file(s).`,
          ...cut(commit.kept),
        ];
  return [
    ...lines,
    ...section(`Held back as scratch (${commit.heldCount}); name them in forceInclude if they belong`, commit.held),
    ...section(`Refused, they cannot be committed (${commit.refusedCount})`, commit.refused),
    ...commit.warnings,
  ].join('\n');
}

const section = (title: string, held: readonly HeldView[]): string[] =>
  held.length === 0 ? [] : [`${title}:`, ...cut(held.map(({ path, why }) => `${path}: ${why}`))];

const cut = (lines: readonly string[]): string[] => [
  ...lines.slice(0, LISTED).map((line) => `  ${line}`),
  ...(lines.length > LISTED ? [`  and ${lines.length - LISTED} more`] : []),
];
