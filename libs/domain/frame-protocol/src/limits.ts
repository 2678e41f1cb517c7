/** Version that `ping` answers; both sides change it together when a frame or an op changes its meaning. */
export const PROTOCOL_VERSION = 1;

/** Port of the guest agent's frame service on every guest link. */
export const FRAME_PORT = 9001;

/** Size of the big-endian length that starts a frame. */
export const LENGTH_PREFIX_BYTES = 4;

/** Largest length N of a control frame: the JSON text with its braces. Also the largest length of all. */
export const MAX_CONTROL_FRAME_BYTES = 1024 * 1024;

/** Largest length N of a data frame: the kind byte and the data. */
export const MAX_DATA_FRAME_BYTES = 256 * 1024;

/** Most data that one data frame can carry: its kind byte counts too. */
export const MAX_DATA_BYTES = MAX_DATA_FRAME_BYTES - 1;

/** Length N of an end frame: its kind byte and nothing else. */
export const END_FRAME_BYTES = 1;

/** Longest nonce of a `ping`, in characters. */
export const MAX_NONCE_LENGTH = 64;

/** Most entries that a `list` may answer. */
export const MAX_LIST_ENTRIES = 10_000;

/** Longest file name on Linux (NAME_MAX of linux/limits.h), in bytes; so never more characters than this. */
export const MAX_NAME_LENGTH = 255;

/** Longest text of a guest that is kept of an error, in characters. What follows is cut off. */
export const MAX_GUEST_MESSAGE_LENGTH = 1024;
