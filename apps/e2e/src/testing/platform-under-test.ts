import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { runCommand, type CommandResult, type ProcessIdentity } from '@inquest/process';
import { stackLayout, stackStatus, type StackLayout } from '@inquest/stack';
import { eventually, tempDir } from '@inquest/testing';

/** The built command line: the tests use the platform as its users do. */
const VMCTL = path.resolve(__dirname, '../../../vmctl/dist/main.js');
const ANY_STATUS = Array.from({ length: 256 }, (_, status) => status);
/** A command of vmctl on a machine that is five times slower than usual; building and freezing an image takes longest. */
const COMMAND_TIMEOUT_MS = 300_000;
/** How long a killed service may be away until its supervisor has it running again. */
const RESTART_TIMEOUT_MS = 60_000;

export interface VmctlOptions {
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/** A whole platform, real services and all, under a home of its own. */
export class PlatformUnderTest {
  private constructor(
    readonly layout: StackLayout,
    private readonly removeHome: () => Promise<void>,
  ) {}

  /** A home in which nothing was started yet. */
  static async create(name: string): Promise<PlatformUnderTest> {
    const directory = await tempDir(`e2e-${name}`);
    return new PlatformUnderTest(stackLayout(directory.path), () => directory.remove());
  }

  get home(): string {
    return this.layout.home;
  }

  /** Runs vmctl to its end, whatever its exit status. */
  vmctl(args: readonly string[], { input, signal }: VmctlOptions = {}): Promise<CommandResult> {
    return runCommand(process.execPath, [VMCTL, ...args], {
      env: this.environment,
      acceptExitCodes: ANY_STATUS,
      timeoutMs: COMMAND_TIMEOUT_MS,
      ...(input === undefined ? {} : { input }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** What to start vmctl with by other means. */
  get commandLine(): readonly [file: string, script: string] {
    return [process.execPath, VMCTL];
  }

  get environment(): { readonly INQUEST_HOME: string } {
    return { INQUEST_HOME: this.home };
  }

  /** Runs vmctl, which must succeed, and gives its JSON document. */
  async json<T>(...args: readonly string[]): Promise<T> {
    const { exitCode, stdout, stderr } = await this.vmctl([...args, '--json']);
    if (exitCode !== 0) throw new Error(`vmctl ${args.join(' ')} gave ${exitCode}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Starts the platform with a frozen `tiny`. */
  async upWithImage(): Promise<void> {
    await this.json('up');
    await this.json('image', 'build', 'tiny');
    await this.json('image', 'freeze', 'tiny');
  }

  /** Starts a machine and gives its id once its guest agent answers. */
  async startMachine(name: string): Promise<string> {
    return (await this.json<{ machineId: string }>('new', 'tiny', '--name', name)).machineId;
  }

  /** A request to the gateway, by default with the operator's token. */
  async request(target: string, options: RequestInit = {}): Promise<{ status: number; body: Record<string, unknown> }> {
    const { state } = await stackStatus(this.home);
    const token = (await readFile(this.layout.token, 'utf8')).trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${state?.gatewayUrl ?? ''}${target}`, { headers, ...options });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** The process of a service as it is on record now. */
  async processOf(service: string): Promise<ProcessIdentity> {
    const { services } = await stackStatus(this.home);
    const found = services.find(({ name }) => name === service);
    if (found?.state !== 'running' || found.process === null)
      throw new Error(`${service} is ${found?.state ?? 'unknown'}`);
    return found.process;
  }

  /** SIGKILL, and the wait until its supervisor has the service running again. */
  async killService(service: string): Promise<void> {
    const { pid } = await this.processOf(service);
    process.kill(pid, 'SIGKILL');
    await eventually(async () => (await this.processOf(service)).pid !== pid, { timeoutMs: RESTART_TIMEOUT_MS });
  }

  /** What only a machine may have: sockets, anywhere below the home, and everything in an instance directory. */
  async leftovers(): Promise<readonly string[]> {
    const entries = await readdir(this.home, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory());
    const left = files.filter((entry) => entry.isSocket() || entry.parentPath.startsWith(`${this.layout.machines}/`));
    return left.map((entry) => path.join(entry.parentPath, entry.name));
  }

  /** Whether a file or directory is there. */
  static exists(file: string): Promise<boolean> {
    return stat(file).then(
      () => true,
      () => false,
    );
  }

  /** Stops everything and removes the home. */
  async remove(): Promise<void> {
    await this.vmctl(['down']);
    await this.removeHome();
  }
}
