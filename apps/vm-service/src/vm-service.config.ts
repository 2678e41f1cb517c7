import { IsIn, IsInt, IsOptional, IsUrl, Matches, Max, Min } from 'class-validator';
import { Env, ServiceConfig } from '@inquest/config';
import { WARM_POOL_PATTERN } from './warm-pool/warm-pool-targets';

/** What can run the machines of a node. */
const VM_DRIVERS = ['qemu', 'firecracker'] as const;

/** What becomes of machines that nobody watches for a while. */
const MACHINES_AT_STOP = ['end', 'keep'] as const;

/** A program name or an absolute path. */
const PROGRAM_PATTERN = /^(?:\/|[\w.+-]+$)/;

/** What vm-service reads from its environment, besides what every service reads. */
export class VmServiceConfig extends ServiceConfig {
  @Env('INQUEST_BOOT_TIMEOUT_MS', {
    description: 'How long a guest may take from its first instruction to the first answer of its agent',
    default: '120000',
  })
  @IsInt()
  @Min(1000)
  @Max(3_600_000)
  readonly bootTimeoutMs!: number;

  @Env('INQUEST_VM_DRIVER', {
    description:
      'What runs the machines: qemu, or firecracker, which needs KVM and has no templates (see `vmctl doctor`)',
    default: 'qemu',
  })
  @IsIn(VM_DRIVERS)
  readonly vmDriver!: (typeof VM_DRIVERS)[number];

  @Env('INQUEST_MACHINES_AT_STOP', {
    description:
      'What becomes of running machines when vm-service is told to stop: end, or keep, for the next one to take over (qemu only)',
    default: 'end',
  })
  @IsIn(MACHINES_AT_STOP)
  readonly machinesAtStop!: (typeof MACHINES_AT_STOP)[number];

  @Env('INQUEST_FIRECRACKER', {
    description: 'The Firecracker program, as a name or an absolute path; used with INQUEST_VM_DRIVER=firecracker',
    default: 'firecracker',
  })
  @Matches(PROGRAM_PATTERN, { message: 'firecracker must be a program name or an absolute path' })
  readonly firecracker!: string;

  @Env('INQUEST_MEMORY_RESERVE_MIB', {
    description: 'Host memory that is never given to machines, MiB',
    default: '512',
  })
  @IsInt()
  @Min(0)
  @Max(1_048_576)
  readonly memoryReserveMib!: number;

  @Env('INQUEST_WARM_POOL', {
    description: 'Machines kept ready, as image=number with commas between; none when unset. Each needs its template',
  })
  @IsOptional()
  @Matches(WARM_POOL_PATTERN, { message: 'warmPool must be image=number, with commas between' })
  readonly warmPool?: string;

  @Env('INQUEST_LOCAL_MODEL_URL', {
    description:
      'Where the local model of this node is, for machines that ask for it; none when unset. Its path is not used',
  })
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http'], require_protocol: true, disallow_auth: true })
  readonly localModelUrl?: string;

  @Env('INQUEST_ADVERTISED_URL', {
    description: 'Base URL under which other services reach the byte streams of this node; its own address when unset',
  })
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  readonly advertisedUrl?: string;
}
