import { Button } from 'react-aria-components';
import type { PublicationView } from '@inquest/contracts-publish';
import { useRetryPublication } from '../api/publications';
import { ProblemNotice } from '../components/notice';

/** Tries again what failed or was skipped. What is published already is never pushed twice. */
export function RetryButton({ publication }: { readonly publication: PublicationView }) {
  const { publicationId, state, steps, error } = publication;
  const retry = useRetryPublication(publicationId);
  const isIncomplete = state === 'failed' || state === 'skipped' || steps.some((step) => step.state === 'skipped');
  if (!isIncomplete) return null;
  return (
    <>
      {retry.error !== null && <ProblemNotice error={retry.error} />}
      <div className="actions">
        <Button
          className="button primary"
          isDisabled={retry.isPending}
          onPress={() => retry.mutate({ ownBranch: false })}
        >
          {retry.isPending ? 'Publishing …' : 'Try again'}
        </Button>
        {error?.code === 'FORGE_BRANCH_MOVED' && (
          <Button className="button" isDisabled={retry.isPending} onPress={() => retry.mutate({ ownBranch: true })}>
            Publish to a branch of its own
          </Button>
        )}
      </div>
    </>
  );
}
