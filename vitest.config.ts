import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { SlowTestsLast } from './test/slow-last.ts'
import { chosenTests, isSlowTest } from './test/slow.ts'
import { Summary } from './test/summary.ts'

/** A file that replaces a module or a flag of V8, or adds the tests of another file to its own. */
const NEEDS_OWN_PROCESS = /\bvi\.mock\(|\bimport\('\.\/[^']*\.test\.ts'\)|\/long-lived\.ts'/

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
  .map((path) => `test/${path}`)
  .filter((path) => chosenTests === 'all' || isSlowTest(path) === (chosenTests === 'only'))
const apart = files.filter((path) => NEEDS_OWN_PROCESS.test(readFileSync(path, 'utf8')))
const together = files.filter((path) => !apart.includes(path))

export default defineConfig({
  // An optional peer that is installed beside the checks (scripts/tools).
  resolve: { alias: { '@google/genai': resolve('scripts/tools/node_modules/@google/genai') } },
  test: {
    // Longer than waits of tests (`test/wait-until.ts`), so that the wait says what did not happen.
    testTimeout: 150_000,
    // A failed hook is not tried again.
    hookTimeout: 300_000,
    expect: { poll: { timeout: 50_000 } },
    // Tests wait for programs, browsers and time-outs: four at once keep two processors busy.
    maxWorkers: 4,
    // CI tries a test that failed once more, and names it at its end (`test/summary.ts`). Generated cases have a fixed seed
    // (`test/seed.ts`), so a fault of the code fails twice.
    retry: Number(process.env['SVC_TEST_RETRY'] ?? 0),
    globalSetup: ['test/setup.ts'],
    // What a file becomes for Node is kept until it changes.
    experimental: { fsModuleCache: true },
    // The built program is imported as it is.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: ['test/seed.ts', 'test/own-connections.ts', 'test/one-sqlite.ts', 'test/time-left.ts'],
    sequence: { sequencer: SlowTestsLast },
    reporters: ['default', new Summary()],
    projects: [
      // Their files share a process, which loads and compiles the code once: more than a third less work.
      { extends: true, test: { name: 'together', include: together, isolate: false } },
      { extends: true, test: { name: 'apart', include: apart } },
    ],
  },
})
