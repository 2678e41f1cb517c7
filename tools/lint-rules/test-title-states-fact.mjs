const TEST_FUNCTIONS = new Set(['it', 'test']);

/** A test's title is a sentence of the specification: it says what is so, not what should be. */
export const testTitleStatesFact = {
  meta: {
    type: 'problem',
    docs: { description: 'Test titles state facts' },
    schema: [],
    messages: { should: 'Say what the code does ("rejects ..."), not what it "should" do.' },
  },
  create(context) {
    return {
      CallExpression(node) {
        const [title] = node.arguments;
        if (title?.type !== 'Literal' || typeof title.value !== 'string') return;
        if (TEST_FUNCTIONS.has(calledName(node.callee)) && /\bshould\b/i.test(title.value)) {
          context.report({ node: title, messageId: 'should' });
        }
      },
    };
  },
};

/** `it` for `it(...)`, `it.each(...)(...)` and `it.only(...)`. */
function calledName(callee) {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression') return calledName(callee.object);
  if (callee.type === 'CallExpression') return calledName(callee.callee);
  return '';
}
