import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsInt, IsString, MaxLength } from 'class-validator';
import {
  IsAllowedHosts,
  IsGuestPath,
  IsId,
  IsImageName,
  IsListOf,
  IsNested,
  IsText,
  IsTimeMs,
  IsWhole,
  Nullable,
} from '@inquest/contracts-base';
import { MAX_SHARES, ShareView, ShareWish } from './share.dto';

/** `ready` means that a ping with a fresh nonce round-tripped in this incarnation; started is not ready. */
export const MACHINE_STATES = ['requested', 'starting', 'ready', 'paused', 'ending', 'ended'] as const;
export type MachineState = (typeof MACHINE_STATES)[number];

/** A maintenance machine writes the open working copy of an image itself; there is one at a time. */
export const START_PURPOSES = ['session', 'smoke', 'maintenance'] as const;
export type StartPurpose = (typeof START_PURPOSES)[number];

/** How an incarnation came to run: its guest booted, or continued the template of its image version. */
export const MACHINE_ORIGINS = ['boot', 'clone'] as const;
export type MachineOrigin = (typeof MACHINE_ORIGINS)[number];

/** Memory bounds of a machine, MiB. Below 128 the distribution's kernel does not come up reliably. */
export const MEMORY_MIB = { min: 128, max: 1_048_576, default: 256 } as const;
export const CPUS = { min: 1, max: 64, default: 1 } as const;

/** The latest time that a machine's clock can be pinned to: 2100. */
export const RTC_MAX_MS = 4_102_444_800_000;

export class StartMachineRequest {
  /** Idempotency: sending the same id twice answers with the same machine. Null makes each request a new machine. */
  @Nullable() @IsId() readonly requestId: string | null = null;
  @IsImageName() readonly image!: string;
  /** Null means the frozen version that sessions get. */
  @Nullable() @IsWhole(1, 1_000_000) readonly version: number | null = null;
  /** A name that people can type; unique among live machines. Null: the machine is known by its id. */
  @Nullable() @IsId() readonly name: string | null = null;
  @Nullable() @IsWhole(CPUS.min, CPUS.max) readonly cpus: number | null = null;
  /** Null means what the image declares. */
  @Nullable() @IsWhole(MEMORY_MIB.min, MEMORY_MIB.max) readonly memoryMib: number | null = null;
  /** Who it is for, e.g. a session id; shown in listings. */
  @Nullable() @IsId() readonly owner: string | null = null;
  @IsIn(START_PURPOSES) readonly purpose: StartPurpose = 'session';
  /** Hosts that the guest may reach by HTTPS, through the host's proxy: names, and `*.suffix` for all below a suffix. */
  @IsAllowedHosts() readonly allowedHosts: string[] = [];
  /** Gives the guest the model of its node, on port 11434 of its own loopback. */
  @IsBoolean() readonly localModel: boolean = false;
  /** Gives the machine a screen, a pointer and a keyboard, also where the image declares none. */
  @IsBoolean() readonly screen: boolean = false;
  /** What the guest's clock shows at the start of each incarnation, ms since the Unix epoch; null is the time of the host. */
  @Nullable() @IsWhole(0, RTC_MAX_MS) readonly rtcBaseMs: number | null = null;
  /** Directories of the host that the guest may read. */
  @IsListOf(() => ShareWish, MAX_SHARES) readonly shares: ShareWish[] = [];
}

/** A pointer into a stored evidence file: the bytes that decided. */
export class EvidenceQuoteView {
  @IsText(64) readonly file!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly offset!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly length!: number;
  @IsText(512) readonly quote!: string;
}

/** How an incarnation ended (or stands), drawn by the host from its evidence. */
export class VerdictView {
  @IsText(64) readonly class!: string;
  @IsIn(['certain', 'likely', 'weak']) readonly confidence!: 'certain' | 'likely' | 'weak';
  /** One sentence for a person. */
  @IsText(1024) readonly account!: string;
  @IsIn(['guest', 'host', 'caller', 'none']) readonly blame!: 'guest' | 'host' | 'caller' | 'none';
  @IsBoolean() readonly ended!: boolean;
  @IsInt() readonly boots!: number;
  @IsListOf(() => EvidenceQuoteView, 64) readonly deciding!: EvidenceQuoteView[];
  @IsListOf(() => EvidenceQuoteView, 64) readonly contributing!: EvidenceQuoteView[];
  /** What is missing, cut or was skipped in the evidence. */
  @IsArray() @ArrayMaxSize(64) @IsString({ each: true }) @MaxLength(512, { each: true }) readonly warnings!: string[];
}

/** The ways out of a machine, which has no network card. */
export class EgressView {
  /** Both ends of the proxy were up when the machine became ready; false also when no host is allowed. */
  @IsBoolean() readonly isUp!: boolean;
  /** In lower case. */
  @IsAllowedHosts() readonly allowedHosts!: string[];
  @IsBoolean() readonly hasLocalModel!: boolean;
}

/** A machine's place in a group that is wired together. */
export class PeerView {
  @IsText(60) readonly group!: string;
  /** From 1. */
  @IsWhole(1, 254) readonly index!: number;
  /** IPv4 address on the wire of the group. */
  @IsText(15) readonly address!: string;
}

