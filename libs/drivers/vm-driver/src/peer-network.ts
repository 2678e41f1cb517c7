import path from 'node:path';

/** A hardware address that the guest agent knows: its last byte is the machine's number. */
export const peerHardwareAddress = (index: number): string => `52:54:00:be:ef:${index.toString(16).padStart(2, '0')}`;

/** The IPv4 address that the guest agent makes of it: 10 and the last three bytes. */
export const peerAddress = (index: number): string => `10.190.239.${index}`;

/** The socket on which one machine of a network receives from another. */
export const peerSocket = (directory: string, receiver: number, sender: number): string =>
  path.join(directory, `${receiver}-${sender}.sock`);
