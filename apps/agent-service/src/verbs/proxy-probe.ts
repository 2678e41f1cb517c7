/** How a guest finds out whether its proxy leads to a host. */
export interface ProxyProbe {
  /** For the guest's shell; needs nc or bash. */
  readonly command: string;
  /** What the output of the command means, for the one who asked. */
  describe(output: string): string;
}

const NO_PROGRAM = 'no program';
const STATUS_LINE = /^HTTP\/1\.1 ([0-9]{3}) [^\r\n]{0,80}/;

/**
 * A probe of an allowed host: its name has been checked by vm-service and is safe in a shell. It gives up a tunnel as soon
 * as that is open, and waits for the whole answer otherwise.
 */
export function proxyProbe(host: string): ProxyProbe {
  const request = `CONNECT ${host}:443 HTTP/1.1\\r\\nHost: ${host}:443\\r\\n\\r\\n`;
  const readAnswer = `IFS= read -r line <&3; printf "%s\\n" "$line"; case $line in *" 200 "*) ;; *) cat <&3 ;; esac`;
  const withNc = [
    'pipe=/tmp/.proxy-probe.$$ && mkfifo $pipe',
    // In the background: it is still connected when the shell, and it with it, has ended.
    `{ printf '${request}' | nc 127.0.0.1 3128 >$pipe; } 2>/dev/null & exec 3<$pipe; rm $pipe`,
    readAnswer,
  ].join('\n');
  const withBash = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "${request}" >&3; ${readAnswer}' 2>/dev/null`;
  return {
    command: [
      `if command -v nc >/dev/null; then\n${withNc}`,
      `elif command -v bash >/dev/null; then\n${withBash}`,
      `else echo '${NO_PROGRAM}'; fi`,
    ].join('\n'),
    describe: (output) => describe(host, output),
  };
}

function describe(host: string, output: string): string {
  if (output.startsWith(NO_PROGRAM)) return `Whether ${host} answers was not tried: the image has neither nc nor bash.`;
  const [line, status] = STATUS_LINE.exec(output) ?? [];
  if (line === undefined) return `Tried ${host} now: nothing answered in this machine's end of the proxy.`;
  if (status === '200') return `Tried ${host} now: it can be reached.`;
  const detail = /"detail":"([^"\\]{0,300})"/.exec(output)?.[1];
  return `Tried ${host} now: the proxy answered "${line}"${detail === undefined ? '' : `, because ${detail}`}.`;
}
