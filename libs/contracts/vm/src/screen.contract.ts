import { operation } from '@inquest/kernel';
import { IncarnationRequest } from './machine.dto';
import {
  ClickRequest,
  InputView,
  PressKeysRequest,
  ScreenshotView,
  ScrollRequest,
  TypeTextRequest,
} from './screen.dto';

const SUBJECT = 'inquest.v1.cmd.vm';

/** The calls about the screen of a machine, which need nothing of its guest. */
export const screenOps = {
  /** The picture itself goes by HTTP: it may be larger than a message. */
  screenshot: operation({
    subject: `${SUBJECT}.screenshot`,
    perNode: true,
    request: IncarnationRequest,
    response: ScreenshotView,
    timeoutMs: 10_000,
  }),
  click: operation({
    subject: `${SUBJECT}.click`,
    perNode: true,
    request: ClickRequest,
    response: InputView,
    timeoutMs: 20_000,
  }),
  /** The longest text takes 45 s. */
  typeText: operation({
    subject: `${SUBJECT}.type-text`,
    perNode: true,
    request: TypeTextRequest,
    response: InputView,
    timeoutMs: 100_000,
  }),
  pressKeys: operation({
    subject: `${SUBJECT}.press-keys`,
    perNode: true,
    request: PressKeysRequest,
    response: InputView,
    timeoutMs: 20_000,
  }),
  scroll: operation({
    subject: `${SUBJECT}.scroll`,
    perNode: true,
    request: ScrollRequest,
    response: InputView,
    timeoutMs: 20_000,
  }),
} as const;
