import { useParams } from 'react-router';
import type { ImageOrigin, ImageVersionView } from '@inquest/contracts-image';
import { printable } from '@inquest/transcript';
import { useImage } from '../api/images';
import { Ago } from '../components/age';
import { Badge } from '../components/badge';
import { Facts } from '../components/facts';
import { EmptyState } from '../components/notice';
import { Page, Section } from '../components/page';
import { QueryView } from '../components/query-view';
import { IMAGE_TONE } from '../components/tone';
import { duration, size } from '../text/phrases';
import { Checks } from './checks';
import { VersionLog } from './version-log';
import { VersionDiff } from './version-diff';
import { VersionUse } from './version-use';

/** One version of an image: what it was made of, how it was proven, its log. */
export function VersionPage() {
  const { name = '', version: number = '' } = useParams();
  const image = useImage(name, false);
  const version = image.data?.versions.find((candidate) => String(candidate.version) === number);
  const others = (image.data?.versions ?? [])
    .filter((candidate) => candidate !== version && !candidate.isRemoved && candidate.state !== 'building')
    .map((candidate) => candidate.version);
  return (
    <Page
      title={`${name}:${number}`}
      parent={{ to: `/images/${name}`, title: name }}
      mark={version && <Badge tone={IMAGE_TONE[version.state]}>{version.state}</Badge>}
    >
      <QueryView answer={image} what={`image ${name}`}>
        {() =>
          version === undefined ? (
            <EmptyState title={`${name} has no version ${number}`}>
              <p>Its versions are on the page of the image.</p>
            </EmptyState>
          ) : (
            <Version version={version} others={others} />
          )
        }
      </QueryView>
    </Page>
  );
}

const ORIGIN: Readonly<Record<ImageOrigin, string>> = {
  recipe: 'its recipe',
  import: 'an import',
  maintenance: 'maintenance of another version',
};

interface VersionProps {
  readonly version: ImageVersionView;
  /** Numbers of the image's other versions. */
  readonly others: readonly number[];
}

function Version({ version: view, others }: VersionProps) {
  const { name, version, state, message, checks } = view;
  const isBuilding = state === 'building';
  return (
    <>
      {state === 'failed' && (
        <div className="notice" data-tone="bad">
          <p className="notice-title">{printable(message)}</p>
          <p>No session gets it. Mend the recipe or the host, and build the next version.</p>
        </div>
      )}
      <Section title="Lineage">
        <Facts
          facts={[
            { label: 'Digest', value: <code className="wrap">{view.digest ?? 'given at freeze'}</code>, isWide: true },
            { label: 'Recipe', value: <code className="wrap">{view.recipeDigest || 'none'}</code>, isWide: true },
            ...(view.sourceDigest === null
              ? []
              : [{ label: 'Imported', value: <code className="wrap">{view.sourceDigest}</code>, isWide: true }]),
            { label: 'Built', value: <Ago atMs={view.createdAtMs} /> },
            { label: 'Frozen', value: view.frozenAtMs === null ? 'no' : <Ago atMs={view.frozenAtMs} /> },
            { label: 'Smoke gate', value: view.smokeMs === null ? '–' : `took ${duration(view.smokeMs)}` },
            { label: 'Template', value: view.templateMs === null ? '–' : `took ${duration(view.templateMs)}` },
            { label: 'Verified', value: view.verifiedAtMs === null ? 'never' : <Ago atMs={view.verifiedAtMs} /> },
            { label: 'Size', value: view.sizeBytes === null ? '–' : size(view.sizeBytes) },
            { label: 'Kernel', value: view.kernelVersion || '–' },
            { label: 'Guest agent', value: view.agentVersion || '–' },
            { label: 'Made by', value: ORIGIN[view.origin] },
            { label: 'Unfrozen from', value: view.parentVersion === null ? 'none' : `version ${view.parentVersion}` },
          ]}
        />
      </Section>
      <VersionUse name={name} version={version} />
      <VersionDiff name={name} version={version} others={others} />
      <Section title="Checks">
        <Checks checks={checks} isRunning={false} />
      </Section>
      <Section title="Log">
        <VersionLog name={name} version={version} isLive={isBuilding} />
      </Section>
    </>
  );
}
