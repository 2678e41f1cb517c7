import { ConfirmationView } from '@inquest/contracts-agent';
import type { Entry } from '@inquest/transcript';
import type { CliContext } from '../context';
import { answerLines, describeConfirmation } from '../output/confirmation-text';

/**
 * Tells whoever watches a run that it waits for a person: what is asked, and how to answer. On standard error, so that it
 * is seen with `--json` too. Asks nothing itself. A question that was answered meanwhile is not shown.
 */
export async function showQuestion(
  { gateway, printer, signal }: CliContext,
  { confirmationId }: Entry<'confirmation'>,
): Promise<void> {
  const path = `/v1/confirmations/${encodeURIComponent(confirmationId)}`;
  const confirmation = await gateway.call(ConfirmationView, 'GET', path).catch((e: unknown) => {
    if (signal.aborted) throw e;
    return null;
  });
  if (confirmation === null) {
    printer.note(`a person is asked; see: vmctl agent confirmations`);
    return;
  }
  if (confirmation.state !== 'open') return;
  printer.note(['a person is asked:', describeConfirmation(confirmation, Date.now())].join('\n'));
  printer.note(['answer it with', ...answerLines(confirmation).map((line) => `  ${line}`)].join('\n'));
}
