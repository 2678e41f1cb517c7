import { useState, type FormEvent } from 'react';
import {
  Button,
  Dialog,
  DialogTrigger,
  Form,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  NumberField,
  Text,
  TextField,
} from 'react-aria-components';
import { useNavigate } from 'react-router';
import { useImages } from '../api/images';
import { useStartMachine } from '../api/machines';
import { ProblemNotice } from '../components/notice';

/** What a name may have in it: it becomes a host name. Browsers read a pattern with the flag `v`, so the dash is escaped. */
const NAME_PATTERN = '[A-Za-z0-9_\\-]{1,64}';
const MEMORY_MIN_MIB = 128;

/** Starts a machine on a frozen image. */
export function StartMachineDialog() {
  return (
    <DialogTrigger>
      <Button className="button primary">Start a machine</Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">{({ close }) => <StartForm close={close} />}</Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

function StartForm({ close }: { readonly close: () => void }) {
  const images = useImages();
  const frozen = (images.data?.items ?? []).filter(({ frozenVersion }) => frozenVersion !== null);
  const start = useStartMachine();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [memoryMib, setMemoryMib] = useState<number>(NaN);
  const image = frozen.find((candidate) => candidate.name === chosen) ?? frozen[0] ?? null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (image === null) return;
    start.mutate(
      // The version is named: it starts although a working copy of its image may be open.
      {
        image: image.name,
        version: image.frozenVersion,
        name: name === '' ? null : name,
        memoryMib: Number.isNaN(memoryMib) ? null : memoryMib,
      },
      {
        onSuccess: ({ machineId }) => {
          close();
          void navigate(`/machines/${machineId}`);
        },
      },
    );
  };
  if (images.data !== undefined && frozen.length === 0) {
    return (
      <>
        <Heading slot="title">No image is frozen</Heading>
        <p>Only a frozen version can start a machine. Build and freeze one on the page of its image first.</p>
        <div className="dialog-foot">
          <Button className="button primary" autoFocus onPress={close}>
            Close
          </Button>
        </div>
      </>
    );
  }
  return (
    <Form onSubmit={submit}>
      <Heading slot="title">Start a machine</Heading>
      {start.error !== null && <ProblemNotice error={start.error} />}
      <div className="field">
        <label htmlFor="machine-image">Image</label>
        <select
          id="machine-image"
          className="input"
          value={image?.name ?? ''}
          onChange={(e) => setChosen(e.target.value)}
        >
          {frozen.map(({ name: option, frozenVersion }) => (
            <option key={option} value={option}>
              {option} (version {frozenVersion})
            </option>
          ))}
        </select>
      </div>
      <TextField className="field" value={name} onChange={setName} pattern={NAME_PATTERN} autoComplete="off">
        <Label>Name</Label>
        <Input className="input" spellCheck="false" />
        <Text slot="description" className="field-help">
          Letters, digits, - and _. Left empty, it is known by its id.
        </Text>
      </TextField>
      <NumberField className="field" value={memoryMib} onChange={setMemoryMib} minValue={MEMORY_MIN_MIB} step={1}>
        <Label>Memory in MiB</Label>
        <Input className="input" />
        <Text slot="description" className="field-help">
          Left empty, what the image declares.
        </Text>
      </NumberField>
      <div className="dialog-foot">
        <Button className="button" onPress={close}>
          Cancel
        </Button>
        <Button type="submit" className="button primary" isDisabled={start.isPending || image === null}>
          {start.isPending ? 'Starting …' : 'Start it'}
        </Button>
      </div>
    </Form>
  );
}
