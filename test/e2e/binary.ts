/** The real binary in a test: a test that fails before it stops its server leaves none behind. */
import { afterAll } from 'vitest'
import { endAll } from './program.ts'

export * from './program.ts'

// Registered before those of the file that imports this one, and therefore run after them.
afterAll(endAll)
