import { takeCensus, type TranscriptEntry } from '@inquest/transcript';
import { Section } from '../components/page';
import { words } from '../text/phrases';

/** Which verbs were used how often. The closing census names those that never were; until then this is a count so far. */
export function CensusSection({ entries }: { readonly entries: readonly TranscriptEntry[] }) {
  const closing = entries.findLast((entry) => entry.type === 'census');
  const { verbs, neverUsed, modelTurns, differences } = closing ?? takeCensus(entries, []);
  return (
    <Section title="Census" note={closing ? 'closing census' : 'so far'}>
      {verbs.length === 0 ? (
        <p className="absent">No verb was called yet.</p>
      ) : (
        <table className="census">
          <caption className="hidden">Calls of each verb</caption>
          <thead>
            <tr>
              <th scope="col">Verb</th>
              <th scope="col">Calls</th>
              <th scope="col">Refused</th>
              <th scope="col">Failed</th>
              <th scope="col">Errors</th>
            </tr>
          </thead>
          <tbody>
            {verbs.map(({ verb, count, refused, failed, errors }) => (
              <tr key={verb}>
                <th scope="row">{words(verb)}</th>
                <td>{count}</td>
                <td>{refused}</td>
                <td>{failed}</td>
                <td>{errors}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="census-note">
        Turns of the model: {modelTurns}.{' '}
        {closing &&
          (neverUsed.length === 0 ? 'Every verb was used.' : `Never used: ${neverUsed.map(words).join(', ')}.`)}
      </p>
      {differences.length > 0 && (
        <ul className="warnings" aria-label="Where the guest agent counts otherwise">
          {differences.map(({ counter, transcript, guest }) => (
            <li key={counter}>
              {counter}: {transcript} here, {guest} by the guest agent
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
