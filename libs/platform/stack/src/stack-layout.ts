import path from 'node:path';

/** Every file and directory under INQUEST_HOME, named once. */
export interface StackLayout {
  /** INQUEST_HOME itself: 0711, so that the unprivileged user of Postgres can pass through. */
  readonly home: string;
  /** What only makes sense while the stack runs: state and ready files. Removed when it stops. */
  readonly run: string;
  /** One log file per process. Kept. */
  readonly logs: string;
  /** Configuration and JetStream store of nats-server. */
  readonly nats: string;
  /** Database cluster. */
  readonly postgres: string;
  /** Copy of the npm package's Postgres, made when the unprivileged user cannot read the original. */
  readonly postgresBinaries: string;
  /** Image versions, and in `.staging` those that are being made. */
  readonly images: string;
  /** Unpacked kernels of the distribution, the newest two: what image-service builds versions with. */
  readonly kernels: string;
  /** One build and smoke log per image version; those of failed versions are bounded in number. */
  readonly imageLogs: string;
  /** Sources and half-made disks of imports and builds that are at work. Emptied when image-service starts. */
  readonly imageWork: string;
  /** The one directory from which images are imported by path. */
  readonly imports: string;
  /** One instance directory per machine. Emptied when the stack stops: machines do not outlive it. */
  readonly machines: string;
  /** Evidence bundles. */
  readonly evidence: string;
  readonly transcripts: string;
  /** Host-side git repositories of projects. */
  readonly projects: string;
  /** Bare repositories that the default forge publishes to. */
  readonly forge: string;
  /** Bearer token of the operator, 0600. `vmctl` reads it; services get only its SHA-256. */
  readonly token: string;
  /** Key of the signed URLs, 0600. */
  readonly urlSigningKey: string;
  /** Password of the database owner, 0600. */
  readonly postgresPassword: string;
  /** Passwords of the NATS users, 0600. */
  readonly natsPasswords: string;
  /** `StackState`, 0600, replaced atomically. */
  readonly state: string;
  /** flock(2) file of the supervisor. Never removed: removing a locked file would let two supervisors run. */
  readonly lock: string;
}

/** The layout of one home directory; makes nothing. */
export function stackLayout(home: string): StackLayout {
  const at = (...parts: string[]): string => path.join(home, ...parts);
  return {
    home,
    run: at('run'),
    logs: at('logs'),
    nats: at('nats'),
    postgres: at('postgres'),
    postgresBinaries: at('postgres-bin'),
    images: at('images'),
    kernels: at('kernels'),
    imageLogs: at('image-logs'),
    imageWork: at('image-work'),
    imports: at('imports'),
    machines: at('machines'),
    evidence: at('evidence'),
    transcripts: at('transcripts'),
    projects: at('projects'),
    forge: at('forge'),
    token: at('token'),
    urlSigningKey: at('url-signing-key'),
    postgresPassword: at('postgres-password'),
    natsPasswords: at('nats-passwords.json'),
    state: at('run', 'stack.json'),
    lock: at('supervisor.lock'),
  };
}

/** Where a service says that it listens. */
export const readyFilePath = (layout: StackLayout, name: string): string => path.join(layout.run, `${name}.ready.json`);

export const logFilePath = (layout: StackLayout, name: string): string => path.join(layout.logs, `${name}.log`);

/** INQUEST_HOME; without it /var/lib/inquest for root, ~/.local/share/inquest for anybody else. Always absolute. */
export function resolveHome(env: Readonly<Record<string, string | undefined>>, isRoot: boolean): string {
  const chosen = env['INQUEST_HOME'];
  if (chosen !== undefined && chosen !== '') return path.resolve(chosen);
  if (isRoot) return '/var/lib/inquest';
  return path.join(env['HOME'] ?? '/tmp', '.local', 'share', 'inquest');
}
