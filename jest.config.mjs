// Jest in ESM mode on Node's own type stripping: sources run as they are, with exact line numbers.
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Elsewhere: test:e2e (a real API server), test:monitoring (a real Prometheus), test:chart (helm), test:cni and test:image
  // (as root).
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/e2e/',
    '<rootDir>/test/monitoring/',
    '<rootDir>/test/chart/',
    '<rootDir>/test/image/',
    '<rootDir>/test/cni/',
  ],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/support/missed-permissions.ts'],
  // One seed for all properties.
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/support/fast-check.mjs' },
  transform: { '\\.ts$': '<rootDir>/test/strip-types.mjs' },
  testSequencer: '<rootDir>/test/longest-first.mjs',
  coverageProvider: 'v8',
  coverageDirectory: 'coverage',
  maxWorkers: 2,
  // Node frees no module of a file that ran: a worker begins anew long before its heap is full.
  workerIdleMemoryLimit: '1500MB',
  // Only to end what hangs: a busy machine must not fail a test, nor one that runs behind all others.
  testTimeout: 600_000,
};
