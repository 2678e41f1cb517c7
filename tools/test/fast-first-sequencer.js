const { default: Sequencer } = require('@jest/test-sequencer');

const RANK = { unit: 0, medium: 1, vm: 2 };

/** Fast tests first, so that a broken unit shows before a guest is booted for it; Jest's own order within a speed. */
module.exports = class FastFirstSequencer extends Sequencer {
  sort(tests) {
    const rank = (test) => RANK[test.context.config.displayName?.name] ?? 1;
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
};
