import { useState, type FormEvent } from 'react';
import {
  Button,
  Dialog,
  DialogTrigger,
  Form,
  Heading,
  Label,
  Modal,
  ModalOverlay,
  Text,
  TextArea,
  TextField,
} from 'react-aria-components';
import type { ImageVersionView } from '@inquest/contracts-image';
import type { VersionAsks } from './version-actions';

/** Longest reason that the platform takes, in characters. */
const REASON_MAX = 512;

interface UnfreezeDialogProps {
  readonly version: ImageVersionView;
  readonly asks: VersionAsks;
}

/** Opens a working copy of a frozen version, with the reason that everybody will see. */
export function UnfreezeDialog({ version: { name, version }, asks: { ask, isBusy } }: UnfreezeDialogProps) {
  const [reason, setReason] = useState('');
  return (
    <DialogTrigger>
      <Button className="button" isDisabled={isBusy}>
        Unfreeze …
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">
            {({ close }) => {
              const submit = (event: FormEvent): void => {
                event.preventDefault();
                close();
                ask({ kind: 'unfreeze', version, reason: reason.trim() });
              };
              return (
                <Form onSubmit={submit}>
                  <Heading slot="title">{`Unfreeze ${name}:${version}?`}</Heading>
                  <p>
                    A working copy of it is opened; {name}:{version} itself never changes. Until the copy is frozen as
                    the next version, or discarded, sessions that name no version of {name} are refused.
                  </p>
                  <TextField
                    className="field"
                    value={reason}
                    onChange={setReason}
                    isRequired
                    maxLength={REASON_MAX}
                    autoFocus
                  >
                    <Label>Reason</Label>
                    <TextArea className="input" rows={3} />
                    <Text slot="description" className="field-help">
                      For everybody who finds the image unfrozen.
                    </Text>
                  </TextField>
                  <div className="dialog-foot">
                    <Button className="button" onPress={close}>
                      Cancel
                    </Button>
                    <Button type="submit" className="button primary" isDisabled={reason.trim() === ''}>
                      Unfreeze it
                    </Button>
                  </div>
                </Form>
              );
            }}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
