import { useEffect, useRef, useState, type RefObject } from 'react';
import { Screen } from './screen';
import { INITIAL_STATE, TerminalLink, type LinkState } from './terminal-link';

interface TerminalOnPage {
  readonly state: LinkState;
  readonly takeControl: () => void;
  readonly focus: () => void;
}

/**
 * A terminal in `box`, attached for as long as the page shows it. Whoever is in control gives it the size of the box;
 * everybody else sees it as large as that one has it. `onLeave` is called when the keyboard is to leave it.
 */
export function useTerminal(
  machineId: string,
  terminalId: string,
  box: RefObject<HTMLElement | null>,
  options: { readonly describedBy: string; readonly onLeave: () => void },
): TerminalOnPage {
  const [state, setState] = useState(INITIAL_STATE);
  const parts = useRef<{ readonly screen: Screen; readonly link: TerminalLink } | null>(null);
  const { describedBy } = options;
  const onLeave = useRef(options.onLeave);
  useEffect(() => {
    onLeave.current = options.onLeave;
  });

  useEffect(() => {
    if (box.current === null) return;
    const screen = new Screen(box.current, describedBy, {
      typed: (keys) => link.type(keys),
      left: () => onLeave.current(),
    });
    let isController = false;
    const fit = (): void => {
      const size = screen.fittingSize;
      if (isController && size !== null) link.say({ type: 'resize', ...size });
    };
    const link = new TerminalLink(machineId, terminalId, {
      changed: (next) => {
        const takesControl = next.isController && !isController;
        isController = next.isController;
        setState(next);
        if (takesControl) fit();
        if (next.ended !== null) screen.freeze();
      },
      output: (bytes) => screen.show(bytes),
      skipped: (bytes) => screen.note(`${bytes} bytes came too fast and were left out`),
      resized: (cols, rows) => screen.resize(cols, rows),
    });
    const stopFitting = screen.whenBoxChanges(fit);
    parts.current = { screen, link };
    link.open();
    screen.focus();
    return () => {
      parts.current = null;
      stopFitting();
      link.close();
      screen.dispose();
    };
  }, [machineId, terminalId, box, describedBy]);

  return {
    state,
    takeControl: () => {
      parts.current?.link.say({ type: 'take-control' });
      parts.current?.screen.focus();
    },
    focus: () => parts.current?.screen.focus(),
  };
}
