/** Facts of a call that no run has made: the first call of a plain run, with given differences. */
import type { JsonValue } from '../../base/json/json.ts'
import type { CallFacts } from './decision.ts'
import { CALL_FIELDS } from './fields.ts'
import { historyText, type HistoryMeasure } from './history.ts'
import { argumentAt, sourceText } from './path.ts'
import { effectKeyOf } from './effect-key.ts'

/** Differences by path: `run.depth`, `history.…`. Null = an absent field, or a measure that is unknown. */
export type CallContext = Readonly<Record<string, JsonValue>>

/** @param context values are not checked; unknown paths are ignored */
export function firstCallFacts(
  { args, tool, agent, now }: Pick<CallFacts, 'args' | 'tool' | 'agent' | 'now'>,
  context: CallContext = {},
): CallFacts {
  const roots: Record<string, Record<string, unknown>> = { tool: { ...tool }, agent: { ...agent } }
  const key = effectKeyOf(tool.labels, args)
  if (key && 'key' in key) roots['effect'] = { key: key.shown, repeated: false }
  for (const [root, facts] of USUAL_FACTS) roots[root] = { ...facts }
  for (const [path, value] of Object.entries(context)) {
    const [root, name, member] = path.split('.') as [string, string, string?]
    const facts: Record<string, unknown> = Object.hasOwn(CALL_FIELDS, root) ? (roots[root] ??= {}) : {}
    if (member !== undefined) facts[name] = { ...(facts[name] as object), [member]: value }
    else if (value === null) delete facts[name]
    else facts[name] = value
  }
  const at = context['time.now']
  // The table has a usual value for each field that `CallFacts` requires.
  const facts = roots as unknown as Omit<CallFacts, 'args' | 'now' | 'history'>
  return {
    ...facts,
    args,
    // Sources of arguments are unknown outside of a run.
    source(segments) {
      const names = context[`source.${sourceText(segments)}`]
      const list = typeof names === 'string' ? [names] : names
      return Array.isArray(list) && list.length > 0 ? list.map(String) : undefined
    },
    now: typeof at === 'number' ? at : now,
    history(...measure) {
      const [scope, whose, what, windowMs, by] = measure
      const texts = [
        historyText(...measure),
        historyText(scope, whose, what, undefined, by),
        historyText(scope, whose, what, windowMs),
        historyText(scope, whose, what),
      ]
      const key = texts.find((each) => Object.hasOwn(context, each))
      if (key === undefined)
        return by !== undefined && argumentAt(args, by) === undefined ? undefined : firstCallMeasure(what, args)
      const value = context[key]
      return typeof value === 'number' ? value : undefined
    },
  }
}

/** The usual facts by root, for roots that have any. */
const USUAL_FACTS: readonly (readonly [string, Readonly<Record<string, JsonValue>>])[] = Object.entries(
  CALL_FIELDS,
).flatMap(([root, fields]) => {
  const usual = Object.entries(fields).flatMap(([name, field]) =>
    field.usual === undefined ? [] : [[name, field.usual] as const],
  )
  return usual.length === 0 ? [] : [[root, Object.fromEntries(usual)] as const]
})

/** History measures of a run's first call: they count only this call. */
function firstCallMeasure(measure: HistoryMeasure, args: JsonValue): number | undefined {
  if (typeof measure === 'string') return measure === 'attempts' || measure === 'executed' ? 1 : 0
  const value = argumentAt(args, measure.total)
  return typeof value === 'number' ? value : undefined
}
