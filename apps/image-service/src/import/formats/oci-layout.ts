import { imageError } from '@inquest/contracts-image';
import { invalidSource, unsafeSource } from './source-refusal';

// OCI image specification 1.1: image-layout.md, image-index.md, manifest.md, layer.md.

/** An index or a manifest is a page of text; more is not read. */
export const MAX_OCI_DOCUMENT_BYTES = 4 * 1024 * 1024;
/** More layers than any image builder makes (Docker stops at 127). */
const MAX_LAYERS = 256;

const MANIFEST_TYPES: readonly string[] = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const INDEX_TYPES: readonly string[] = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
const LAYER_TYPES: readonly string[] = [
  'application/vnd.oci.image.layer.v1.tar',
  'application/vnd.oci.image.layer.v1.tar+gzip',
  'application/vnd.docker.image.rootfs.diff.tar',
  'application/vnd.docker.image.rootfs.diff.tar.gzip',
];

/** A pointer to a blob of the layout. */
export interface OciDescriptor {
  readonly mediaType: string;
  /** `sha256:<hex>`, checked to be one: it becomes a path. */
  readonly digest: string;
  readonly sizeBytes: number;
  /** `os/architecture`; null when the descriptor does not say. */
  readonly platform: string | null;
}

/** True for a descriptor that leads to further manifests. */
export const isOciIndex = ({ mediaType }: OciDescriptor): boolean => INDEX_TYPES.includes(mediaType);

/** The manifests that an index lists. Throws `IMAGE_SOURCE_INVALID`. */
export function parseOciIndex(bytes: Buffer): readonly OciDescriptor[] {
  const { manifests } = parseObject(bytes, 'index');
  if (!Array.isArray(manifests)) throw invalidSource('the index of the OCI layout lists no manifests');
  return manifests.map(parseDescriptor);
}

/** The entry of `index.json` with the declared digest. Throws `IMAGE_SOURCE_DIGEST_WRONG`, naming those that there are. */
export function declaredManifest(manifests: readonly OciDescriptor[], digest: string): OciDescriptor {
  const found = manifests.find((manifest) => manifest.digest === digest);
  if (found !== undefined) return found;
  const there = manifests.slice(0, 10).map((manifest) => manifest.digest);
  throw imageError('IMAGE_SOURCE_DIGEST_WRONG', `the OCI layout has no image ${digest}; it has: ${there.join(', ')}`, {
    declared: digest,
  });
}

/** The one manifest for this platform's guests. Throws `IMAGE_SOURCE_INVALID`. */
export function guestManifest(manifests: readonly OciDescriptor[]): OciDescriptor {
  const found = manifests.find(
    ({ mediaType, platform }) => MANIFEST_TYPES.includes(mediaType) && platform === 'linux/amd64',
  );
  if (found === undefined) throw invalidSource('the OCI layout has no image for linux/amd64');
  return found;
}

/** The layers of a manifest, lowest first. Throws `IMAGE_SOURCE_INVALID`, and `IMAGE_SOURCE_UNSAFE` for layers elsewhere. */
export function parseOciManifest(bytes: Buffer): readonly OciDescriptor[] {
  const { layers } = parseObject(bytes, 'manifest');
  if (!Array.isArray(layers) || layers.length === 0)
    throw invalidSource('the manifest of the OCI layout has no layers');
  if (layers.length > MAX_LAYERS) throw invalidSource(`the OCI image has more than ${MAX_LAYERS} layers`);
  return layers.map((layer: unknown) => {
    if (isObject(layer) && layer['urls'] !== undefined) throw unsafeSource('a layer of the OCI image is elsewhere');
    const descriptor = parseDescriptor(layer);
    if (LAYER_TYPES.includes(descriptor.mediaType)) return descriptor;
    throw invalidSource(
      `a layer of the OCI image is ${descriptor.mediaType.slice(0, 120)}; tar and tar+gzip can be read`,
    );
  });
}

function parseDescriptor(value: unknown): OciDescriptor {
  if (!isObject(value)) throw invalidSource('the OCI layout has a descriptor that is none');
  const { mediaType, digest, size, platform } = value;
  if (typeof mediaType !== 'string' || typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw invalidSource('the OCI layout has a descriptor without media type or sha256 digest');
  if (!Number.isSafeInteger(size) || Number(size) < 0) throw invalidSource(`the size of ${digest} is no size`);
  return { mediaType, digest, sizeBytes: Number(size), platform: platformOf(platform) };
}

const platformOf = (value: unknown): string | null =>
  isObject(value) ? `${String(value['os'])}/${String(value['architecture'])}` : null;

function parseObject(bytes: Buffer, what: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isObject(value)) return value;
  } catch (e) {
    throw invalidSource(`the ${what} of the OCI layout is no JSON`, e);
  }
  throw invalidSource(`the ${what} of the OCI layout is no object`);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
