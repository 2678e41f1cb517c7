import 'reflect-metadata';
import { instanceToPlain, plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { DtoClass, EventContract, Operation } from '@inquest/kernel';

export interface ContractUnderTest {
  /** Of the service: the token of its subjects. */
  readonly scope: string;
  readonly operations: Readonly<Record<string, Operation<never, never> | Operation<object, object>>>;
  readonly events: Readonly<Record<string, EventContract<never> | EventContract<object>>>;
  /** Everything that the library exports. */
  readonly exports: Readonly<Record<string, unknown>>;
}

/** The longest that a caller waits for one call: an hour of a command and what the control plane adds. */
const MAX_TIMEOUT_MS = 3_660_000;
/** Rules that bound a text. */
const TEXT_BOUNDS = ['isLength', 'maxLength', 'matches', 'isIn', 'isUrl'];

const kebab = (name: string): string => name.replace(/([A-Z])/g, '-$1').toLowerCase();

const isDtoClass = (value: unknown): value is DtoClass =>
  typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));

const rulesOf = (Class: DtoClass) => getMetadataStorage().getTargetValidationMetadatas(Class, '', false, false);

const check = (instance: object) =>
  validateSync(instance, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });

/** What every contract of a service must be. */
export function describeContract({ scope, operations, events, exports }: ContractUnderTest): void {
  const classes = Object.values(exports).filter(isDtoClass);
  const requests = [...new Set(Object.values(operations).map(({ request }) => request))];

  describe(`the contract of ${scope}-service`, () => {
    it.each(Object.entries(operations))('calls %s by its own name, and waits for it within bounds', (name, op) => {
      expect(op.subject).toBe(`inquest.v1.cmd.${scope}.${kebab(name)}`);
      expect(op.timeoutMs).toBeGreaterThan(0);
      expect(op.timeoutMs).toBeLessThanOrEqual(MAX_TIMEOUT_MS);
    });

    it.each(Object.entries(events))('publishes %s under its own name', (name, { subject }) => {
      expect(subject).toBe(`inquest.v1.evt.${scope}.${kebab(name)}`);
    });

    it('waits longer for an answer than the longest wait that can be asked for', () => {
      for (const { request, timeoutMs } of Object.values(operations)) {
        const [longest] = rulesOf(request)
          .filter(({ propertyName, name }) => propertyName === 'waitMs' && name === 'max')
          .map(({ constraints }) => Number((constraints as unknown[])[0]));
        if (longest !== undefined) expect(timeoutMs).toBeGreaterThan(longest);
      }
    });

    it.each(classes.map((Class) => [Class.name, Class] as const))(
      'lets %s travel with its defaults unchanged',
      (_, Class) => {
        const defaults = new Class();
        const arrived = plainToInstance(Class, JSON.parse(JSON.stringify(instanceToPlain(defaults))) as object);
        expect(arrived).toEqual(defaults);
        expect(arrived).toBeInstanceOf(Class);
        const broken = check(arrived).map(({ property }) => property);
        // Only what has no default may be missing.
        for (const property of broken) expect(Reflect.get(defaults, property)).toBeUndefined();
      },
    );

    it.each(requests.map((Class) => [Class.name, Class] as const))(
      'lets %s say nothing that it does not define',
      (_, Class) => {
        const extended = plainToInstance(Class, { surprise: 1 });
        expect(check(extended).map(({ property }) => property)).toContain('surprise');
      },
    );

    it.each(requests.map((Class) => [Class.name, Class] as const))('bounds every text and list of %s', (_, Class) => {
      const rules = rulesOf(Class);
      const named = (property: string) =>
        rules.filter(({ propertyName }) => propertyName === property).map(({ name }) => name ?? '');
      const unbounded = rules
        .filter(({ propertyName, name, each }) => {
          const bounds = named(propertyName);
          const isOpenText = name === 'isString' && !TEXT_BOUNDS.some((bound) => bounds.includes(bound));
          return isOpenText || ((name === 'isArray' || each) && !bounds.includes('arrayMaxSize'));
        })
        .map(({ propertyName }) => propertyName);
      expect(unbounded).toEqual([]);
    });
  });
}
