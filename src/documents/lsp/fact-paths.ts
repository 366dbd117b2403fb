/** Completion of facts in conditions: where arguments come from, and what is known beside them. Source: docs/design/policies.md#facts */
import { canonicalJson, isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { CALL_FIELDS } from '../../policy/condition/fields.ts'
import type { ArgumentPath } from './argument-paths.ts'

/** A path that a condition can begin with, and its type or values. */
export type FactPath = ArgumentPath

/**
 * Facts that fit what is written: those of its root, or of every root before one is written.
 * @param written the word before the cursor
 * @param args paths of the arguments that can be named
 */
export function factPaths(written: string, args: readonly ArgumentPath[]): readonly FactPath[] {
  const dot = written.indexOf('.')
  const root = dot === -1 ? undefined : written.slice(0, dot)
  const isWanted = (path: string): boolean => root === undefined || path.startsWith(`${root}.`)
  return [...args, ...args.map(toSource), ...callFacts, ...historyFacts(args)].filter(({ path }) => isWanted(path))
}

const toSource = ({ path }: ArgumentPath): FactPath => ({
  path: path.replace(/^args/, 'source'),
  type: 'input, person, tool:…, agent:…, document, model',
  description: `Who handed the run the value of ${path}.`,
})

const callFacts: readonly FactPath[] = Object.entries(CALL_FIELDS).flatMap(([root, fields]) =>
  Object.entries(fields).flatMap(([name, { schema }]) => withMembers(`${root}.${name}`, schema)),
)

/** A fact whose value is an object is completed by the paths of its members. */
function withMembers(path: string, schema: JsonObject): readonly FactPath[] {
  const { properties } = schema
  if (!isJsonObject(properties)) return [{ path, ...typeOf(schema) }]
  return Object.entries(properties).flatMap(([key, member]) =>
    isJsonObject(member) ? withMembers(`${path}.${key}`, member) : [],
  )
}

function typeOf({ type, enum: values }: JsonObject): { readonly type?: string } {
  if (Array.isArray(values)) return { type: values.map((value) => canonicalJson(value).replaceAll('"', '')).join(', ') }
  return typeof type === 'string' ? { type } : {}
}

const SCOPES = ['run', 'session', 'window', 'workspace']
const SUBJECTS = ['this_tool', 'same_args', 'all_tools']
const COUNTS = ['attempts', 'executed', 'denied', 'rejected', 'failed']

function historyFacts(args: readonly ArgumentPath[]): readonly FactPath[] {
  const totals = args
    .filter(({ path, type }) => (type === 'number' || type === 'integer') && !path.includes('['))
    .map(({ path }) => `total(${path})`)
  return SCOPES.flatMap((scope) =>
    SUBJECTS.flatMap((subject) =>
      [...COUNTS, ...totals].map((measure) => ({ path: `history.${scope}.${subject}.${measure}`, type: 'number' })),
    ),
  )
}
