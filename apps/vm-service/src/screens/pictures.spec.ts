import { hasCode } from '@inquest/kernel';
import type { UrlSigner } from '@inquest/http';
import type { OwnAddress } from '../guest/own-address';
import { Pictures } from './pictures';

const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;
const address = { baseUrl: 'http://127.0.0.1:1' } as OwnAddress;
const signer = { signPath: (_method: string, path: string) => path } as unknown as UrlSigner;

describe('pictures that wait for their reader', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());
  const pictures = new Pictures(address, signer);
  const hold = (png: Uint8Array): string => pictures.hold(png).url.split('/').at(-1) ?? '';
  const isGone = (id: string): boolean => {
    try {
      pictures.give(id);
      return false;
    } catch (e) {
      return hasCode(e, 'STREAM_TICKET_INVALID');
    }
  };

  it('are given away once', () => {
    const id = hold(Buffer.from('png'));
    expect(Buffer.from(pictures.give(id)).toString()).toBe('png');
    expect(isGone(id)).toBe(true);
    expect(isGone('nobody')).toBe(true);
  });

  it('are forgotten after a minute', () => {
    const id = hold(Buffer.from('png'));
    jest.advanceTimersByTime(MINUTE_MS);
    expect(isGone(id)).toBe(true);
  });

  it('take bounded memory: the oldest go first, and the newest stays whatever its size', () => {
    const [first, second] = [hold(new Uint8Array(MIB)), hold(new Uint8Array(200 * MIB))];
    const third = hold(new Uint8Array(56 * MIB));
    expect([isGone(first), isGone(second), isGone(third)]).toEqual([true, false, false]);
  });
});
