import { defineConfig } from 'vitest/config'
import { Summary } from './test/summary.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/seed.ts'],
    reporters: ['default', new Summary()],
  },
})
