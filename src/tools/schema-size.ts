import { isJsonObject, isTooDeep } from '../base/json.ts'
import type { JsonSchema } from '../spec/snapshot.ts'

/** Bounds of a schema that is compiled. Source: security, S12. */
const MAX_BYTES = 64 * 1024
const MAX_DEPTH = 32
const MAX_NODES = 2000
const MAX_ENUM = 1000

/** Keywords under which a value is data, not schema. */
const DATA = new Set(['const', 'default', 'enum', 'examples', 'required', 'type', '$vocabulary', 'dependentRequired'])
/** Keywords whose members are named by the author, so a name is no keyword. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/**
 * Why a schema is too large to compile, or whether checking with it may take long for some value (`risky`): it holds a
 * pattern or refers to itself. Nodes are counted along every path, `$ref` followed, because that is the work a check does.
 */
export function measureSchema(schema: JsonSchema): { readonly risky: boolean } | { readonly problem: string } {
  // Beyond that nothing could write it, or walk it.
  if (isTooDeep(schema)) return { problem: `the schema is nested deeper than ${MAX_DEPTH}` }
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES)
    return { problem: `the schema is larger than ${MAX_BYTES} bytes` }
  let nodes = 0
  let risky = false
  let problem: string | undefined
  const walk = (value: unknown, depth: number, open: readonly string[]): void => {
    if (problem !== undefined) return
    if (Array.isArray(value)) return value.forEach((each) => walk(each, depth, open))
    if (!isJsonObject(value)) return
    if (depth > MAX_DEPTH) return void (problem = `the schema is nested deeper than ${MAX_DEPTH}`)
    if (++nodes > MAX_NODES) return void (problem = `the schema has more than ${MAX_NODES} nodes, references followed`)
    if ('pattern' in value || 'patternProperties' in value || '$dynamicRef' in value || '$recursiveRef' in value)
      risky = true
    if (Array.isArray(value['enum']) && value['enum'].length > MAX_ENUM)
      problem = `an enum has more than ${MAX_ENUM} values`
    if (typeof value['$ref'] === 'string') follow(value['$ref'], open)
    for (const [key, each] of Object.entries(value)) {
      // Definitions are counted where something refers to them.
      if (DATA.has(key) || key === '$defs' || key === 'definitions') continue
      if (NAMED.has(key) && isJsonObject(each)) for (const named of Object.values(each)) walk(named, depth + 1, open)
      else walk(each, depth + 1, open)
    }
  }
  const follow = (ref: string, open: readonly string[]): void => {
    if (!ref.startsWith('#')) return void (problem ??= `$ref "${ref}" leaves the schema`)
    if (open.includes(ref)) return void (risky = true)
    const target = resolve(schema, ref)
    // An anchor or an unknown pointer: the compiler knows, and a check with it is guarded.
    if (target === undefined) risky = true
    // Depth is that of the text: along references the number of nodes is the bound.
    else walk(target, 0, [...open, ref])
  }
  walk(schema, 0, ['#'])
  return problem === undefined ? { risky } : { problem }
}

/** What a `#/…` pointer names inside the schema. */
function resolve(schema: unknown, ref: string): unknown {
  if (ref === '#') return schema
  if (!ref.startsWith('#/')) return undefined
  let here = schema
  for (const raw of ref.slice(2).split('/')) {
    const key = unescape(raw)
    if (Array.isArray(here)) here = here[Number(key)]
    else if (isJsonObject(here) && Object.hasOwn(here, key)) here = here[key]
    else return undefined
  }
  return here
}

function unescape(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}
