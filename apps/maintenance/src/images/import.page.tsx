import { useEffect, useRef, useState, type FormEvent } from 'react';
import { Button, FieldError, Form, Input, Label, NumberField, Text, TextField } from 'react-aria-components';
import { useNavigate } from 'react-router';
import type { ImportFormat } from '@inquest/contracts-image';
import { useImageImport } from '../api/image-import';
import { ProblemNotice } from '../components/notice';
import { Page } from '../components/page';
import { digestOf, IMAGE_NAME_PATTERN, IMPORT_KINDS, MEMORY_MIN_MIB } from './import-fields';
import { ImportSourceField, type ChosenSource } from './import-source-field';
import { UploadProgress } from './upload-progress';

/** What a machine gets that asks for nothing, where nothing else is said. */
const MEMORY_DEFAULT_MIB = 256;

/** Makes the next version of an image of what somebody else built. */
export function ImportPage() {
  const navigate = useNavigate();
  const work = useImageImport();
  const [name, setName] = useState('');
  const [format, setFormat] = useState<ImportFormat>('qcow2');
  const [source, setSource] = useState<ChosenSource>({ kind: 'file', file: null });
  const [digest, setDigest] = useState('');
  const [memoryMib, setMemoryMib] = useState(MEMORY_DEFAULT_MIB);
  const [requiredCli, setRequiredCli] = useState('');
  const [sentBytes, setSentBytes] = useState(0);
  const giveUp = useRef<AbortController | null>(null);
  // Whoever leaves the page cannot see the upload any more, nor stop it.
  useEffect(() => () => giveUp.current?.abort(new Error('the page was left')), []);

  const declared = digestOf(digest);
  const isWhole = source.kind === 'file' ? source.file !== null : source.path.trim() !== '';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (declared === null || !isWhole) return;
    giveUp.current = new AbortController();
    setSentBytes(0);
    const wanted = {
      name,
      declaration: {
        format,
        digest: declared,
        memoryMib: Number.isNaN(memoryMib) ? MEMORY_DEFAULT_MIB : memoryMib,
        requiredCli: requiredCli.trim() === '' ? null : requiredCli.trim(),
      },
      source: source.kind === 'file' ? { file: source.file as File } : { path: source.path.trim() },
    };
    work.mutate(
      { wanted, watch: { onSent: setSentBytes, signal: giveUp.current.signal } },
      { onSuccess: ({ operationId }) => void navigate(`/images/${name}/operations/${operationId}`) },
    );
  };
  const isUploading = work.isPending && source.kind === 'file' && source.file !== null;
  const isGivenUp = giveUp.current?.signal.aborted === true;
  return (
    <Page title="Import an image" parent={{ to: '/images', title: 'Images' }}>
      <p className="page-note">
        The next version of an image, made of a disk or a root that somebody else built. Nothing of it is trusted: its
        digest is checked, and it is proven in a machine of its own before it can be frozen.
      </p>
      {work.error !== null && !isGivenUp && <ProblemNotice error={work.error} />}
      <Form onSubmit={submit} className="form">
        <TextField
          className="field"
          value={name}
          onChange={setName}
          isRequired
          pattern={IMAGE_NAME_PATTERN}
          autoComplete="off"
        >
          <Label>Image</Label>
          <Input className="input" spellCheck="false" />
          <FieldError className="field-error" />
          <Text slot="description" className="field-help">
            Small letters, digits and -. An image that exists gets another version.
          </Text>
        </TextField>
        <div className="field">
          <label htmlFor="import-format">What it is</label>
          <select
            id="import-format"
            className="input"
            value={format}
            onChange={(e) => setFormat(e.target.value as ImportFormat)}
          >
            {IMPORT_KINDS.map(({ format: kind, title }) => (
              <option key={kind} value={kind}>
                {title}
              </option>
            ))}
          </select>
        </div>
        <ImportSourceField source={source} format={format} onChange={setSource} isDisabled={work.isPending} />
        <TextField
          className="field"
          value={digest}
          onChange={setDigest}
          isRequired
          isInvalid={digest.trim() !== '' && declared === null}
          validationBehavior="aria"
          autoComplete="off"
        >
          <Label>sha256 digest</Label>
          <Input className="input" spellCheck="false" />
          <FieldError className="field-error">Not 64 digits of a sha256.</FieldError>
          <Text slot="description" className="field-help">
            {format === 'oci'
              ? 'Of the manifest of the image in the layout.'
              : 'As its publisher names it, or what sha256sum prints where the file was made.'}
          </Text>
        </TextField>
        <NumberField
          className="field"
          value={memoryMib}
          onChange={setMemoryMib}
          minValue={MEMORY_MIN_MIB}
          step={1}
          formatOptions={{ useGrouping: false }}
        >
          <Label>Memory of its machines in MiB</Label>
          <Input className="input" />
        </NumberField>
        <TextField className="field" value={requiredCli} onChange={setRequiredCli} autoComplete="off">
          <Label>Command that must work in it</Label>
          <Input className="input" spellCheck="false" />
          <Text slot="description" className="field-help">
            For an agent command line that the image must contain, like <code>codex --version</code>. Left empty,
            nothing is required, and the smoke gate says “unchecked”.
          </Text>
        </TextField>
        {isUploading ? (
          <UploadProgress
            sentBytes={sentBytes}
            totalBytes={source.file?.size ?? 0}
            onGiveUp={() => giveUp.current?.abort(new Error('the upload was given up'))}
          />
        ) : (
          <div className="actions">
            <Button
              type="submit"
              className="button primary"
              isDisabled={work.isPending || name === '' || declared === null || !isWhole}
            >
              {work.isPending ? 'Importing …' : 'Import it'}
            </Button>
          </div>
        )}
      </Form>
    </Page>
  );
}
