import { useNavigate, useParams } from 'react-router';
import type { ImageVersionView, ImageView } from '@inquest/contracts-image';
import { printable } from '@inquest/transcript';
import { useImage, useImageWork, useVersionEnding, type ImageWork } from '../api/images';
import { Ago } from '../components/age';
import { AskDialog } from '../components/ask-dialog';
import { Badge } from '../components/badge';
import { Digest } from '../components/digest';
import { EmptyState, ProblemNotice } from '../components/notice';
import { Page, Section } from '../components/page';
import { QueryView } from '../components/query-view';
import { RecordCard, RecordList } from '../components/record-list';
import { IMAGE_TONE } from '../components/tone';
import { size } from '../text/phrases';
import { summarizeChecks } from './summarize-checks';
import { templateText } from './template-text';
import { VersionActions, type VersionAsks } from './version-actions';

/** One image: its versions, and what can be done next. */
export function ImagePage() {
  const { name = '' } = useParams();
  const image = useImage(name, false);
  const work = useImageWork(name);
  const navigate = useNavigate();
  const ending = useVersionEnding(name);
  const ask = (wanted: ImageWork): void =>
    work.mutate(wanted, {
      onSuccess: ({ operationId }) => void navigate(`/images/${name}/operations/${operationId}`),
    });
  const asks: VersionAsks = { ask, end: ending.mutate, isBusy: work.isPending || ending.isPending };
  return (
    <Page
      title={name}
      parent={{ to: '/images', title: 'Images' }}
      actions={
        <AskDialog
          trigger="Build a version"
          title={`Build the next version of ${name}?`}
          confirm="Build it"
          isPrimary={image.data?.versions.length === 0}
          isBusy={work.isPending}
          onConfirm={() => ask({ kind: 'build' })}
        >
          <p>Its recipe is run on the host. Versions that exist stay as they are; machines on them go on.</p>
        </AskDialog>
      }
    >
      {work.error !== null && <ProblemNotice error={work.error} />}
      {ending.error !== null && <ProblemNotice error={ending.error} />}
      <QueryView answer={image} what={`image ${name}`}>
        {(view) => <Versions image={view} asks={asks} />}
      </QueryView>
    </Page>
  );
}

interface VersionsProps {
  readonly image: ImageView;
  readonly asks: VersionAsks;
}

function Versions({ image, asks }: VersionsProps) {
  const { name, description, isUnfrozen, versions } = image;
  return (
    <>
      <p className="page-note">
        {description} {whatSessionsGet(image)}
      </p>
      {image.templates.length > 0 && (
        <p className="page-note">
          Template of version {image.frozenVersion}: {templateText(image.templates)}.
        </p>
      )}
      <Section title="Versions">
        {versions.length === 0 ? (
          <EmptyState title="No version was built yet">
            <p>Build one; then freeze it, and sessions can use it.</p>
          </EmptyState>
        ) : (
          <RecordList label={`Versions of ${name}`}>
            {versions.map((version) => (
              <VersionCard key={version.version} version={version} isUnfrozen={isUnfrozen} asks={asks} />
            ))}
          </RecordList>
        )}
      </Section>
    </>
  );
}

function whatSessionsGet({ frozenVersion, isUnfrozen }: ImageView): string {
  if (frozenVersion === null) return 'No version is frozen, so no session can use it yet.';
  if (!isUnfrozen) return `Sessions get version ${frozenVersion}.`;
  return `Sessions that name no version are refused while a working copy is open; version ${frozenVersion} can be named.`;
}

interface VersionCardProps {
  readonly version: ImageVersionView;
  readonly isUnfrozen: boolean;
  readonly asks: VersionAsks;
}

function VersionCard({ version: view, isUnfrozen, asks }: VersionCardProps) {
  const { name, version, state, message, checks, createdAtMs, sizeBytes, digest, verifiedAtMs, isRemoved } = view;
  return (
    <RecordCard
      headingLevel={3}
      title={`${name}:${version}`}
      to={`/images/${name}/versions/${version}`}
      mark={<Badge tone={IMAGE_TONE[state]}>{state}</Badge>}
      {...(state === 'failed' || state === 'unfrozen' ? { summary: printable(message) } : {})}
      facts={[
        { label: 'Age', value: <Ago atMs={createdAtMs} /> },
        { label: 'Size', value: isRemoved ? 'removed' : sizeBytes === null ? '–' : size(sizeBytes) },
        { label: 'Checks', value: summarizeChecks(checks) },
        { label: 'Verified', value: verifiedAtMs === null ? 'never' : <Ago atMs={verifiedAtMs} /> },
        { label: 'Digest', value: <Digest digest={digest} />, isWide: true },
      ]}
    >
      <VersionActions version={view} isUnfrozen={isUnfrozen} asks={asks} />
    </RecordCard>
  );
}
