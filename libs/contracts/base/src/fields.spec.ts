import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { ErrorBody } from '@inquest/kernel';
import {
  Described,
  descriptionOf,
  dto,
  IsGuestPath,
  IsId,
  IsListOf,
  IsNested,
  IsText,
  IsWhole,
  Nullable,
} from './fields';
import { cutText, ErrorView, errorView, PersonView } from './shared.contract';

class Sample {
  @Described('The name of it.') @IsId() readonly id: string = 'a';
  @IsGuestPath() readonly path: string = '/';
  @Nullable() @IsWhole(1, 3) readonly count: number | null = null;
  @Nullable() @IsNested(() => PersonView) readonly author: PersonView | null = null;
  @IsListOf(() => PersonView, 2) readonly people: PersonView[] = [];
  @IsText(3, 1) readonly text: string = 'x';
}

const ANA = { name: 'Ana', email: 'ana@example.org' };
const violations = (values: object): string[] =>
  validateSync(plainToInstance(Sample, values), { whitelist: true, forbidNonWhitelisted: true }).map(
    ({ property }) => property,
  );

describe('the fields of DTOs', () => {
  it.each([
    {},
    { count: null, author: null },
    { count: 3, author: ANA, people: [ANA, ANA], text: 'abc', path: '/a b/\u00fc', id: 'A-z_9' },
  ])('accept %j', (values) => {
    expect(violations(values)).toEqual([]);
  });

  it.each([
    [{ id: '../a' }, 'id'],
    [{ id: 'x'.repeat(65) }, 'id'],
    [{ path: 'relative' }, 'path'],
    [{ path: '/nul\0' }, 'path'],
    [{ path: `/${'x'.repeat(4096)}` }, 'path'],
    [{ count: 0 }, 'count'],
    [{ count: 1.5 }, 'count'],
    [{ count: '2' }, 'count'],
    [{ author: { name: '' } }, 'author'],
    [{ author: 'Ana' }, 'author'],
    [{ people: [ANA, ANA, ANA] }, 'people'],
    [{ people: [{ ...ANA, role: 'root' }] }, 'people'],
    [{ people: [null] }, 'people'],
    [{ text: '' }, 'text'],
    [{ text: 'abcd' }, 'text'],
    [{ surprise: 1 }, 'surprise'],
  ])('refuse %j', (values, property) => {
    expect(violations(values)).toContain(property);
  });

  it('say what they mean where that was described', () => {
    expect(descriptionOf(Sample, 'id')).toBe('The name of it.');
    expect(descriptionOf(Sample, 'path')).toBeNull();
  });

  it('are filled in for callers in code', () => {
    expect(dto(Sample, { id: 'b' })).toEqual(Object.assign(new Sample(), { id: 'b' }));
  });
});

describe('errorView', () => {
  it('keeps an error within what its view takes, and marks the cut', () => {
    const body: ErrorBody = {
      code: 'X_Y',
      fault: 'guest',
      status: 422,
      message: 'm'.repeat(9_000),
      remediation: 'r',
      details: { a: 1 },
    };
    const view = errorView(body);
    expect(view).toEqual(dto(ErrorView, { ...body, message: `${'m'.repeat(8_191)}…` }));
    expect(validateSync(view)).toEqual([]);
  });

  it('leaves a text that fits as it is', () => {
    expect(cutText('abc', 3)).toBe('abc');
    expect(cutText('abcd', 3)).toBe('ab…');
  });
});
