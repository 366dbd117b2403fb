/** Security requirements of operations, as secrets that the project file names. */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import type { SecurityScheme } from '../spec/project/operation-record.ts'
import type { LossList } from './losses.ts'
import { resolveObject, type OpenApiDocument } from './openapi-document.ts'

export interface OpenApiSecurity {
  /** Schemes that can be carried, by name. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>
  /** What an operation needs; undefined where it needs nothing. */
  requirementOf(operation: JsonObject, key: string): readonly (readonly string[])[] | undefined
}

export function readSecurity({ root }: OpenApiDocument, losses: LossList): OpenApiSecurity {
  const components = isJsonObject(root['components']) ? root['components'] : {}
  const declared = isJsonObject(components['securitySchemes']) ? components['securitySchemes'] : {}
  const schemes: Record<string, SecurityScheme> = {}
  const reported = new Set<string>()
  const use = (name: string): void => {
    const given = Object.hasOwn(declared, name) ? resolveObject(root, declared[name]) : undefined
    const scheme = given && toScheme(given)
    if (scheme && name !== '__proto__') schemes[name] = scheme
    const type = given?.['type']
    if (scheme?.type !== 'bearer' || (type !== 'oauth2' && type !== 'openIdConnect') || reported.has(name)) return
    reported.add(name)
    losses.add(
      `security scheme ${name}`,
      `${type}: flows and scopes are not carried; the secret is an access token`,
      true,
    )
  }
  return {
    schemes,
    requirementOf(operation, key) {
      const given: JsonValue | undefined = operation['security'] ?? root['security']
      if (given === undefined) return undefined
      if (!Array.isArray(given) || !given.every(isJsonObject)) {
        losses.add(key, 'its security requirement cannot be read: calls are refused', true)
        return [['']]
      }
      if (given.length === 0) return undefined
      const alternatives = given.map((each) => Object.keys(each))
      alternatives.flat().forEach(use)
      const isCarried = (name: string): boolean => Object.hasOwn(schemes, name)
      const usable = alternatives.filter((names) => names.every(isCarried))
      const [instead, authority] = insteadOf(usable)
      for (const name of alternatives.flat())
        if (!isCarried(name)) losses.add(key, `security scheme "${name}" cannot be carried: ${instead}`, authority)
      // With none that can be met, the requirement stays, so that calls are refused rather than sent without.
      return usable.length > 0 ? usable : alternatives
    },
  }
}

/** What becomes of calls whose source also takes a scheme that cannot be carried, and whether that concerns authority. */
function insteadOf(usable: readonly (readonly string[])[]): readonly [instead: string, authority: boolean] {
  if (usable.length === 0) return ['calls are refused', true]
  if (usable.every((names) => names.length === 0))
    return ['calls are sent without a secret, as the source allows', true]
  return ['another that the source takes is used', false]
}

/** Undefined for what svc does not offer: `mutualTLS`, digest and other schemes of HTTP. */
function toScheme({ type, in: place, name, scheme }: JsonObject): SecurityScheme | undefined {
  if (type === 'oauth2' || type === 'openIdConnect') return { type: 'bearer' }
  if (type === 'http') {
    const named = typeof scheme === 'string' ? scheme.toLowerCase() : ''
    return named === 'basic' || named === 'bearer' ? { type: named } : undefined
  }
  if (type !== 'apiKey' || typeof name !== 'string') return undefined
  if (place === 'query') return { type, in: place, name }
  const isToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)
  if (place === 'cookie' && isToken) return { type, in: place, name }
  return place === 'header' && isToken && !CONNECTION_HEADERS.has(name.toLowerCase())
    ? { type, in: place, name }
    : undefined
}

const CONNECTION_HEADERS: ReadonlySet<string> = new Set(
  'connection content-length content-type cookie expect host te trailer transfer-encoding upgrade'.split(' '),
)
