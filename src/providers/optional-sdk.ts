/** SDKs that only some users need: optional peer dependencies, loaded with the first completion. */
import { ProviderError } from './provider.ts'

/** The releases that are tested, as in package.json. */
export const OPTIONAL_SDKS = {
  '@google/genai': '2.32.0',
  '@aws-sdk/client-bedrock-runtime': '3.1164.0',
} as const

/** @throws ProviderError that names the command which installs the SDK */
export async function loadOptionalSdk<T>(name: keyof typeof OPTIONAL_SDKS, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new ProviderError(
      `This provider needs the package ${name}; install it beside svc: npm install ${name}@${OPTIONAL_SDKS[name]}`,
      { retryable: false, cause },
    )
  }
}
