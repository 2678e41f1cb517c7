import type { GuestLink } from '@inquest/guest-link';
import type { MachineId } from '@inquest/kernel';

/** How the monitor process ended. What that means for the guest is for a verdict to say: code 0 alone proves nothing. */
export interface VmExit {
  /** Exit code; null when a signal ended the process, or when it was not our child and nobody saw its code. */
  readonly code: number | null;
  /** Name of the signal that ended the process, such as `SIGKILL`; null otherwise. */
  readonly signal: string | null;
  /** The last 4 KiB or less of the monitor's error output. */
  readonly stderrTail: string;
  /** When the end was observed, in ms since the Unix epoch. */
  readonly atMs: number;
}

/** One event of the monitor, such as QEMU's `SHUTDOWN`, as received. */
export interface VmEvent {
  readonly name: string;
  /** When the monitor says it happened, in ms since the Unix epoch. Events may arrive out of this order. */
  readonly atMs: number;
  /** The event's own data; empty when it has none. Not validated beyond being an object. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The line as received, without its line end: this is what `events.jsonl` holds. */
  readonly raw: string;
}

/** What the monitor says of the machine. */
export interface VmStatus {
  /** QEMU's words: `running`, `paused`, `io-error`, `watchdog`, `guest-panicked`, `suspended`, ...; null = no answer in time. */
  readonly status: string | null;
}

/** Counters of the evidence that was recorded so far. */
export interface VmRecording {
  readonly serialTotalBytes: number;
  /** Bytes that are in neither serial file: they fell between the head and the tail. */
  readonly serialDroppedBytes: number;
  /** True when an event may be missing from `events.jsonl`: too many came, or the recorder could not write. */
  readonly eventsLost: boolean;
}

/** Optional powers of one machine; each true one comes with the narrowing interface of the same name. */
export interface VmHandleCapabilities {
  /** The machine has a display that can be photographed: `ScreenshotHandle`. */
  readonly screenshot: boolean;
  /** The machine has a pointer and a keyboard that the host can drive: `InputHandle`. */
  readonly input: boolean;
  /** The machine has a second serial port, for a shell of the guest: `SerialShell`. Whether one answers is the guest's. */
  readonly serialShell: boolean;
}

/** One running life of a machine. */
export interface VmHandle {
  readonly machineId: MachineId;
  readonly incarnation: number;
  /** Process id of the monitor, which leads its own process group. For display: only the driver signals it. */
  readonly pid: number;
  readonly capabilities: VmHandleCapabilities;
  /**
   * Byte streams to and from the guest. A `connect` waits for the guest to come up until its signal aborts.
   * Closed by the driver when the machine ends, before `exited` settles.
   */
  readonly link: GuestLink;
  /**
   * Settles exactly once, whoever ended the machine; never rejects. By then the process is gone, its sockets are
   * unlinked, and `events.jsonl`, `serial.log` and `serial.tail.log` are complete on disk.
   */
  readonly exited: Promise<VmExit>;
  readonly recording: VmRecording;

  /**
   * Asks the monitor. A monitor that is silent when `signal` aborts, that is gone, or that answers nonsense is
   * `{status: null}`: this never rejects and never blocks longer than the signal.
   */
  status(signal: AbortSignal): Promise<VmStatus>;

  /** The last bytes of the serial console, at most `maxBytes` and at most 64 KiB. Also after the end. Hostile text. */
  consoleTail(maxBytes: number): Uint8Array;

  /**
   * Stops the virtual processors; pausing a paused machine succeeds. Rejects with `VM_MACHINE_ENDED`, with
   * `VM_COMMAND_REFUSED` (nothing changed), or with `VM_MONITOR_SILENT` when there is no answer before `signal` aborts or
   * within 10 s (the machine may then be paused or not: ask `status`).
   */
  pause(signal: AbortSignal): Promise<void>;

  /** Lets the virtual processors run again; resuming a running machine succeeds. Errors as for `pause`. */
  resume(signal: AbortSignal): Promise<void>;

  /**
   * Ends the machine: waits up to `graceMs` for it to end by itself (the caller has asked the guest), then SIGKILLs
   * its process group, and resolves with what `exited` gives. Idempotent, also concurrently: stopping a stopped
   * machine gives the same exit. Rejects only with `VM_PROCESS_UNKILLABLE`; the handle stays usable for another try.
   * The instance directory stays until `destroyInstance`.
   */
  stop(options: { readonly graceMs: number }): Promise<VmExit>;

  /**
   * Calls `listener` for every event from now on, in order of arrival, after the event was handed to the recorder.
   * A listener that throws harms neither the recording nor other listeners. Returns the unsubscribe function.
   */
  onEvent(listener: (event: VmEvent) => void): () => void;
}
