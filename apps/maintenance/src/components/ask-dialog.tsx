import type { ReactNode } from 'react';
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';

interface AskDialogProps {
  /** On the button that opens it. */
  readonly trigger: string;
  readonly title: string;
  /** On the button that goes ahead. */
  readonly confirm: string;
  /** On the button that leaves everything as it is. */
  readonly refuse?: string;
  readonly isDanger?: boolean;
  readonly isPrimary?: boolean;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  /** What will happen, before it does. */
  readonly children: ReactNode;
}

/**
 * A button that says what it is going to do and asks first. Escape and a click outside mean no; so does the button that
 * has the focus where something would be lost.
 */
export function AskDialog(props: AskDialogProps) {
  const {
    trigger,
    title,
    confirm,
    refuse = 'Cancel',
    isDanger = false,
    isPrimary = false,
    isBusy = false,
    onConfirm,
    children,
  } = props;
  return (
    <DialogTrigger>
      <Button className={isPrimary ? 'button primary' : 'button'} isDisabled={isBusy}>
        {trigger}
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog role="alertdialog" className="dialog">
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                {children}
                <div className="dialog-foot">
                  <Button className="button" autoFocus={isDanger} onPress={close}>
                    {refuse}
                  </Button>
                  <Button
                    className={isDanger ? 'button danger' : 'button primary'}
                    autoFocus={!isDanger}
                    onPress={() => {
                      close();
                      onConfirm();
                    }}
                  >
                    {confirm}
                  </Button>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
