import type { ConfirmationView } from '@inquest/contracts-agent';
import { printable, printableLine } from '@inquest/transcript';
import { age } from './phrases';

/** A confirmation for people: what is asked, about what, by whom, and what became of it. */
export function describeConfirmation(c: ConfirmationView, nowMs: number): string {
  return [
    `${c.confirmationId}  ${c.state}  ${c.verb} in project ${c.project}  (session ${c.sessionId}, run ${c.runId})`,
    ...indented(c.question),
    ...c.choices.map((choice) => `    choice: ${printableLine(choice)}`),
    ...indented(c.argumentsText),
    ...cutNote(c),
    `  ${howItStands(c, nowMs)}`,
  ].join('\n');
}

/** Command lines that answer a confirmation. */
export function answerLines({ confirmationId, choices }: ConfirmationView): string[] {
  const choice = choices.length === 0 ? '' : ' --choice <one of them>';
  return [
    `vmctl agent answer ${confirmationId} --approve${choice}`,
    `vmctl agent answer ${confirmationId} --deny --reason <why>`,
  ];
}

const indented = (text: string): string[] =>
  text === ''
    ? []
    : printable(text)
        .split('\n')
        .map((line) => `  ${line}`);

const cutNote = ({ argumentsText, argumentsLength }: ConfirmationView): string[] =>
  argumentsLength > argumentsText.length
    ? [
        `  [cut: these are the first ${argumentsText.length} of ${argumentsLength} characters; approving means all of them]`,
      ]
    : [];

function howItStands(c: ConfirmationView, nowMs: number): string {
  const asked = `asked ${age(c.askedAtMs, nowMs)} ago`;
  if (c.state === 'open') return `${asked}, ${timeLeft(c, nowMs)}`;
  const by = c.by === null ? '' : ` by ${printableLine(c.by)}`;
  const choice = c.choice === null ? '' : `, choice: ${printableLine(c.choice)}`;
  const said = c.reason === '' ? '' : `: ${printableLine(c.reason)}`;
  return `${asked}, ${c.state}${by}${choice}${said}`;
}

/** `57 min left`; a clock that differs may say that there is none. */
export const timeLeft = ({ expiresAtMs }: ConfirmationView, nowMs: number): string =>
  expiresAtMs > nowMs ? `${age(nowMs, expiresAtMs)} left` : 'its time is over';
