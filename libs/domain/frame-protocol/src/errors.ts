import { defineErrors, type ErrorRow } from '@inquest/kernel';

const protocolViolation = (when: string): ErrorRow => ({
  fault: 'guest',
  status: 502,
  when,
  remediation:
    'Reset the machine; when it happens on a fresh one, freeze the image again with the current guest agent.',
});

const callerMistake = (status: number, when: string, remediation: string): ErrorRow => ({
  fault: 'caller',
  status,
  when,
  remediation,
});

const guestFailure = (status: number, when: string, remediation: string): ErrorRow => ({
  fault: 'guest',
  status,
  when,
  remediation,
});

/** Rows for bytes that break the frame protocol. */
const FRAME_ERRORS = {
  FRAME_OVERSIZED: protocolViolation('A frame announces a length above the limit of its kind.'),
  FRAME_EMPTY: protocolViolation('A frame announces the length 0, which has no room for the kind byte.'),
  FRAME_TRUNCATED: protocolViolation('A stream ends inside a frame.'),
  FRAME_KIND_UNKNOWN: protocolViolation('The first payload byte of a frame is no known kind.'),
  FRAME_JSON_INVALID: protocolViolation('A control frame is not one JSON object in UTF-8.'),
  FRAME_ORDER_INVALID: protocolViolation(
    'A valid frame arrives where the request allows no frame of that kind or type.',
  ),
  ANSWER_INVALID: protocolViolation('A property of an answer is missing, has another type or is out of its bounds.'),
  REQUEST_OVERSIZED: callerMistake(
    413,
    'A request, or a piece of data, is larger than one frame may be.',
    'Send long input through stdin or a file (`put`) instead of arguments and environment.',
  ),
} as const;

/** Rows for failures that the guest agent reports; their keys are the `code` of its error answers. */
const GUEST_ERRORS = {
  OP_UNKNOWN: {
    fault: 'infra',
    status: 501,
    when: 'The guest agent does not know the op: its image has an older agent.',
    remediation: 'Freeze a new version of the image, which takes the current guest agent.',
  },
  OP_FAILED: guestFailure(
    502,
    'The system of the guest refused what the op asked for (clock, shutdown, sync, process creation).',
    'Read the message; the guest may be out of processes or memory, or its init may be gone.',
  ),
  PEER_UNREACHABLE: guestFailure(
    502,
    'Another machine of the group does not answer over the network between them.',
    'See whether that machine runs; one that does was wired wrongly, or its guest refuses connections.',
  ),
  REQUEST_INVALID: callerMistake(
    400,
    'A property of a request is missing or has the wrong type.',
    'Correct the property that the message names.',
  ),
  EXEC_ARGUMENT_INVALID: callerMistake(
    400,
    'An exec has neither or both of argv and shell, an empty argv, or a NUL in an argument.',
    'Give exactly one of argv and shell, without NUL characters.',
  ),
  EXEC_CWD_MISSING: callerMistake(
    404,
    'The working directory of an exec does not exist or is no directory.',
    'Create the directory first, or leave cwd out.',
  ),
  EXEC_ENV_INVALID: callerMistake(
    400,
    'A name of the environment is empty or contains = or NUL, or a value contains NUL.',
    'Correct the variable that the message names.',
  ),
  EXEC_ID_UNKNOWN: callerMistake(
    404,
    'A signal or a new size is for an exec that never ran or has ended.',
    'List what runs in the guest; an exec that has ended needs neither.',
  ),
  EXEC_NOT_FOUND: callerMistake(
    404,
    'The program of an exec does not exist in the guest.',
    'Check the name against PATH in the guest, or install it there.',
  ),
  EXEC_PERMISSION: callerMistake(
    403,
    'The program or the working directory of an exec may not be used by its user.',
    'Make the file executable, or run it as another user.',
  ),
  EXEC_SIGNAL_INVALID: callerMistake(
    400,
    'A signal name is unknown in the guest.',
    'Use a name such as SIGTERM, SIGINT or SIGKILL.',
  ),
  EXEC_TERMINAL_MISSING: callerMistake(
    409,
    'A new size is for an exec that was started without a terminal.',
    'Start the command with a terminal.',
  ),
  EXEC_USER_UNKNOWN: callerMistake(
    400,
    'The user of a request is not in the guest passwd file.',
    'Use a user of the image, or create it first.',
  ),
  PATH_INVALID: callerMistake(400, 'A path is not absolute, or contains NUL.', 'Give an absolute path.'),
  PATH_NOT_FOUND: callerMistake(
    404,
    'A path does not exist in the guest.',
    'List the parent directory to see what is there.',
  ),
  PATH_PERMISSION: callerMistake(
    403,
    'The guest denies access to a path.',
    'Use a path that the user may access, or another user.',
  ),
  PATH_NOT_A_DIRECTORY: callerMistake(
    409,
    'A directory was needed and the path, or a parent of it, is something else.',
    'Correct the path, or remove what stands in its place.',
  ),
  PATH_IS_A_DIRECTORY: callerMistake(
    409,
    'A file was needed and the path is a directory.',
    'Name a file, or use kind tar for a directory.',
  ),
  PATH_NOT_EMPTY: callerMistake(
    409,
    'A directory with entries was to be removed without recursive.',
    'Set recursive, or remove the entries first.',
  ),
  PATH_IO: guestFailure(
    502,
    'The guest system failed on a path; the message has its text.',
    'Look at the console log for disk errors; reset the machine when the root is read-only.',
  ),
  DISK_FULL: guestFailure(
    507,
    'The disk of the guest is full.',
    'Remove files in the guest, or use an image with a larger disk.',
  ),
  TAR_ENTRY_REFUSED: callerMistake(
    400,
    'A tar entry is absolute, has .. in its name, goes through a symlink, or is a device.',
    'Build the archive without the entry that the message names; entries before it were stored.',
  ),
  TAR_INVALID: callerMistake(
    400,
    'The data of a put is no tar archive, or ends inside one.',
    'Send a complete tar archive.',
  ),
  GUEST_ERROR_UNKNOWN: guestFailure(
    502,
    'The guest agent reported a failure with a code that this version does not know.',
    'Read the message; use a guest agent and a host of the same version.',
  ),
} as const satisfies Record<string, ErrorRow>;

/** Everything that the frame protocol can throw, on the host. */
export const frameError = defineErrors({ ...FRAME_ERRORS, ...GUEST_ERRORS });

/** Codes that the guest agent may put in an error answer, in alphabetical order. */
export const GUEST_ERROR_CODES: readonly string[] = Object.keys(GUEST_ERRORS)
  .filter((code) => code !== 'GUEST_ERROR_UNKNOWN')
  .concat(Object.keys(FRAME_ERRORS).filter((code) => code.startsWith('FRAME_')))
  .sort();
