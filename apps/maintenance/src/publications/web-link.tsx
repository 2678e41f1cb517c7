/** A link only for what a browser can open: a bare repository is a path on the host. */
export function WebLink({ url }: { readonly url: string }) {
  if (!/^https?:\/\//.test(url)) return <code className="wrap">{url}</code>;
  return (
    <a href={url} rel="noreferrer noopener" target="_blank" className="wrap">
      {url}
    </a>
  );
}
