import { defineConfig } from 'vitest/config'
import { Summary } from './test/summary.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Longer than waits of tests (`test/wait-until.ts`), so that the wait says what did not happen.
    testTimeout: 150_000,
    // A failed hook is not tried again.
    hookTimeout: 300_000,
    expect: { poll: { timeout: 50_000 } },
    maxWorkers: 2,
    // Processes, browsers and databases on a machine that others use too: a test that fails is tried once more, and CI names it at its
    // end (`test/summary.ts`). Generated cases have a fixed seed (`test/seed.ts`), so a fault of the code fails twice.
    retry: 1,
    globalSetup: ['test/setup.ts'],
    // The built program is imported as it is.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: ['test/seed.ts', 'test/own-connections.ts', 'test/one-sqlite.ts'],
    reporters: ['default', new Summary()],
  },
})
