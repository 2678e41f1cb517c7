import { event } from '@inquest/kernel';
import { encodeEvent, eventFilter } from './event-codec';

class Changed {
  readonly text!: string;
}
const changed = event({ subject: 'inquest.v1.evt.probe.changed', body: Changed });

describe('encodeEvent', () => {
  it('appends the ids to the subject', () => {
    expect(encodeEvent(changed, ['m-1', 'r-2'], { text: 'x' })).toEqual({
      subject: 'inquest.v1.evt.probe.changed.m-1.r-2',
      json: '{"text":"x"}',
    });
  });

  it.each(['a.b', '*', '>', '', 'a b'])('refuses %j as an id, which would reach other watchers', (token) => {
    expect(() => encodeEvent(changed, [token], { text: 'x' })).toThrow(expect.objectContaining({ code: 'ID_INVALID' }));
  });

  it('refuses an event that JetStream would not take', () => {
    expect(() => encodeEvent(changed, ['m'], { text: 'ä'.repeat(300_000) })).toThrow(
      expect.objectContaining({ code: 'EVENT_OVERSIZED' }),
    );
  });
});

describe('eventFilter', () => {
  it('takes all events of a contract when no ids are given', () => {
    expect(eventFilter(changed)).toBe('inquest.v1.evt.probe.changed.>');
  });

  it('takes ids, and wildcards for ids', () => {
    expect(eventFilter(changed, ['*', 'r-2'])).toBe('inquest.v1.evt.probe.changed.*.r-2');
    expect(eventFilter(changed, ['s-1', '>'])).toBe('inquest.v1.evt.probe.changed.s-1.>');
  });

  it.each([[['>', 'a']], [['a.b']], [['']], [['a*']]])('refuses %j', (ids) => {
    expect(() => eventFilter(changed, ids)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });
});
