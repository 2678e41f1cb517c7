import { RuleTester } from 'eslint';
import { noVagueName } from './no-vague-name.mjs';
import { testTitleStatesFact } from './test-title-states-fact.mjs';
import type { Rule } from 'eslint';

const tester = new RuleTester();

tester.run('no-vague-name', noVagueName as Rule.RuleModule, {
  valid: [
    { filename: '/x/verdict-engine.ts', code: 'class VerdictEngine {}' },
    { filename: '/x/utilisation.ts', code: 'class Utilisation {}' },
  ],
  invalid: [
    { filename: '/x/string-utils.ts', code: '', errors: [{ messageId: 'vague' }] },
    { filename: '/x/helpers.spec.ts', code: '', errors: [{ messageId: 'vague' }] },
    { filename: '/x/machine.ts', code: 'class MachineManager {}', errors: [{ messageId: 'vague' }] },
  ],
});

tester.run('test-title-states-fact', testTitleStatesFact as Rule.RuleModule, {
  valid: ["it('rejects a bad id', () => {})", "it.each([1])('rejects %j', () => {})", "log('you should know')"],
  invalid: [
    { code: "it('should reject', () => {})", errors: [{ messageId: 'should' }] },
    { code: "it.each([1])('it should reject %j', () => {})", errors: [{ messageId: 'should' }] },
    { code: "test.only('Should', () => {})", errors: [{ messageId: 'should' }] },
  ],
});
