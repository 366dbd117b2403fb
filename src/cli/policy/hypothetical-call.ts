/** Facts of a hypothetical call: the first call of a fresh run, with the differences that `--context` gives. */
import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { CallFacts } from '../../policy/condition/decision.ts'
import { readDuration } from '../../policy/condition/duration.ts'
import { CALL_FIELDS } from '../../policy/condition/fields.ts'
import { historyText, inWindow } from '../../policy/condition/history.ts'
import { argumentAt, readPath } from '../../policy/condition/path.ts'
import { nearestWord } from '../shell/nearest.ts'
import type { EvalSubject } from './subject.ts'

export interface CallSituation {
  readonly subject: Pick<EvalSubject, 'agent' | 'depth'>
  readonly tool: CallFacts['tool']
  readonly args: JsonValue
  /**
   * Differences by root (`{run: {depth: 1}}`) or by path, as in the witness of a diff (`{"run.depth": 1}`); `history` by
   * path, `time.now` as RFC 3339 or milliseconds.
   */
  readonly context: JsonObject
  readonly now: Instant
}

/** The fields that a context may give, by root; derived ones follow from the others. */
const CONTEXT_FIELDS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(CALL_FIELDS).map(([root, fields]) => [
    root,
    Object.keys(fields).filter((name) => fields[name]!.isDerived !== true),
  ]),
)

/** @throws Failure `usage` for a context that names what does not exist */
export function hypotheticalFacts({ subject, tool, args, context: written, now }: CallSituation): CallFacts {
  const { agent, depth } = subject
  const context = groupByRoot(written)
  const given = (root: string): JsonObject => {
    const value = context[root] ?? {}
    if (!isJsonObject(value)) throw fail('usage', { what: `${root} of the context is no mapping.` })
    for (const field of Object.keys(value)) if (CONTEXT_FIELDS[root]) checkName(field, CONTEXT_FIELDS[root], `${root}.`)
    return value
  }
  for (const root of Object.keys(context)) checkName(root, [...Object.keys(CONTEXT_FIELDS), 'history'], '')
  // Values are not checked: authors may ask about any.
  return {
    args,
    tool: { ...tool, ...given('tool') },
    agent: { ...agent, ...given('agent') },
    run: {
      depth,
      is_subagent: depth > 0,
      iteration: 1,
      elapsed_seconds: 0,
      tokens_used: 0,
      trigger_type: 'api',
      taint: false,
      ...given('run'),
    },
    session: { run_count: 1, tokens_used: 0, elapsed_seconds: 0, ...given('session') },
    principal: { type: 'api_key', id: '', ...given('principal') },
    svc: { dispatch: { trigger: 'none' }, limit: 'none', ...given('svc') },
    now: parseInstant(given('time')['now'], now),
    history: historyOf(given('history'), args),
  }
}

/** Moves paths under their roots. A path with null is an absent field, except in history. */
function groupByRoot(context: JsonObject): JsonObject {
  const roots: Record<string, JsonValue> = Object.assign(Object.create(null), context)
  for (const [path, value] of Object.entries(context)) {
    const dot = path.indexOf('.')
    if (dot < 0) continue
    delete roots[path]
    const [root, rest] = [path.slice(0, dot), path.slice(dot + 1)]
    const held = roots[root] ?? {}
    if (!isJsonObject(held)) throw fail('usage', { what: `${root} of the context is no mapping.` })
    // Only svc.dispatch has a field below it; `historyOf` reads the paths of measures itself.
    const field = root === 'svc' && rest === 'dispatch.trigger' ? 'dispatch' : rest
    if (value !== null || root === 'history')
      roots[root] = { ...held, [field]: field === rest ? value : { trigger: value } }
  }
  return roots
}

function checkName(name: string, names: readonly string[], prefix: string): void {
  if (names.includes(name)) return
  const near = nearestWord(name, names)
  throw fail(
    'usage',
    { what: `The context has no ${prefix}${name}.` },
    { fix: near ? `Did you mean ${prefix}${near}?` : `There are ${names.map((each) => prefix + each).join(', ')}.` },
  )
}

function parseInstant(given: JsonValue | undefined, now: Instant): Instant {
  if (given === undefined) return now
  const instant = typeof given === 'string' ? Date.parse(given) : given
  if (typeof instant === 'number' && Number.isFinite(instant)) return instant
  throw fail('usage', { what: `time.now is ${JSON.stringify(given)}, not a time such as 2026-11-20T10:00:00Z.` })
}

/**
 * Measures given by path, nested or not (`run.this_tool.attempts`; `window.this_tool.attempts (10m)` for that window only). All
 * others are those of a first call, which counts itself.
 */
function historyOf(given: JsonObject, args: JsonValue): CallFacts['history'] {
  const measures = new Map<string, number | null>()
  const read = (value: JsonValue, path: string): void => {
    if (isJsonObject(value)) return Object.entries(value).forEach(([key, each]) => read(each, `${path}.${key}`))
    const [, plain = path, window] = /^(history\.window\..*) \((\w+)\)$/s.exec(path) ?? []
    const windowMs = window === undefined ? undefined : readDuration(window)
    if (window !== undefined && windowMs === undefined)
      throw fail('usage', { what: `${path}: ${window} is no window such as 10m.` })
    const found = readPath(plain)
    if ('problem' in found) throw fail('usage', { what: found.problem })
    if (typeof value !== 'number' && value !== null)
      throw fail('usage', { what: `${path} is a number, or null where nobody can tell.` })
    measures.set(inWindow(found.path.text, windowMs), value)
  }
  read(given, 'history')
  return (scope, whose, measure, windowMs) => {
    const total = typeof measure === 'string' ? undefined : measure.total
    const one = historyText(scope, whose, measure, windowMs)
    const known = measures.get(measures.has(one) ? one : historyText(scope, whose, measure))
    if (known !== undefined) return known ?? undefined
    if (total === undefined) return measure === 'attempts' || measure === 'executed' ? 1 : 0
    const value = argumentAt(args, total)
    return typeof value === 'number' ? value : undefined
  }
}
