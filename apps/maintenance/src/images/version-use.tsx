import { Link } from 'react-router';
import type { ImageVersionDetail } from '@inquest/contracts-image';
import { useVersionDetail } from '../api/images';
import { Facts } from '../components/facts';
import { Section } from '../components/page';
import { QueryView } from '../components/query-view';
import { count, size } from '../text/phrases';
import { templateText } from './template-text';

/** What stands on a version and what it takes: the reasons why it cannot be retired. */
export function VersionUse({ name, version }: { readonly name: string; readonly version: number }) {
  const detail = useVersionDetail(name, version);
  return (
    <Section title="Use">
      <QueryView answer={detail} what="what stands on it" rows={1}>
        {(view) => <Use name={name} detail={view} />}
      </QueryView>
    </Section>
  );
}

function Use({ name, detail }: { readonly name: string; readonly detail: ImageVersionDetail }) {
  const { machines, children, ancestors, diskUseBytes, packages, unfreezeReason } = detail;
  return (
    <>
      <Facts
        facts={[
          { label: 'Blocks on disk', value: size(diskUseBytes) },
          { label: 'fs-verity', value: verityOf(detail) },
          {
            label: 'Template',
            value: templateText(detail.templates),
            isWide: detail.templates.some(({ detail: why }) => why !== ''),
          },
          { label: 'Packages', value: packages.length === 0 ? 'none recorded' : count(packages.length, 'package') },
          { label: 'Descends from', value: versionsOf(name, ancestors) },
          { label: 'Unfrozen from it', value: versionsOf(name, children) },
          ...(unfreezeReason === null ? [] : [{ label: 'Unfrozen because', value: unfreezeReason, isWide: true }]),
        ]}
      />
      {machines.length === 0 ? (
        <p className="absent">No live machine stands on it.</p>
      ) : (
        <ul className="users" aria-label="Live machines on it">
          {machines.map(({ machineId, name: machine, state }) => (
            <li key={machineId}>
              <Link to={`/machines/${machineId}`}>{machine ?? machineId}</Link>, {state}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function verityOf({ files }: ImageVersionDetail): string {
  if (files.length === 0) return 'given at freeze';
  return files.every(({ verityDigest }) => verityDigest !== null) ? 'enabled' : 'not available';
}

const versionsOf = (name: string, versions: readonly number[]): string =>
  versions.length === 0 ? 'none' : versions.map((version) => `${name}:${version}`).join(', ');
