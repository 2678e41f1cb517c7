import { useEffect, useState } from 'react';
import { Button, Label, Radio, RadioGroup, TextArea, TextField } from 'react-aria-components';
import { Link } from 'react-router';
import type { ConfirmationDecision, ConfirmationView } from '@inquest/contracts-agent';
import { printable, printableLine } from '@inquest/transcript';
import { useAnswerConfirmation } from '../api/confirmations';
import { Ago, useNowMs } from '../components/age';
import { ProblemNotice } from '../components/notice';
import { age, count } from '../text/phrases';

/** Longest reason that the platform takes, in characters. */
const REASON_MAX = 1_000;
/** A press meant for what was at this place before must not answer a question that nobody has read. */
const ARMED_AFTER_MS = 800;

/** One open confirmation: what is asked, by which run, and the answer. */
export function Question({ confirmation }: { readonly confirmation: ConfirmationView }) {
  const { choices } = confirmation;
  const [reason, setReason] = useState('');
  const [choice, setChoice] = useState<string | null>(null);
  const { answer, isBusy, error, reset } = useAnswerConfirmation();
  const isArmed = useArmed();
  const decide = (decision: ConfirmationDecision): void =>
    answer({ confirmation, decision, choice: decision === 'approve' ? choice : null, reason: reason.trim() });
  const isReady = isArmed && !isBusy;
  return (
    <>
      <div className="asks-body">
        <Asked confirmation={confirmation} />
        {choices.length > 0 && (
          <RadioGroup className="field" value={choice} onChange={setChoice} isDisabled={isBusy}>
            <Label className="field-label">To approve, choose one</Label>
            {choices.map((one) => (
              <Radio key={one} className="radio" value={one}>
                {printableLine(one)}
              </Radio>
            ))}
          </RadioGroup>
        )}
        <TextField className="field" value={reason} onChange={setReason} maxLength={REASON_MAX} isDisabled={isBusy}>
          <Label className="field-label">Reason (the model is told)</Label>
          <TextArea className="input" rows={1} />
        </TextField>
        {error !== null && <ProblemNotice error={error} onRetry={reset} />}
      </div>
      <div className="asks-foot">
        <Button
          className="button primary"
          isDisabled={!isReady || (choices.length > 0 && choice === null)}
          onPress={() => decide('approve')}
        >
          Approve
        </Button>
        <Button className="button danger" isDisabled={!isReady} onPress={() => decide('deny')}>
          Deny
        </Button>
        <Waiting confirmation={confirmation} />
      </div>
    </>
  );
}

function Asked({ confirmation }: { readonly confirmation: ConfirmationView }) {
  const { question, argumentsText, argumentsLength, project, sessionId, runId } = confirmation;
  const hidden = argumentsLength - argumentsText.length;
  return (
    <>
      <p className="asks-question">{printable(question)}</p>
      {argumentsText !== '' && (
        <pre className="asks-arguments" tabIndex={0} role="region" aria-label="What it would be called with">
          {printable(argumentsText)}
        </pre>
      )}
      {hidden > 0 && (
        <p className="asks-cut">
          {count(hidden, 'more character is', 'more characters are')} not shown; approving means all of it.
        </p>
      )}
      <p className="asks-by">
        Project {project}, session <Link to={`/sessions/${sessionId}`}>{sessionId}</Link>, run {runId}
      </p>
    </>
  );
}

/** Its age and the time left, by the server's clock. Outside of what is announced: it changes all the time. */
function Waiting({ confirmation: { askedAtMs, expiresAtMs } }: { readonly confirmation: ConfirmationView }) {
  const nowMs = useNowMs();
  return (
    <span className="asks-time">
      asked <Ago atMs={askedAtMs} />, {nowMs < expiresAtMs ? `${age(nowMs, expiresAtMs)} left` : 'its time is over'}
    </span>
  );
}

function useArmed(): boolean {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), ARMED_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return isArmed;
}
