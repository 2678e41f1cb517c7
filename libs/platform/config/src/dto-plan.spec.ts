import { Type } from 'class-transformer';
import { IsArray, IsIn, IsInt, IsObject, IsOptional, IsString, Max, ValidateIf, ValidateNested } from 'class-validator';
import fc from 'fast-check';
import { instanceWhenValid } from './dto-plan';
import { parseThoroughly } from './parse-dto';

class Disk {
  @IsInt() @Max(10) readonly sizeGib!: number;
  @IsOptional() @ValidateNested() @Type(() => Disk) readonly base: Disk | null = null;
}
class Labelled {
  @IsOptional() @IsString({ each: true }) readonly labels: string[] = [];
}
class Machine extends Labelled {
  @IsString() readonly name!: string;
  @IsArray() @ValidateNested({ each: true }) @Type(() => Disk) readonly disks: Disk[] = [];
  @ValidateIf(({ name }: Machine) => name !== 'a') @ValidateNested() @Type(() => Disk) readonly root!: Disk;
  @IsOptional() @IsObject() readonly env: Record<string, string> | null = null;
  @IsIn(['on', 'off']) readonly power: string = 'off';
}
class Faulty {
  @ValidateNested() @Type(() => Disk) readonly disk: Disk = new Disk();
}
class Active {
  @IsString() readonly name!: string;

  isCalled(name: string): boolean {
    return this.name === name;
  }
}

const MAX_DEPTH = 8;
const quickly = (value: object, unknown: 'refuse' | 'strip' = 'refuse', Class: new () => object = Machine) =>
  instanceWhenValid(Class, value, unknown, MAX_DEPTH);

/** Mostly right, so that the wrong ones are wrong in one place or two. */
const scalar = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'on', 'off') },
  { weight: 1, arbitrary: fc.constantFrom(null, true, 1, 11, '') },
);
const disk = fc.record(
  { sizeGib: fc.constantFrom<unknown>(1, 2, 3, 10, 11, 'x'), base: fc.constantFrom<unknown>(null, { sizeGib: 1 }, {}) },
  { requiredKeys: ['sizeGib'] },
);
const anything = fc.oneof(scalar, disk, fc.array(fc.oneof(scalar, disk), { maxLength: 2 }), fc.jsonValue());
const mostly = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: anything });
const machine = fc.record(
  {
    name: mostly(scalar),
    labels: mostly(fc.array(scalar, { maxLength: 2 })),
    disks: mostly(fc.array(disk, { maxLength: 2 })),
    root: mostly(disk),
    env: mostly(fc.constantFrom(null, {}, { PATH: '/bin' }, JSON.parse('{"__proto__":{"polluted":1}}') as unknown)),
    power: mostly(fc.constantFrom('on', 'off')),
  },
  { requiredKeys: ['name', 'root'] },
);

const extras = ['{"extra":1}', '{"extra":[]}', '{"__proto__":{"name":7}}', '{"constructor":1}', '{"toString":{}}'];
const received = fc
  .tuple(machine, fc.oneof({ weight: 4, arbitrary: fc.constant('{}') }, fc.constantFrom(...extras)))
  .map(
    ([properties, extra]) =>
      (): object =>
        withExtra(properties, extra),
  );

/** As JSON gives it: `__proto__` is a property like any other. */
const withExtra = (properties: object, extra: string): object =>
  JSON.parse(JSON.stringify(properties).replace(/}$/, extra === '{}' ? '}' : `,${extra.slice(1)}`)) as object;

describe('instanceWhenValid', () => {
  it('takes a request as it commonly comes', () => {
    const made = quickly({ name: 'b', labels: ['a'], disks: [{ sizeGib: 1 }], root: { sizeGib: 2, base: null } });
    expect(made).toBeInstanceOf(Machine);
    expect((made as Machine).disks[0]).toBeInstanceOf(Disk);
    expect((made as Machine).root).toBeInstanceOf(Disk);
    expect(made).toMatchObject({ labels: ['a'], env: null, power: 'off' });
  });

  it('takes nothing that class-validator refuses, and makes of the rest what class-transformer makes', () => {
    let taken = 0;
    fc.assert(
      fc.property(received, fc.constantFrom('refuse' as const, 'strip' as const), (receive, unknown) => {
        const made = quickly(receive(), unknown);
        if (made === null) return;
        taken++;
        expect(made).toStrictEqual(parseThoroughly(Machine, receive(), unknown));
      }),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(100);
  });

  it('leaves unknown properties out of what a newer peer says, and to class-validator what else they are', () => {
    const told = { name: 'b', root: { sizeGib: 1, extra: 1 }, extra: 'x' };
    expect(quickly(told)).toBeNull();
    expect(quickly(told, 'strip')).toStrictEqual(parseThoroughly(Machine, told, 'strip'));
    expect(quickly({ ...told, extra: {} }, 'strip')).toBeNull();
  });

  it('follows objects no deeper than it is told to', () => {
    const nested = (depth: number): object => (depth === 0 ? { sizeGib: 1 } : { sizeGib: 1, base: nested(depth - 1) });
    expect(quickly(nested(MAX_DEPTH), 'refuse', Disk)).toBeInstanceOf(Disk);
    expect(quickly(nested(MAX_DEPTH + 1), 'refuse', Disk)).toBeNull();
  });

  it('leaves a default that breaks the rules, and a class with methods, to class-validator', () => {
    expect(quickly({}, 'refuse', Faulty)).toBeNull();
    expect(quickly({ disk: { sizeGib: 1 } }, 'refuse', Faulty)).toBeInstanceOf(Faulty);
    expect(quickly({ name: 'a' }, 'refuse', Active)).toBeNull();
  });
});
