import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { EVIDENCE_DRIVERS } from '@inquest/verdict-engine';
import type { ContextOf } from '../context';
import { selftest } from '../selftest/selftest';
import { examples } from './examples';

/** A name that stays: the mirror of the distribution that most guests have. */
const EGRESS_HOST = 'deb.debian.org';

/** `selftest`: does the platform do here what it promises? */
export function addSelftestCommand(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('selftest')
    .option('--image <name>', 'image with a frozen version; tiny is built when it is missing', 'tiny')
    .option('--driver <name>', `fail unless machines run on this driver: ${EVIDENCE_DRIVERS.join(', ')}`)
    .option('--egress-host <host>', 'a host of the internet that the machine shall reach', EGRESS_HOST)
    .description('use a real machine as a caller would, from its creation to its end; PASS, FAIL or SKIP for each step')
    .addHelpText(
      'after',
      examples(
        ['vmctl selftest', 'exit status 0 when nothing failed'],
        ['vmctl selftest --image debian --json', 'one JSON document: checks, passed, failed, skipped'],
      ),
    )
    .action(({ image, driver = null, egressHost }) => selftest(context(), { image, driver, egressHost }));
}
