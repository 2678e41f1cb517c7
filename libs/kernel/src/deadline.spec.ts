import { abortable, delay, withDeadline } from './deadline';

describe('withDeadline', () => {
  it('says what was waited for when time is up', async () => {
    await expect(withDeadline(new Promise(() => undefined), 5, 'the guest agent')).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: 'the guest agent took longer than 5 ms',
    });
  });

  it('gives the result when it comes in time', async () => {
    await expect(withDeadline(Promise.resolve(7), 1000, 'seven')).resolves.toBe(7);
  });
});

describe('abortable', () => {
  it('rejects at once when the signal is already aborted', async () => {
    await expect(abortable(new Promise(() => undefined), AbortSignal.abort('why'), 'boot')).rejects.toMatchObject({
      code: 'OPERATION_ABORTED',
      cause: 'why',
    });
  });
});

describe('delay', () => {
  it('ends early when aborted', async () => {
    const controller = new AbortController();
    const waiting = delay(60_000, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
  });
});
