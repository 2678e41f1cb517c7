import { trouble, type ReportPattern } from './report-pattern';
import { at, callingBesides, fixed, group } from './report-titles';

/** Floppies and CD-ROMs without a medium report errors on every boot. */
const DISK = '(?!fd\\d|sr\\d)(\\w{1,32})';

/** Whoever asked these for memory ran out of it. */
const ALLOCATORS = /alloc|page|slab|kmem/;

/** Memory, storage and hardware: what the kernel copes with. */
export const TROUBLE_PATTERNS: readonly ReportPattern[] = [
  // Memory
  trouble(
    'page_allocation_failure',
    'trace',
    /^.{1,64}?: (?:page allocation failure[:.]|page allocation stalls for |vmalloc error: size |vmalloc: allocation failure)/,
    at('page allocation failure', callingBesides(ALLOCATORS)),
  ),
  trouble(
    'page_allocation_failure',
    'trace',
    /^vmalloc: allocation failure/,
    at('page allocation failure', callingBesides(ALLOCATORS)),
  ),
  trouble('oom_kill', 'kill', /^.{1,64} invoked oom-killer: gfp_mask=/, (_, { victim }) =>
    victim === null ? 'Out of memory' : `Out of memory: killed ${victim}`,
  ),
  trouble(
    'oom_kill',
    'line',
    /^(?:Out of memory|Memory cgroup out of memory)(?: \([^)]{1,64}\))?: Kill(?:ed)? process \d+ \((.{1,32}?)\)(?:[ ,]|$)/,
    (match) => `Out of memory: killed ${group(match, 1)}`,
  ),

  // Init
  trouble(
    'init_died',
    'line',
    /^(?:traps: )?[\w./-]{1,32}\[1\]:? (?:segfault at|general protection|trap )/,
    fixed('init crashed'),
  ),
  trouble('init_died', 'line', /^systemd\[1\]: (?:Caught <\w+>|Freezing execution)/, fixed('init crashed')),

  // File systems
  trouble(
    'filesystem_error',
    'line',
    /^(EXT[234]-fs)(?: \(\S{1,40}\):?)?:? ?(?:error(?! count)\b|(?:critical )?warning \(device \S{1,40}\): ext4_end_bio|Remounting filesystem read-only|(?:previous )?I\/O error|Delayed block allocation failed|failed to convert unwritten extents|shut ?down)/,
    (match) => `${group(match, 1)} error`,
  ),
  trouble(
    'filesystem_error',
    'line',
    /^(XFS) \(\S{1,40}\): (?:[Mm]etadata (?:[Cc]orruption|I\/O error)|Corruption (?:of|detected)|Internal error|[Ll]og I\/O error|[Uu]nmount and run xfs_repair|\S{1,40} I\/O error|User initiated shutdown|Filesystem has been shut down)/,
    (match) => `${group(match, 1)} error`,
  ),
  trouble(
    'filesystem_error',
    'line',
    /^(BTRFS)(?: (?:error|critical)|: error) ?\(|^(BTRFS) (?:info|warning) \(device [^)]{1,60}\): forced readonly/,
    (match) => `${group(match, 1) || group(match, 2)} error`,
  ),
  trouble(
    'filesystem_error',
    'line',
    /^(F2FS-fs|FAT-fs|SQUASHFS|EROFS|erofs|UBIFS|JFFS2|OCFS2|NILFS|exFAT-fs)(?: \(\S{1,40}\))?:? ?(?:(?:error|ERROR)\b(?!: (?:Can't find|unable to read id index))|Filesystem has been set read-only|Remounting filesystem read-only|shutting down)/,
    (match) => `${group(match, 1)} error`,
  ),
  trouble(
    'filesystem_error',
    'line',
    /^(?:JBD2?: (?:Detected IO errors|Error -?\d+ detected|.{0,60}I\/O error|Failed to )|Aborting journal on device|journal commit I\/O error)/,
    fixed('journal aborted or damaged'),
  ),

  // Block devices
  trouble(
    'block_error',
    'line',
    new RegExp(
      `^(?:blk_update_request: |print_req_error: |end_request: )?(?:I/O|(?:recoverable |critical )?(?:transport|target|nexus|medium|timeout|protection|space allocation|device)) error, dev ${DISK}`,
    ),
    (match) => `I/O error on ${group(match, 1)}`,
  ),
  trouble(
    'block_error',
    'line',
    new RegExp(`^Buffer I/O error on dev(?:ice)? ${DISK}`),
    (match) => `I/O error on ${group(match, 1)}`,
  ),
  trouble(
    'block_error',
    'line',
    /^nvme (nvme\d+): (?:I\/O (?:tag )?\d+ .{0,80}timeout|controller is down|Device not ready|Removing after probe failure|Disabling device after reset failure)/,
    (match) => `I/O error on ${group(match, 1)}`,
  ),
  trouble(
    'block_error',
    'line',
    /^(nvme\d+n\d+): .{1,80}, I\/O Error \(sct /,
    (match) => `I/O error on ${group(match, 1)}`,
  ),
  trouble(
    'block_error',
    'line',
    /^(ata\d+(?:\.\d+)?): (?:exception Emask|failed command:)/,
    (match) => `I/O error on ${group(match, 1)}`,
  ),
  trouble(
    'block_error',
    'line',
    /^md\/raid[\w:]{1,40}: Disk failure on (\w{1,32})/,
    (match) => `I/O error on ${group(match, 1)}`,
  ),
  trouble(
    'block_error',
    'line',
    /^(mmcblk\d+(?:p\d+)?): error -\d+ (?:transferring|sending|requesting)/,
    (match) => `I/O error on ${group(match, 1)}`,
  ),

  // Hardware
  trouble(
    'machine_check',
    'line',
    /^(?:mce: )?(?:\{\d{1,6}\})?\[Hardware Error\]: (?:CPU \d+: Machine Check|Machine check(?! events logged)|event severity: (?:fatal|recoverable))/i,
    fixed('machine check'),
  ),
  trouble(
    'machine_check',
    'line',
    /^mce: (?:CPU\d+: )?Machine check|^Machine check in kernel/i,
    fixed('machine check'),
  ),
  trouble('machine_check', 'line', /^(?:Disabling lock debugging due to )?MCE 0x[0-9a-f]+: /, fixed('machine check')),
  trouble('machine_check', 'line', /^Memory failure: 0x[0-9a-f]+: /, fixed('machine check')),
  trouble('machine_check', 'line', /^EDAC \w{1,16}: \d+ UE /, fixed('machine check')),
  trouble(
    'machine_check',
    'line',
    /^pcieport \S{1,32} ?(?:AER: Uncorrected \(Fatal\)|PCIe Bus Error: severity=Uncorrected \(Fatal\))/,
    fixed('machine check'),
  ),
];
