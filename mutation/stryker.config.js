/**
 * Changes one thing at a time in a copy of the pure rules, and runs their tests: whatever can be changed and stays
 * unnoticed is not tested. To be started in the repository's root, by `npm run mutation`.
 *
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  mutate: [
    'packages/resilience/src/**/decide.ts',
    'packages/resilience/src/retry/{backoff,retry-after,rate-limit-headers}.ts',
    'packages/resilience/src/breaker/memory.ts',
    'packages/resilience/src/hedge/pushback.ts',
    'packages/resilience/src/limiter/{aimd,gradient2,vegas,state}.ts',
    'packages/resilience/src/rate-limit/adaptive.ts',
    'packages/resilience/src/database/classify.ts',
    'packages/resilience/src/budget/*.ts',
    'packages/resilience/src/classify/*.ts',
    '!**/*.{test,test-kit,test-d}.ts',
  ],

  // What the copy holds: all that the tests read, and nothing that others are writing meanwhile.
  ignorePatterns: [
    '**',
    '!package.json',
    '!vitest.config.ts',
    '!tsconfig.base.json',
    '!packages/resilience/**',
    '!vectors/**',
    '!mutation/vitest.*.ts',
    '.build-info',
    'dist',
    'node_modules',
  ],
  tempDirName: 'mutation/.stryker-tmp',
  cleanTempDir: 'always',
  // The copy lies inside the repository, so that its packages are found without a link.
  symlinkNodeModules: false,

  // Codes and tags are strings, and they matter; only sentences for people are left alone.
  plugins: ['@stryker-mutator/vitest-runner', './mutation/ignore-sentences.js'],
  ignorers: ['sentences'],

  testRunner: 'vitest',
  vitest: { configFile: 'mutation/vitest.config.ts' },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  incremental: false,
  // A mutant that takes this long counts as killed: so long that a test on a busy machine never does.
  timeoutMS: 10_000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 5,
  // Types are erased: what the compiler would refuse is killed by a test or not at all.
  checkers: [],
  disableTypeChecks: false,

  reporters: ['clear-text', 'json', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportMutants: false },
  jsonReporter: { fileName: 'mutation/reports/mutation.json' },
  thresholds: { high: 95, low: 90, break: 90 },
  allowConsoleColors: false,
}
