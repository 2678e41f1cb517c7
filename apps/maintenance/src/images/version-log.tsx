import { printable } from '@inquest/transcript';
import { useVersionLog } from '../api/images';
import { Console } from '../components/console';
import { ProblemNotice } from '../components/notice';

/** The build and smoke log of a version, growing while it is worked on. */
export function VersionLog({
  name,
  version,
  isLive,
}: {
  readonly name: string;
  readonly version: number;
  readonly isLive: boolean;
}) {
  const { text, isLoaded, problem } = useVersionLog(name, version, isLive);
  return (
    <>
      {problem && <ProblemNotice error={problem} />}
      <Console
        label={`Log of ${name}:${version}`}
        length={text.length}
        emptyText={isLoaded ? 'Nothing was logged yet.' : 'Loading …'}
      >
        {printable(text)}
      </Console>
    </>
  );
}
