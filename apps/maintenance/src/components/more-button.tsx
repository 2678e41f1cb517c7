import { Button } from 'react-aria-components';

interface MoreButtonProps {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
}

/** Loads the next page of a list; not there when that was all. */
export function MoreButton({ hasNextPage, isFetchingNextPage, fetchNextPage }: MoreButtonProps) {
  if (!hasNextPage) return null;
  return (
    <p className="more">
      <Button className="button" isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
        {isFetchingNextPage ? 'Loading …' : 'Show older ones'}
      </Button>
    </p>
  );
}
