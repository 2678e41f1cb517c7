import { Link } from 'react-router';
import type { SessionView } from '@inquest/contracts-agent';
import { useSessions } from '../api/sessions';
import { Ago } from '../components/age';
import { Badge } from '../components/badge';
import { MoreButton } from '../components/more-button';
import { EmptyState } from '../components/notice';
import { Page } from '../components/page';
import { QueryView } from '../components/query-view';
import { RecordCard, RecordList } from '../components/record-list';
import { SESSION_TONE } from '../components/tone';
import { words } from '../text/phrases';

/** Sessions, newest first. */
export function SessionsPage() {
  const sessions = useSessions();
  return (
    <Page title="Sessions">
      <QueryView answer={sessions} what="sessions">
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length > 0) {
            return (
              <>
                <RecordList label="Sessions">
                  {items.map((session) => (
                    <SessionCard key={session.sessionId} session={session} />
                  ))}
                </RecordList>
                <MoreButton {...sessions} />
              </>
            );
          }
          return (
            <EmptyState title="No session was opened yet">
              <p>
                Let an agent work: <code>vmctl agent run &quot;make …&quot; --project demo</code>
              </p>
            </EmptyState>
          );
        }}
      </QueryView>
    </Page>
  );
}

function SessionCard({ session }: { readonly session: SessionView }) {
  const { sessionId, project, image, mode, state, machineId, openedAtMs, verdict, publication } = session;
  return (
    <RecordCard
      title={sessionId}
      to={`/sessions/${sessionId}`}
      mark={<Badge tone={SESSION_TONE[state]}>{state}</Badge>}
      facts={[
        { label: 'Project', value: project },
        { label: 'Worked by', value: mode === 'agent' ? 'a model' : 'hand' },
        { label: 'Image', value: image },
        { label: 'Opened', value: <Ago atMs={openedAtMs} /> },
        {
          label: 'Machine',
          value: machineId === null ? 'none' : <Link to={`/machines/${machineId}`}>{machineId}</Link>,
        },
        { label: 'Verdict', value: verdict === null ? 'none yet' : words(verdict.class) },
        { label: 'Publication', value: publication === null ? 'none' : publication.state },
      ]}
    />
  );
}
