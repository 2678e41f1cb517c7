import { Link, useRouteError } from 'react-router';
import { ProblemNotice } from '../components/notice';
import { Page } from '../components/page';

/** An address that this app does not have. */
export function UnknownPage() {
  return (
    <Page title="No such page">
      <p>
        Nothing is at this address. Go to the <Link to="/images">images</Link> or the{' '}
        <Link to="/machines">machines</Link>.
      </p>
    </Page>
  );
}

/** A page that failed to show itself. */
export function BrokenPage() {
  const error = useRouteError();
  return (
    <main className="main">
      <h1>This page failed</h1>
      <ProblemNotice error={error} onRetry={() => location.reload()} />
    </main>
  );
}
