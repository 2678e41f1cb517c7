import { nameAndVersion } from './image-name';

/** Options of `open` and of `agent run` that say what a session gets. */
export interface SessionShapeOptions {
  /** `tiny` or `tiny:3`. */
  readonly image: string;
  /** MiB. */
  readonly memory?: number | undefined;
  readonly allowHost: readonly string[];
}

/** The part of a request to open a session that says what it gets; a property that is missing is the platform's choice. */
export interface SessionShape {
  readonly image: string;
  readonly version: number | null;
  readonly memoryMib: number | null;
  readonly allowedHosts: readonly string[];
}

/** What the platform is asked for; it refuses what it cannot give. */
export function sessionShape({ image: spec, memory, allowHost }: SessionShapeOptions): SessionShape {
  const [image, version] = nameAndVersion(spec);
  return { image, version, memoryMib: memory ?? null, allowedHosts: allowHost };
}
