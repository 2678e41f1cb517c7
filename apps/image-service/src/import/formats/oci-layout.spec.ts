import fc from 'fast-check';
import { isDomainError } from '@inquest/kernel';
import { declaredManifest, guestManifest, isOciIndex, parseOciIndex, parseOciManifest } from './oci-layout';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const descriptor = { mediaType: MANIFEST, digest: DIGEST, size: 10 };

describe('an OCI layout', () => {
  it('lists its manifests, and the one with the declared digest', () => {
    const manifests = parseOciIndex(json({ manifests: [descriptor] }));
    expect(declaredManifest(manifests, DIGEST)).toEqual({
      mediaType: MANIFEST,
      digest: DIGEST,
      sizeBytes: 10,
      platform: null,
    });
    expect(() => declaredManifest(manifests, `sha256:${'b'.repeat(64)}`)).toThrow(
      expect.objectContaining({ code: 'IMAGE_SOURCE_DIGEST_WRONG', message: expect.stringContaining(DIGEST) }),
    );
  });

  it('has one manifest for the platform of the guests', () => {
    const platforms = ['arm64', 'amd64'].map((architecture) => ({
      ...descriptor,
      platform: { os: 'linux', architecture },
    }));
    expect(guestManifest(parseOciIndex(json({ manifests: platforms }))).platform).toBe('linux/amd64');
    expect(() => guestManifest(parseOciIndex(json({ manifests: platforms.slice(0, 1) })))).toThrow(/linux\/amd64/);
  });

  it('tells an index from a manifest', () => {
    const [index] = parseOciIndex(
      json({ manifests: [{ ...descriptor, mediaType: 'application/vnd.oci.image.index.v1+json' }] }),
    );
    expect(index !== undefined && isOciIndex(index)).toBe(true);
  });

  it('refuses layers that are elsewhere, and those that it cannot read', () => {
    const layer = { mediaType: LAYER, digest: DIGEST, size: 1 };
    expect(parseOciManifest(json({ layers: [layer] }))).toHaveLength(1);
    expect(() => parseOciManifest(json({ layers: [{ ...layer, urls: ['http://x'] }] }))).toThrow(
      expect.objectContaining({ code: 'IMAGE_SOURCE_UNSAFE' }),
    );
    for (const layers of [[], [{ ...layer, mediaType: `${LAYER}+zstd` }], Array(300).fill(layer)]) {
      expect(() => parseOciManifest(json({ layers }))).toThrow(
        expect.objectContaining({ code: 'IMAGE_SOURCE_INVALID' }),
      );
    }
  });

  it.each(['../../etc/passwd', 'sha256:../../x', 'sha512:aa', `sha256:${'A'.repeat(64)}`, 7, null])(
    'refuses the digest %j, which would become a path',
    (digest) => {
      expect(() => parseOciIndex(json({ manifests: [{ ...descriptor, digest }] }))).toThrow(
        expect.objectContaining({ code: 'IMAGE_SOURCE_INVALID' }),
      );
    },
  );

  it('answers any document with descriptors or a refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        for (const parse of [parseOciIndex, parseOciManifest]) {
          try {
            parse(Buffer.from(text));
          } catch (e) {
            expect(isDomainError(e)).toBe(true);
          }
        }
      }),
    );
  });
});
