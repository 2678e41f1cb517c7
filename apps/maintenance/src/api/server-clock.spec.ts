import { noteServerTime, serverNowMs } from './server-clock';

const SERVER_MS = Date.parse('Mon, 30 Nov 2026 14:00:00 GMT');
const DATE = 'Mon, 30 Nov 2026 14:00:00 GMT';

describe('serverNowMs', () => {
  it('follows the server although this clock is an hour off', () => {
    noteServerTime(DATE, SERVER_MS - 3_600_000);
    expect(serverNowMs(SERVER_MS - 3_600_000 + 5_000)).toBe(SERVER_MS + 5_000);
  });

  it('takes a difference that the header cannot tell for none', () => {
    noteServerTime(DATE, SERVER_MS + 2_000);
    expect(serverNowMs(123)).toBe(123);
  });

  it('keeps what it knows when an answer has no date', () => {
    noteServerTime(DATE, SERVER_MS + 60_000);
    noteServerTime(null);
    noteServerTime('yesterday');
    expect(serverNowMs(SERVER_MS + 60_000)).toBe(SERVER_MS);
  });
});
