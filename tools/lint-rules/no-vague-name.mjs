import path from 'node:path';

/** Names that say nothing about what is inside, so that everything ends up there. */
const VAGUE_WORDS = new Set(['util', 'utils', 'helper', 'helpers', 'manager', 'common', 'misc', 'stuff', 'impl']);

/** Refuses files and classes with such a word in their name. */
export const noVagueName = {
  meta: {
    type: 'problem',
    docs: { description: 'Files and classes are named after what they do' },
    schema: [],
    messages: { vague: '"{{name}}" says nothing about its content; name it after the one thing it does.' },
  },
  create(context) {
    const report = (node, name) => context.report({ node, messageId: 'vague', data: { name } });
    const check = (node, name) => {
      if (wordsOf(name).some((word) => VAGUE_WORDS.has(word))) report(node, name);
    };
    return {
      Program(node) {
        check(node, path.basename(context.filename));
      },
      ClassDeclaration(node) {
        if (node.id) check(node.id, node.id.name);
      },
    };
  },
};

/** The lower-case words of a kebab-case, dotted or CamelCase name. */
const wordsOf = (name) =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
