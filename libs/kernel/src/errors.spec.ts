import { defineErrors, DomainError, errorFromBody, isDomainError, toDomainError } from './errors';

const fail = defineErrors({
  DISK_FULL: { fault: 'infra', status: 507, when: 'The disk is full.', remediation: 'Free space.' },
});

describe('DomainError', () => {
  it('carries code, fault, status and remediation of its row', () => {
    expect(fail('DISK_FULL', 'no room on /var', { path: '/var' })).toMatchObject({
      code: 'DISK_FULL',
      fault: 'infra',
      status: 507,
      message: 'no room on /var',
      remediation: 'Free space.',
      details: { path: '/var' },
    });
  });

  it('survives the wire', () => {
    const sent: unknown = JSON.parse(JSON.stringify(fail('DISK_FULL', 'no room', { free: 0 }).toBody()));
    expect(errorFromBody(sent)).toMatchObject({ code: 'DISK_FULL', fault: 'infra', status: 507, details: { free: 0 } });
  });

  it.each([null, 'text', 7, {}, { code: 'X' }, { code: 'X', message: 'm', fault: 'nobody' }])(
    'is not made out of %j',
    (value) => {
      expect(errorFromBody(value)).toBeNull();
    },
  );

  it('is recognised by shape, because Jest realms break instanceof', () => {
    expect(isDomainError(new DomainError('X', 'caller', 400, 'm', 'r'))).toBe(true);
    expect(isDomainError(new Error('plain'))).toBe(false);
  });

  it('masks an unknown failure but keeps its cause', () => {
    const cause = new Error('password=hunter2');
    const masked = toDomainError(cause);
    expect(masked.code).toBe('INTERNAL');
    expect(masked.message).not.toContain('hunter2');
    expect(masked.cause).toBe(cause);
  });
});
