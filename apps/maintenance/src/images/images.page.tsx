import { Link } from 'react-router';
import type { ImageView } from '@inquest/contracts-image';
import type { MachineView } from '@inquest/contracts-vm';
import { useImages } from '../api/images';
import { useMachines } from '../api/machines';
import { Ago } from '../components/age';
import { Badge } from '../components/badge';
import { Digest } from '../components/digest';
import { EmptyState } from '../components/notice';
import { Page } from '../components/page';
import { QueryView } from '../components/query-view';
import { RecordCard, RecordList } from '../components/record-list';
import { IMAGE_TONE } from '../components/tone';
import { count, size } from '../text/phrases';
import { sizeOfImages, sizeOfVersions } from './disk-use';

/** All images, each with its newest version and who uses it. */
export function ImagesPage() {
  const images = useImages();
  const machines = useMachines(false);
  return (
    <Page
      title="Images"
      actions={
        <Link className="button" to="/import">
          Import an image …
        </Link>
      }
    >
      <QueryView answer={images} what="images">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No image is known">
              <p>
                An image is made from a recipe: a folder below <code>tools/images</code>. Check that image-service finds
                it there.
              </p>
            </EmptyState>
          ) : (
            <>
              <p className="page-note">
                {count(items.length, 'image')}, {size(sizeOfImages(items))} of disks
              </p>
              <RecordList label="Images">
                {items.map((image) => (
                  <ImageCard key={image.name} image={image} machines={machines.data?.items} />
                ))}
              </RecordList>
            </>
          )
        }
      </QueryView>
    </Page>
  );
}

interface ImageCardProps {
  readonly image: ImageView;
  readonly machines: readonly MachineView[] | undefined;
}

function ImageCard({ image, machines }: ImageCardProps) {
  const { name, description, versions } = image;
  const newest = versions[0];
  const users = machines?.filter((machine) => machine.image === name).length;
  const to = `/images/${name}`;
  if (newest === undefined) {
    return (
      <RecordCard
        title={name}
        to={to}
        mark={<Badge tone="quiet">not built</Badge>}
        summary={description}
        facts={[{ label: 'Next', value: 'open it and build its first version', isWide: true }]}
      />
    );
  }
  return (
    <RecordCard
      title={name}
      to={to}
      mark={<Badge tone={IMAGE_TONE[newest.state]}>{newest.state}</Badge>}
      summary={description}
      facts={[
        { label: 'Newest version', value: newest.version },
        { label: 'Sessions get', value: whatSessionsGet(image) },
        { label: 'Age', value: <Ago atMs={newest.createdAtMs} /> },
        { label: 'Machines using it', value: users ?? '…' },
        { label: 'Disks', value: size(sizeOfVersions(versions)) },
        { label: 'Digest', value: <Digest digest={newest.digest} />, isWide: true },
      ]}
    />
  );
}

function whatSessionsGet({ frozenVersion, isUnfrozen }: ImageView): string {
  if (frozenVersion === null) return 'nothing: none is frozen';
  return isUnfrozen ? 'a refusal: it is unfrozen' : `version ${frozenVersion}`;
}
