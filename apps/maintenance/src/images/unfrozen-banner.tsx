import { Link } from 'react-router';
import { useImages } from '../api/images';
import { Banner } from '../components/notice';

/** On every page while a working copy is open: sessions are being refused because of it. */
export function UnfrozenBanner() {
  const { data } = useImages();
  const unfrozen = (data?.items ?? []).filter(({ isUnfrozen }) => isUnfrozen);
  if (unfrozen.length === 0) return null;
  return (
    <Banner title={unfrozen.length === 1 ? 'An image is unfrozen' : 'Images are unfrozen'}>
      {unfrozen.map(({ name }) => (
        <p key={name}>
          A working copy of <Link to={`/images/${name}`}>{name}</Link> is open. Sessions that name no version of it are
          refused until it is frozen.
        </p>
      ))}
    </Banner>
  );
}
