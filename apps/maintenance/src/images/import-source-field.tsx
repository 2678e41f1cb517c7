import { useId } from 'react';
import { Label, Radio, RadioGroup } from 'react-aria-components';
import type { ImportFormat } from '@inquest/contracts-image';
import { size } from '../text/phrases';

/** Where the bytes come from, as far as it was chosen. */
export type ChosenSource =
  { readonly kind: 'file'; readonly file: File | null } | { readonly kind: 'path'; readonly path: string };

interface ImportSourceFieldProps {
  readonly source: ChosenSource;
  readonly format: ImportFormat;
  readonly onChange: (source: ChosenSource) => void;
  readonly isDisabled: boolean;
}

/** A file of this computer, or a path in the import directory of the platform. */
export function ImportSourceField({ source, format, onChange, isDisabled }: ImportSourceFieldProps) {
  const id = useId();
  return (
    <>
      <RadioGroup
        className="field"
        value={source.kind}
        onChange={(kind) => onChange(kind === 'path' ? { kind, path: '' } : { kind: 'file', file: null })}
        isDisabled={isDisabled}
      >
        <Label className="field-label">Where it is</Label>
        <Radio className="radio" value="file">
          On this computer
        </Radio>
        <Radio className="radio" value="path">
          In the import directory of image-service
        </Radio>
      </RadioGroup>
      <div className="field">
        <label htmlFor={id}>{source.kind === 'file' ? 'File' : 'Path'}</label>
        {source.kind === 'file' ? (
          <input
            key="file"
            id={id}
            className="input"
            type="file"
            disabled={isDisabled}
            aria-describedby={`${id}-help`}
            onChange={({ target }) => onChange({ kind: 'file', file: target.files?.[0] ?? null })}
          />
        ) : (
          <input
            key="path"
            id={id}
            className="input"
            type="text"
            spellCheck="false"
            autoComplete="off"
            value={source.path}
            disabled={isDisabled}
            aria-describedby={`${id}-help`}
            onChange={({ target }) => onChange({ kind: 'path', path: target.value })}
          />
        )}
        <p id={`${id}-help`} className="field-help">
          {helpFor(source, format)}
        </p>
      </div>
    </>
  );
}

function helpFor(source: ChosenSource, format: ImportFormat): string {
  if (source.kind === 'path') return 'Relative to that directory; INQUEST_IMPORT_DIRECTORY says where it is.';
  const chosen = source.file === null ? '' : `${size(source.file.size)}. `;
  return format === 'oci' ? `${chosen}A layout is a directory: choose a tar of it.` : `${chosen}It is sent as it is.`;
}