export class MachineView {
  @IsId() readonly machineId!: string;
  @Nullable() @IsId() readonly name!: string | null;
  @IsId() readonly node!: string;
  @IsImageName() readonly image!: string;
  @IsWhole(1, 1_000_000) readonly version!: number;
  @IsIn(MACHINE_STATES) readonly state!: MachineState;
  /** Short machine-readable why of the state, e.g. `booting`, `shutdown_requested`, a verdict class. */
  @IsText(64) readonly reason!: string;
  /** The same for people. */
  @IsText(8192) readonly message!: string;
  @IsWhole(1, 1_000_000) readonly incarnation!: number;
  @IsWhole(1, 4096) readonly cpus!: number;
  @IsWhole(1, 1_048_576) readonly memoryMib!: number;
  @IsText(32) readonly accelerator!: string;
  @IsBoolean() readonly hasScreen!: boolean;
  /** What the guest's clock showed when this incarnation started; null when it was the time of the host. */
  @Nullable() @IsWhole(0, RTC_MAX_MS) readonly rtcBaseMs!: number | null;
  /** Null until it is ready. */
  @Nullable() @IsIn(MACHINE_ORIGINS) readonly origin!: MachineOrigin | null;
  @Nullable() @IsId() readonly owner!: string | null;
  @IsTimeMs() readonly createdAtMs!: number;
  @Nullable() @IsTimeMs() readonly readyAtMs!: number | null;
  @Nullable() @IsTimeMs() readonly endedAtMs!: number | null;
  /** When the guest agent last answered; null before the first answer. */
  @Nullable() @IsTimeMs() readonly lastSeenAtMs!: number | null;
  /** Present once the incarnation ended. */
  @Nullable() @IsNested(() => VerdictView) readonly verdict!: VerdictView | null;
  @IsNested(() => EgressView) readonly egress!: EgressView;
  /** Directories of the host that the guest may read; not in listings. */
  @IsListOf(() => ShareView, MAX_SHARES) readonly shares!: ShareView[];
  /** Null: it has no network card. */
  @Nullable() @IsNested(() => PeerView) readonly peer!: PeerView | null;
  /** Its directory is gone; evidence and verdict stay. */
  @IsBoolean() readonly isRemoved!: boolean;
}

export class MachineList {
  @IsListOf(() => MachineView, 1000) readonly items!: MachineView[];
}

export class ListMachinesRequest {
  /** Also those that have ended. */
  @IsBoolean() readonly includeEnded: boolean = false;
  @IsWhole(1, 500) readonly limit: number = 100;
}

/** A machine by id, or by name: the live one that has it, else the newest that had it. */
export class MachineRequest {
  @IsId() readonly machineId!: string;
}

/** A machine in the incarnation that the caller means; null takes whichever it is in now. */
export class IncarnationRequest extends MachineRequest {
  @Nullable() @IsWhole(1, 1_000_000) readonly incarnation: number | null = null;
}

export class WaitMachineRequest extends MachineRequest {
  /** Answers as soon as the machine is in one of these states. */
  @IsIn(MACHINE_STATES, { each: true }) @ArrayMaxSize(6) readonly states!: MachineState[];
  /** Answers with the state it is in after this long, whatever it is. */
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
}

export class ResetMachineRequest extends IncarnationRequest {
  @IsText(64) readonly by: string = 'caller';
}

/** Copies a machine while it runs: what runs in its guest runs on in both. */
export class CloneMachineRequest extends IncarnationRequest {
  /** Of the copy; as in `StartMachineRequest`. */
  @Nullable() @IsId() readonly name: string | null = null;
  @IsText(64) readonly by: string = 'caller';
}

/** Gives a machine a directory of its host, from its next incarnation on. */
export class ShareRequest extends MachineRequest {
  @IsNested(() => ShareWish) readonly share!: ShareWish;
}

/** Takes a share away, from the machine's next incarnation on. */
export class UnshareRequest extends MachineRequest {
  @IsGuestPath() readonly guestPath!: string;
}

export class ShutdownMachineRequest extends IncarnationRequest {
  @IsIn(['poweroff', 'reboot']) readonly mode: 'poweroff' | 'reboot' = 'poweroff';
  /** How long the guest has before the verdict is drawn as it stands; nothing is killed. */
  @IsWhole(0, 55_000) readonly waitMs: number = 30_000;
  @IsText(64) readonly by: string = 'caller';
}

export class DestroyMachineRequest extends MachineRequest {
  @IsText(64) readonly by: string = 'caller';
}

/** What was observed, never what was asked for. */
export class DestroyedView {
  @IsId() readonly machineId!: string;
  /** The process was seen to be gone (also when it was gone before). */
  @IsBoolean() readonly killed!: boolean;
  /** A signal was sent. */
  @IsBoolean() readonly signalled!: boolean;
  @IsBoolean() readonly directoryRemoved!: boolean;
  @Nullable() @IsNested(() => VerdictView) readonly verdict!: VerdictView | null;
}

export class VerdictReport {
  @IsId() readonly machineId!: string;
  @IsWhole(1, 1_000_000) readonly incarnation!: number;
  @IsNested(() => VerdictView) readonly verdict!: VerdictView;
  /** Which engine drew it. */
  @IsText(32) readonly engineVersion!: string;
  /** True when it was drawn now, from a machine that still lives. */
  @IsBoolean() readonly isProvisional!: boolean;
}

export class NodeView {
  @IsId() readonly node!: string;
  @IsText(32) readonly driver!: string;
  @IsText(32) readonly accelerator!: string;
  /** Why this accelerator, e.g. why KVM is not used. */
  @IsText(2048) readonly acceleratorReason!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly memoryTotalMib!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly memoryAvailableMib!: number;
  @IsWhole(0, 100_000) readonly liveMachines!: number;
  /** Ready machines that nobody has asked for yet. */
  @IsWhole(0, 100_000) readonly warmMachines!: number;
}

/** A machine ended or changed its state. */
export class MachineChanged {
  @IsNested(() => MachineView) readonly machine!: MachineView;
  @IsTimeMs() readonly atMs!: number;
}
