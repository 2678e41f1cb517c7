import type { OperationView } from '@inquest/contracts-base';

/** The steps of a freeze as image-service names them, and what they are for people. */
const STAGES = [
  { title: 'Smoke boot', steps: ['boot'] },
  { title: 'Checks', steps: ['run the checks'] },
  { title: 'Clean power-off', steps: ['power off'] },
  { title: 'Digest, read-only', steps: ['package list', 'checksum'] },
  { title: 'Template', steps: ['template'] },
] as const satisfies readonly { readonly title: string; readonly steps: readonly string[] }[];

type StageState = 'done' | 'current' | 'failed' | 'waiting';

/** Where a freeze is on its way. */
export function FreezeStages({ operation }: { readonly operation: Pick<OperationView, 'state' | 'step'> }) {
  return (
    <ol className="stages" aria-label="Stages of the freeze">
      {STAGES.map(({ title }, at) => {
        const state = stageState(operation, at);
        return (
          <li key={title} data-state={state} {...(state === 'current' ? { 'aria-current': 'step' as const } : {})}>
            <span className="stage-mark" aria-hidden="true" />
            {title}
            <span className="hidden">: {state}</span>
          </li>
        );
      })}
    </ol>
  );
}

function stageState({ state, step }: Pick<OperationView, 'state' | 'step'>, at: number): StageState {
  if (state === 'succeeded') return 'done';
  const current = STAGES.findIndex(({ steps }) => steps.some((known) => known === step));
  if (at < current) return 'done';
  if (at > current) return 'waiting';
  return state === 'running' ? 'current' : 'failed';
}
