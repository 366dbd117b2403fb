/** Providers and tools for an engine that only records answers: it asks no model and calls nothing. */
import type { EngineParts } from '../../src/engine/interface/engine.ts'

const never = (): never => {
  throw new Error('An engine that performs no effects performed one.')
}

export const ANY_TOOL: Pick<EngineParts, 'providers' | 'tools'> = {
  providers: { choose: never, maxOutputTokens: () => 4096, terms: () => ({ price: 'free' }) },
  tools: {
    route: () => ({ route: 'mock', timeoutMs: 10_000, invoke: never }),
    describe: () => Promise.resolve(undefined),
    findUnsetSecret: () => undefined,
    close: () => Promise.resolve(),
  },
}
