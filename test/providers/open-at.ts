/** A provider of the project file at an address, as a server opens it. */
import { createRedactor } from '../../src/base/secret.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { ModelProvider } from '../../src/providers/provider.ts'
import { createProviders } from '../../src/providers/registry/choose.ts'

export const HOUSE_KEY = 'k-test-1234567890'

/** The provider `house` of a type, whose key is in HOUSE_KEY. */
export function openAt(
  type: 'openai-compatible' | 'openai' | 'anthropic' | 'gemini',
  base_url: string,
  clock?: Clock,
): ModelProvider {
  const providers = createProviders({
    config: { house: { type, base_url, key: { fromEnv: 'HOUSE_KEY' } } },
    env: { HOUSE_KEY },
    redactor: createRedactor(),
    ...(clock && { clock }),
  })
  return providers.choose({ id: 'acme.desk', secrets: {} }, { provider: 'house', name: 'm' })
}
