import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BootToolError, runTool } from '../boot/run-tool.mjs';

/** The suite of Debian that has what no release has yet. */
const SUITE = 'sid';
/** Where debian-archive-keyring, which the set-up installs, puts the keys of the archive. */
const DEBIAN_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
/** The package list of the suite has some 10 MB. */
const DOWNLOAD_TIMEOUT_MS = 120_000;
const NETWORK_ADVICE = 'Check the network and the sources of apt, and run this again.';

/**
 * Downloads a package of Debian's unstable suite and unpacks it below `directory`. apt verifies the signature of the
 * suite and through it the package. The system's own sources, lists and packages stay as they are, so no right of an
 * administrator is needed.
 *
 * @param {string} name
 * @param {string} directory an existing directory for this alone
 * @param {(line: string) => void} onProgress
 * @returns {Promise<string>} the directory with the package's tree
 * @throws {BootToolError} when this host's apt knows no Debian mirror, or the download or the unpacking fails
 */
export async function downloadFromSid(name, directory, onProgress) {
  const { uri, keyring } = await debianMirror();
  const environment = await prepareApt(directory, `deb [signed-by=${keyring}] ${uri} ${SUITE} main\n`);
  const options = { env: environment, timeoutMs: DOWNLOAD_TIMEOUT_MS, remediation: NETWORK_ADVICE };
  onProgress(`reading the package list of Debian ${SUITE} from ${uri}`);
  await runTool('apt-get', ['-q', 'update'], options);
  onProgress(`downloading ${name}`);
  const downloads = path.join(directory, 'packages');
  await mkdir(downloads);
  await runTool('apt-get', ['-q', 'download', name], { ...options, cwd: downloads });
  const tree = path.join(directory, 'tree');
  await mkdir(tree);
  for (const file of await readdir(downloads)) await runTool('dpkg-deb', ['-x', path.join(downloads, file), tree]);
  return tree;
}

/** The mirror that this host's own sources name for Debian's main archive, with the keys that they trust for it. */
async function debianMirror() {
  const format = '$(REPO_URI) $(SIGNED_BY)';
  const listing = await runTool('apt-get', [
    'indextargets',
    '--no-release-info',
    '--format',
    format,
    'Created-By: Packages',
  ]);
  for (const line of listing.split('\n')) {
    const [uri = '', signedBy = ''] = line.trim().split(' ');
    if (/\/debian\/?$/.test(uri)) return { uri, keyring: path.isAbsolute(signedBy) ? signedBy : DEBIAN_KEYRING };
  }
  throw new BootToolError(
    'The sources of apt name no mirror of the Debian archive',
    'Use a Debian host, or install the program yourself so that it is on the PATH.',
  );
}

/**
 * Makes a world of its own for apt, and returns the environment that selects it. Of the system's configuration it
 * keeps how to reach servers (proxies, certificates), and leaves out what else would run after an update.
 */
async function prepareApt(directory, source) {
  const at = (name) => path.join(directory, name);
  for (const name of ['lists/partial', 'cache/archives/partial', 'state']) await mkdir(at(name), { recursive: true });
  await writeFile(at('sources.list'), source);
  const acquire = await runTool('apt-config', ['dump', 'Acquire']);
  const own = {
    'Dir::Etc::main': '/dev/null',
    'Dir::Etc::parts': '/dev/null',
    'Dir::Etc::sourcelist': at('sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State': at('state'),
    'Dir::State::lists': at('lists'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': at('cache'),
    'Acquire::Languages': 'none',
    // A mirror that lags behind, or keeps one day for ever, has an old list, which the archive signed all the same.
    'Acquire::Check-Valid-Until': 'false',
    // Whatever the system allows itself: what is not signed by the archive is not run.
    'Acquire::AllowInsecureRepositories': 'false',
    'Acquire::AllowWeakRepositories': 'false',
    'APT::Get::AllowUnauthenticated': 'false',
    // The sandbox user of apt may not write below a private directory.
    'APT::Sandbox::User': 'root',
  };
  const lines = Object.entries(own).map(([key, value]) => `${key} "${value}";\n`);
  await writeFile(at('apt.conf'), [acquire, ...lines].join(''));
  return { APT_CONFIG: at('apt.conf') };
}
