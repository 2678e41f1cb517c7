import {
  MAX_CENSUS_VERBS,
  SESSION_SUMMARY_LENGTH,
  SessionCensus,
  SessionReport,
  type CensusVerb,
} from '@inquest/contracts-publish';
import { cutText, dto } from '@inquest/contracts-base';
import type { VerdictView } from '@inquest/contracts-vm';
import type { SessionId } from '@inquest/kernel';
import type { Census } from '@inquest/transcript';
import type { TranscriptsService } from '../transcript/transcripts.service';

const MAX_VERB_LENGTH = 128;

/**
 * What people who review the work of a session are told of it. From its transcript, so that secrets are out of it
 * already. Throws what reading the transcript throws.
 */
export async function sessionReport(
  transcripts: TranscriptsService,
  session: SessionId,
  verdict: VerdictView | null,
): Promise<SessionReport> {
  return dto(SessionReport, {
    summary: cutText(await lastSummary(transcripts, session), SESSION_SUMMARY_LENGTH),
    census: reported(await transcripts.census(session)),
    verdict: verdict && { class: verdict.class, confidence: verdict.confidence, account: verdict.account },
  });
}

/** What the last run ended with, or the last `done` that was called by hand. */
async function lastSummary(transcripts: TranscriptsService, session: SessionId): Promise<string> {
  let summary = '';
  for await (const entry of transcripts.entries(session)) {
    if (entry.type === 'run_ended' || (entry.type === 'verb' && entry.verb === 'done')) summary = entry.summary;
  }
  return summary;
}

function reported({ verbs, neverUsed }: Census): SessionCensus {
  const counts = verbs.slice(0, MAX_CENSUS_VERBS).map(({ verb, count, refused, failed, errors }): CensusVerb => ({
    verb: cutText(verb, MAX_VERB_LENGTH),
    count,
    refused,
    failed,
    errors,
  }));
  return dto(SessionCensus, { verbs: counts, neverUsed: neverUsed.slice(0, MAX_CENSUS_VERBS) });
}
