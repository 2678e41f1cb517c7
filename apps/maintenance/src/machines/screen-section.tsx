import { Button } from 'react-aria-components';
import type { MachineView } from '@inquest/contracts-vm';
import { useScreenshot } from '../api/machines';
import { ProblemNotice } from '../components/notice';
import { Section } from '../components/page';
import { moment } from '../text/phrases';

/** What the screen of a machine shows, when it is asked for: a picture costs the guest nothing, but is no film. */
export function ScreenSection({ machine }: { readonly machine: MachineView }) {
  const { data: shot, error, isPending, mutate } = useScreenshot(machine.machineId);
  return (
    <Section title="Screen">
      <div className="actions">
        <Button className="button" isDisabled={isPending} onPress={() => mutate()}>
          {isPending ? 'Taking a picture …' : shot === undefined ? 'Take a picture' : 'Take another picture'}
        </Button>
      </div>
      {error !== null && <ProblemNotice error={error} />}
      {shot !== undefined && (
        <figure className="screen-picture">
          <img src={shot.url} alt={`The screen of ${machine.name ?? machine.machineId}`} />
          <figcaption>{`As it was at ${moment(shot.atMs)}.`}</figcaption>
        </figure>
      )}
    </Section>
  );
}
