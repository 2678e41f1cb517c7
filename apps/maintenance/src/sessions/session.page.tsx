import { Link, useParams } from 'react-router';
import type { SessionView } from '@inquest/contracts-agent';
import { printable } from '@inquest/transcript';
import { hasEnded, useSession } from '../api/sessions';
import { useTranscript, type Transcript, type TranscriptState } from '../api/use-transcript';
import { Ago } from '../components/age';
import { Badge } from '../components/badge';
import { Facts } from '../components/facts';
import { EmptyState, Loading, ProblemNotice } from '../components/notice';
import { Page, Section } from '../components/page';
import { QueryView } from '../components/query-view';
import { SESSION_TONE, type Tone } from '../components/tone';
import { VerdictCard } from '../components/verdict-card';
import { PublicationFacts } from '../publications/publication-facts';
import { CensusSection } from './census-section';
import { RunList } from './run-list';
import { TranscriptList } from './transcript/transcript-list';

/** One session: what was asked, what was done, how its machine ended, what was published. */
export function SessionPage() {
  const { sessionId = '' } = useParams();
  const session = useSession(sessionId);
  const { data } = session;
  return (
    <Page
      title={sessionId}
      parent={{ to: '/sessions', title: 'Sessions' }}
      mark={data && <Badge tone={SESSION_TONE[data.state]}>{data.state}</Badge>}
    >
      <QueryView answer={session} what={`session ${sessionId}`}>
        {(view) => <Session session={view} />}
      </QueryView>
    </Page>
  );
}

function Session({ session }: { readonly session: SessionView }) {
  const { sessionId, project, image, machineId, message, openedAtMs, verdict, publication, error } = session;
  const transcript = useTranscript(sessionId);
  return (
    <>
      {error !== null && (
        <div className="notice" data-tone="bad">
          <p className="notice-title">{printable(error.message)}</p>
          <p>{error.remediation}</p>
        </div>
      )}
      <Facts
        facts={[
          { label: 'Project', value: project },
          { label: 'Image', value: <Link to={`/images/${image}`}>{image}</Link> },
          { label: 'Opened', value: <Ago atMs={openedAtMs} /> },
          {
            label: 'Machine',
            value: machineId === null ? 'none' : <Link to={`/machines/${machineId}`}>{machineId}</Link>,
          },
          { label: 'Message', value: printable(message), isWide: true },
        ]}
      />
      <RunList entries={transcript.entries} />
      <div className="columns">
        <Section title="Verdict">
          {verdict !== null ? (
            <VerdictCard verdict={verdict} isProvisional={false} />
          ) : (
            <p className="absent">
              {hasEnded(session) ? 'No verdict was recorded.' : 'Drawn when the machine of the session has ended.'}
            </p>
          )}
        </Section>
        <Section title="Publication">
          {publication !== null ? (
            <PublicationFacts publication={publication} />
          ) : (
            <p className="absent">
              {hasEnded(session)
                ? 'Nothing was published: nothing was committed.'
                : 'Comes when the session is closed.'}
            </p>
          )}
        </Section>
      </div>
      <TranscriptSection transcript={transcript} />
      <CensusSection entries={transcript.entries} />
    </>
  );
}

const CONNECTION: Readonly<Record<TranscriptState, { readonly word: string; readonly tone: Tone }>> = {
  loading: { word: 'loading', tone: 'busy' },
  live: { word: 'live', tone: 'good' },
  interrupted: { word: 'interrupted, trying again', tone: 'warn' },
  complete: { word: 'complete', tone: 'quiet' },
  failed: { word: 'failed', tone: 'bad' },
};

function TranscriptSection({ transcript: { entries, state, problem, warnings } }: { readonly transcript: Transcript }) {
  const { word, tone } = CONNECTION[state];
  return (
    <Section title="Transcript" note={<Badge tone={tone}>{word}</Badge>}>
      {problem !== null && <ProblemNotice error={problem} onRetry={() => location.reload()} />}
      {warnings.map((warning) => (
        <p key={warning} className="stale">
          {printable(warning)}
        </p>
      ))}
      {entries.length > 0 && <TranscriptList entries={entries} isLive={state === 'live'} />}
      {entries.length === 0 && state === 'loading' && <Loading what="the transcript" rows={4} />}
      {entries.length === 0 && state !== 'loading' && (
        <EmptyState title="Nothing is recorded yet">
          <p>The first entry comes when the machine of the session is ready.</p>
        </EmptyState>
      )}
    </Section>
  );
}
