/** How many ready machines of an image the pool keeps. */
export interface WarmPoolTarget {
  readonly image: string;
  readonly size: number;
}

/** `image=size`, separated by commas. Each idle machine costs some 30 MiB, and a hundred of them a host. */
export const WARM_POOL_PATTERN = /^[a-z][a-z0-9-]{0,62}=\d{1,2}(?:,[a-z][a-z0-9-]{0,62}=\d{1,2})*$/;

/** The targets of a text that matches `WARM_POOL_PATTERN`; of an image that is named twice the last counts. */
export function warmPoolTargets(text: string | undefined): readonly WarmPoolTarget[] {
  if (text === undefined || text === '') return [];
  const sizes = new Map(
    text.split(',').map((entry): [string, number] => {
      const [image = '', size = '0'] = entry.split('=');
      return [image, Number(size)];
    }),
  );
  return [...sizes].map(([image, size]) => ({ image, size })).filter(({ size }) => size > 0);
}
