#!/usr/bin/env node
/**
 * NOT Firecracker: a stand-in for hosts where Firecracker cannot run, for tests only. It takes Firecracker's arguments and
 * configuration file, refuses what Firecracker would refuse, and boots the same files under QEMU's software emulation,
 * with vhost-device-vsock as the hybrid vsock. What can be seen of it from outside is Firecracker's: the console on
 * standard output, the sockets, the exit codes, and that it outlives a guest that powers itself off but not one that
 * reboots. What it cannot stand in for: KVM, virtio-mmio, Firecracker's own devices and its seccomp filters.
 */
import { readFileSync } from 'node:fs';
import { parseArguments } from './arguments.mjs';
import { readConfiguration } from './configuration.mjs';
import { runGuest } from './guest.mjs';
import { StandInError } from './stand-in-error.mjs';

/** The first word is what tells a Firecracker; the rest says what this is. */
const VERSION = 'Firecracker v0.0.0 stand-in (QEMU software emulation and vhost-device-vsock)';

try {
  const options = parseArguments(process.argv.slice(2));
  if (options.isVersionAsked) {
    console.log(`${VERSION}\n`);
  } else {
    await runGuest(readConfiguration(readFileSync(options.configFile, 'utf8')));
  }
} catch (e) {
  console.error(`Error: ${e.message}`);
  process.exitCode = e instanceof StandInError ? e.exitCode : 1;
}
