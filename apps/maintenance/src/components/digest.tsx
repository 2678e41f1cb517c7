/** Hexadecimal digits that tell two digests apart at a glance. */
const SHORT_DIGITS = 12;

/** The beginning of a `sha256:<hex>` digest; the whole of it is the title. */
export function Digest({ digest }: { readonly digest: string | null }) {
  if (digest === null || digest === '') return <span className="absent">none yet</span>;
  const [algorithm, hex = ''] = digest.split(':');
  return (
    <code className="digest" title={digest}>
      {algorithm}:{hex.slice(0, SHORT_DIGITS)}…
    </code>
  );
}
