import { defineConfig } from 'vitest/config'
import { Summary } from './test/summary.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
    // Processes, browsers and databases on a machine that others use too: a test that fails is tried once more, and CI names it at its
    // end (`test/summary.ts`). Generated cases have a fixed seed (`test/seed.ts`), so a fault of the code fails twice.
    retry: 1,
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/seed.ts', 'test/own-connections.ts'],
    reporters: ['default', new Summary()],
  },
})
