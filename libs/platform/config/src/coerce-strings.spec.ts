import { ArrayMaxSize, IsArray, IsBoolean, IsInt, IsOptional, IsString } from 'class-validator';
import { coerceStrings } from './coerce-strings';

class Query {
  @IsOptional() @IsInt() readonly incarnation: number | null = null;
  @IsInt() readonly limit: number = 50;
  @IsBoolean() readonly all: boolean = false;
  @IsArray() @ArrayMaxSize(3) readonly state: string[] = [];
  @IsOptional() @IsString() readonly token: string | null = null;
}

describe('coerceStrings', () => {
  it('gives each property the type that its declaration or its rules say, also where it may be null', () => {
    const values = { incarnation: '2', limit: '7', all: 'true', state: 'ready,ended', token: '12' };
    expect(coerceStrings(Query, values)).toEqual({
      incarnation: 2,
      limit: 7,
      all: true,
      state: ['ready', 'ended'],
      token: '12',
    });
  });

  it.each(['', 'seven', '1e3', '0x10', ' 7', '7 '])('leaves %j as it is, so that validation names it', (text) => {
    expect(coerceStrings(Query, { limit: text })).toEqual({ limit: text });
  });

  it('leaves what is no string alone', () => {
    expect(coerceStrings(Query, { state: ['a', 'b'], limit: 7 })).toEqual({ state: ['a', 'b'], limit: 7 });
  });
});
