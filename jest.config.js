const path = require('node:path');
const { projects } = require('./jest.preset.js');

/** @type {import('jest').Config} */
module.exports = {
  projects,
  testTimeout: 120_000,
  maxWorkers: 2,
  testSequencer: path.join(__dirname, 'tools/test/fast-first-sequencer.js'),
};
