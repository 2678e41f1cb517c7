import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, ValidateNested } from 'class-validator';
import fc from 'fast-check';
import { parseDto } from './parse-dto';

class Disk {
  @IsInt() @Max(10) readonly sizeGib!: number;
}
class CreateMachine {
  @IsString() readonly name!: string;
  @ValidateNested({ each: true })
  @Type(() => Disk)
  readonly disks: Disk[] = [];
  @IsOptional() @IsInt() readonly memoryMib: number | null = null;
}
class Nothing {}

const invalid = (message: RegExp): Error =>
  expect.objectContaining({
    code: 'INPUT_INVALID',
    fault: 'caller',
    message: expect.stringMatching(message) as string,
  }) as Error;

describe('parseDto', () => {
  it('gives instances, also nested ones, with defaults filled in', () => {
    const machine = parseDto(CreateMachine, { name: 'a', disks: [{ sizeGib: 1 }] });
    expect(machine).toBeInstanceOf(CreateMachine);
    expect(machine.disks[0]).toBeInstanceOf(Disk);
    expect(machine.memoryMib).toBeNull();
  });

  it('names every wrong property with its path', () => {
    const wrong = { name: 7, disks: [{ sizeGib: 1 }, { sizeGib: 99 }], extra: true };
    expect(() => parseDto(CreateMachine, wrong)).toThrow(
      invalid(/^(?=.*name must be)(?=.*disks\.1\.sizeGib)(?=.*extra)/),
    );
  });

  it('does not repeat the values that were sent', () => {
    const wrong = { name: { password: 'hunter2' } };
    expect(() => parseDto(CreateMachine, wrong)).toThrow(invalid(/^((?!hunter2).)*$/));
  });

  it('drops unknown properties when a peer may be newer', () => {
    expect(parseDto(CreateMachine, { name: 'a', extra: true }, { unknown: 'strip' })).not.toHaveProperty('extra');
  });

  it('takes nothing but {} for a request without properties', () => {
    expect(parseDto(Nothing, {})).toBeInstanceOf(Nothing);
    expect(() => parseDto(Nothing, { a: 1 })).toThrow(invalid(/a should not exist/));
  });

  it.each([null, undefined, 7, 'text', [], [{ name: 'a' }]])('refuses %j', (value) => {
    expect(() => parseDto(CreateMachine, value)).toThrow(invalid(/must be an object/));
  });

  it('refuses what is nested too deep before anything recursive sees it', () => {
    const deep: unknown = JSON.parse(`{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    expect(() => parseDto(CreateMachine, deep)).toThrow(invalid(/levels deep/));
  });

  it('is not fooled by names of prototypes', () => {
    const polluted: unknown = JSON.parse('{"name":"a","__proto__":{"memoryMib":7}}');
    expect(parseDto(CreateMachine, polluted).memoryMib).toBeNull();
    expect(({} as { memoryMib?: number }).memoryMib).toBeUndefined();
  });

  it('refuses or gives a valid instance, whatever comes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          expect(parseDto(CreateMachine, value)).toBeInstanceOf(CreateMachine);
        } catch (e) {
          expect(e).toMatchObject({ code: 'INPUT_INVALID' });
        }
      }),
    );
  });

  it('keeps a message short and printable, whatever the sender calls its properties', () => {
    const wrong = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`\u001b[31m${i}${'x'.repeat(500)}`, 1]));
    expect.assertions(2);
    try {
      parseDto(CreateMachine, { name: 'a', ...wrong });
    } catch (e) {
      const { message } = e as Error;
      expect(message.length).toBeLessThan(8_000);
      expect(message).not.toContain('\u001b');
    }
  });
});
