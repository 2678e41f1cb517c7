import { useEffect, useState, type FormEvent } from 'react';
import { Button, FieldError, Form, Input, Label, Text, TextField } from 'react-aria-components';
import { toProblem } from '../api/problem';
import { callGateway } from '../api/request';
import { writeToken } from '../api/token';

/** Asks for the bearer token, tries it, and keeps it for this tab. */
export function SignInPage() {
  const [value, setValue] = useState('');
  const [refusal, setRefusal] = useState('');
  const [isTrying, setIsTrying] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · Inquest';
  }, []);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setIsTrying(true);
    setRefusal(await refusalOf(value.trim()));
    setIsTrying(false);
  };
  return (
    <main className="sign-in">
      <h1>
        <span className="brand-mark" aria-hidden="true" /> Inquest
      </h1>
      <p>Images, machines and sessions of this platform, with the evidence of what happened in them.</p>
      <Form className="sign-in-form" onSubmit={(event) => void submit(event)}>
        <TextField
          type="password"
          value={value}
          onChange={(typed) => {
            setValue(typed);
            setRefusal('');
          }}
          isInvalid={refusal !== ''}
          validationBehavior="aria"
          autoComplete="off"
          autoFocus
          className="field"
        >
          <Label>Token</Label>
          <Input className="input" spellCheck="false" />
          <FieldError className="field-error">{refusal}</FieldError>
          <Text slot="description" className="field-help">
            On a platform started with <code>vmctl up</code> it is in the file <code>token</code> of its home directory,
            which <code>vmctl status --json</code> names. It stays in this tab and is forgotten when you close it.
          </Text>
        </TextField>
        <Button type="submit" className="button primary" isDisabled={isTrying || value.trim() === ''}>
          {isTrying ? 'Signing in …' : 'Sign in'}
        </Button>
      </Form>
    </main>
  );
}

/** Keeps the token if the gateway takes it; otherwise says why it does not. */
async function refusalOf(token: string): Promise<string> {
  try {
    await callGateway('/v1/images', { headers: { authorization: `Bearer ${token}` } });
    writeToken(token);
    return '';
  } catch (e) {
    const { status, message } = toProblem(e);
    return status === 401
      ? 'The gateway does not accept this token. Copy the whole file, without the line end.'
      : message;
  }
}
