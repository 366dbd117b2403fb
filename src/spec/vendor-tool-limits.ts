/**
 * What vendors refuse in the tools of a request. They refuse the request as a whole. Lint tells authors by this table, and
 * `providers/vendor-tool-forms.ts` sends other names and schemas in place of the refused ones.
 */
import { isJsonObject, type JsonValue } from '../base/json/json.ts'
import { pointerTo } from '../base/json/pointer.ts'
import { canonicalProvider } from './document.ts'
import type { JsonSchema } from './snapshot.ts'

export interface VendorToolLimits {
  /** The vendor, as a sentence names it. */
  readonly vendor: string
  /** Where the limits are stated or were seen, and when that was last looked at. */
  readonly source: string
  readonly date: string
  readonly toolName?: RegExp
  readonly propertyName?: RegExp
  /** Keywords that must not stand at the root of a tool's schema. */
  readonly refusedAtRoot?: readonly string[]
  readonly mostTools?: number
  /** What the vendor says of tools that are too deep or too large, where it publishes no number. */
  readonly saysTooComplex?: RegExp
  /** Of a tool, in characters. */
  readonly longestDescription?: number
}

const ANTHROPIC_PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/
const COMBINATIONS = ['anyOf', 'oneOf', 'allOf']

/** One line a vendor. A compatible server has limits of its own, which nobody here knows. */
const VENDOR_TOOL_LIMITS: Readonly<Record<string, VendorToolLimits>> = {
  anthropic: {
    vendor: 'Anthropic',
    source: 'answers of the Messages API: anthropics/claude-code #79418 (property keys), #40075 (root)',
    date: '2026-11-28',
    propertyName: ANTHROPIC_PROPERTY,
    refusedAtRoot: COMBINATIONS,
  },
  // Most models there are Claude; Nova reads nothing but type, properties and required at the root.
  bedrock: {
    vendor: 'Bedrock',
    source: 'Anthropic for Claude; Amazon Nova user guide, "Tool use", for the root',
    date: '2026-11-28',
    propertyName: ANTHROPIC_PROPERTY,
    refusedAtRoot: COMBINATIONS,
  },
  openai: {
    vendor: 'OpenAI',
    source: 'answers of the API: langchain-ai/langchainjs #9804 (root), vishalmysore/Tools4AI #16 (count)',
    date: '2026-11-28',
    refusedAtRoot: [...COMBINATIONS, 'enum', 'const', 'not'],
    mostTools: 128,
  },
  'azure-openai': {
    vendor: 'Azure OpenAI',
    source: 'as OpenAI; Microsoft Learn, "Function calling" (length of descriptions), "Quotas and limits" (count)',
    date: '2026-11-28',
    refusedAtRoot: [...COMBINATIONS, 'enum', 'const', 'not'],
    mostTools: 128,
    longestDescription: 1024,
  },
  gemini: {
    vendor: 'Gemini',
    source:
      'answers of the API: kaitranntt/ccs #25 (names), google-gemini/gemini-cli #19083 (count), #5923 (depth), bethington/ghidra-mcp #440 (size)',
    date: '2026-11-28',
    toolName: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
    mostTools: 512,
    saysTooComplex: /maximum allowed nesting depth|too many states/,
  },
}

/** @param provider the type of a provider, or the name that a document gives it */
export const vendorToolLimits = (provider: string): VendorToolLimits | undefined =>
  VENDOR_TOOL_LIMITS[canonicalProvider(provider)]

/** A place in a tool's schema that a vendor refuses. */
export interface ToolSchemaFault {
  readonly pointer: string
  readonly kind: 'property_name' | 'root_keyword'
  /** The name of the property, or the keyword. */
  readonly name: string
}

/** What the vendor refuses in the schema of a tool, wherever it stands. */
export function findToolSchemaFaults(limits: VendorToolLimits, schema: JsonSchema): readonly ToolSchemaFault[] {
  if (!isJsonObject(schema)) return []
  const atRoot = (limits.refusedAtRoot ?? []).filter((keyword) => keyword in schema)
  return [
    ...atRoot.map((name) => ({ pointer: pointerTo('', name), kind: 'root_keyword' as const, name })),
    ...propertyPlaces(schema, '')
      .filter(({ name }) => limits.propertyName?.test(name) === false)
      .map((place) => ({ ...place, kind: 'property_name' as const })),
  ]
}

/** Every property that a schema names, with its place. */
export function propertyPlaces(
  schema: JsonValue,
  pointer: string,
): readonly { readonly pointer: string; readonly name: string }[] {
  if (Array.isArray(schema)) return schema.flatMap((each, at) => propertyPlaces(each, pointerTo(pointer, at)))
  if (!isJsonObject(schema)) return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const at = pointerTo(pointer, keyword)
    // Values, not schemas.
    if (VALUE_KEYWORDS.has(keyword)) return []
    if (!NAMED_SCHEMAS.has(keyword) || !isJsonObject(value)) return propertyPlaces(value, at)
    return Object.entries(value).flatMap(([name, each]) => {
      const place = pointerTo(at, name)
      return [...(keyword === 'properties' ? [{ pointer: place, name }] : []), ...propertyPlaces(each, place)]
    })
  })
}

/** Keywords whose members are schemas by names that the author chose. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
])

/** Keywords with values, in which nothing is a schema. */
export const VALUE_KEYWORDS: ReadonlySet<string> = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'required',
  'dependentRequired',
])
