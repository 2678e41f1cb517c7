import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ContextOf } from '../context';
import { demoDestroy } from '../demo/demo-destroy';
import { demoSession } from '../demo/demo-session';
import { demoShutdown } from '../demo/demo-shutdown';

/** `demo session|shutdown|destroy`: what the platform promises, shown on real machines. */
export function addDemoCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const demo = program.command('demo').description('see the platform at work');
  demo
    .command('session')
    .description('start what is missing, let the scripted model work in a real machine, check everything it left')
    .action(() => demoSession(context()));
  demo
    .command('shutdown')
    .description('end real machines in every way there is; each must get its verdict, twice the same')
    .action(() => demoShutdown(context()));
  demo
    .command('destroy')
    .description('delete /etc and /usr in a real machine; a reset must bring it back, the host must not notice')
    .action(() => demoDestroy(context()));
}
