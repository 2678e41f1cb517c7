import { TERMINAL_SIDE, vmError, type ViewerMessage } from '@inquest/contracts-vm';

const isSide = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= TERMINAL_SIDE.min && Number(value) <= TERMINAL_SIDE.max;

/** A text message of a viewer. Throws `TERMINAL_MESSAGE_INVALID`. */
export function parseViewerMessage(text: string): ViewerMessage {
  const { type, cols, rows } = fieldsOf(text);
  switch (type) {
    case 'take-control':
    case 'release-control':
    case 'end-input':
      return { type };
    case 'resize':
      if (isSide(cols) && isSide(rows)) return { type, cols, rows };
      throw vmError(
        'TERMINAL_MESSAGE_INVALID',
        `cols and rows must be whole numbers from ${TERMINAL_SIDE.min} to ${TERMINAL_SIDE.max}`,
      );
    default:
      throw vmError('TERMINAL_MESSAGE_INVALID', 'the message has no type that the terminal protocol knows');
  }
}

function fieldsOf(text: string): { readonly type?: unknown; readonly cols?: unknown; readonly rows?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Refused below, like JSON that is no object.
  }
  throw vmError('TERMINAL_MESSAGE_INVALID', 'the message is no JSON object');
}
