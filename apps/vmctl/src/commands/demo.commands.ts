import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ContextOf } from '../context';
import { demoSession } from '../demo/demo-session';

/** `demo session`: the whole product in one command. */
export function addDemoCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const demo = program.command('demo').description('see the platform at work');
  demo
    .command('session')
    .description('start what is missing, let the scripted model work in a real machine, check everything it left')
    .action(() => demoSession(context()));
}
