/** Facts of a hypothetical call: the first call of a run, with the differences that `--context` gives. */
import type { Instant } from '../../base/clock.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { CallFacts } from '../../policy/condition/decision.ts'
import { readDuration } from '../../policy/condition/duration.ts'
import { CALL_FIELDS } from '../../policy/condition/fields.ts'
import { firstCallFacts } from '../../policy/condition/first-call.ts'
import { inWindow, withKey } from '../../policy/condition/history.ts'
import { readPath } from '../../policy/condition/path.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import type { EvalSubject } from './subject.ts'
import { usageFailure } from '../../base/usage-failure.ts'

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
    Object.entries(fields).flatMap(([name, { isDerived }]) => (isDerived ? [] : name)),
  ]),
)

/** @throws Failure `usage` for a context that names what does not exist */
export function hypotheticalFacts({ subject, tool, args, context, now }: CallSituation): CallFacts {
  const { agent, depth } = subject
  const given = Object.fromEntries(
    Object.entries(context).flatMap(([key, value]) =>
      key.includes('.') ? checkedField(key, value) : fieldsBelow(key, value),
    ),
  )
  return firstCallFacts({ args, tool, agent, now }, { 'run.depth': depth, 'run.is_subagent': depth > 0, ...given })
}

type GivenFields = readonly (readonly [path: string, value: JsonValue])[]

/** The fields of a root that is given as a mapping. */
function fieldsBelow(root: string, value: JsonValue): GivenFields {
  checkName(root, [...Object.keys(CONTEXT_FIELDS), 'history', 'source'], '')
  if (!isJsonObject(value)) throw usageFailure(`${root} of the context is no mapping.`)
  return Object.entries(value).flatMap(([field, each]) => checkedField(`${root}.${field}`, each))
}

/** Checks the name of a field. Values are not checked, because authors may ask about any. */
function checkedField(path: string, value: JsonValue): GivenFields {
  const dot = path.indexOf('.')
  const [root, field] = [path.slice(0, dot), path.slice(dot + 1)]
  checkName(root, [...Object.keys(CONTEXT_FIELDS), 'history', 'source'], '')
  if (root === 'history') return givenMeasures(path, value)
  if (root === 'source') return givenNames(path, value)
  // Only svc.dispatch and effect.previous have fields below them.
  const isBelow =
    (root === 'svc' && field === 'dispatch.trigger') || (root === 'effect' && /^previous\.\w+$/.test(field))
  checkName(isBelow ? field.slice(0, field.indexOf('.')) : field, CONTEXT_FIELDS[root] ?? [], `${root}.`)
  return [[path, root === 'time' ? parseInstant(value) : value]]
}

function checkName(name: string, names: readonly string[], prefix: string): void {
  if (names.includes(name)) return
  const show = (each: string): string => prefix + each
  const fix = suggestWord(name, names, `There are ${names.map(show).join(', ')}.`, show)
  throw usageFailure(`The context has no ${prefix}${name}.`, fix)
}

function parseInstant(given: JsonValue): Instant {
  const instant = typeof given === 'string' ? Date.parse(given) : given
  if (typeof instant === 'number' && Number.isFinite(instant)) return instant
  throw usageFailure(`time.now is ${JSON.stringify(given)}, not a time such as 2026-11-20T10:00:00Z.`)
}

/** The sources of an argument: one name or several; null = unknown. */
function givenNames(path: string, value: JsonValue): GivenFields {
  const found = readPath(path)
  if ('problem' in found) throw usageFailure(found.problem)
  const names = Array.isArray(value) ? value : [value]
  if (value !== null && !names.every((name) => typeof name === 'string'))
    throw usageFailure(`${path} is a name such as tool:acme.crm.lookup, or a list of names.`)
  return [[found.path.text, value]]
}

/** Measures by canonical path, nested or not: `run.this_tool.attempts`; `window.this_tool.attempts (10m)` for that window only. */
function givenMeasures(path: string, value: JsonValue): GivenFields {
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, each]) => givenMeasures(`${path}.${key}`, each))
  const [, plain = path, by, window] = /^(history\..*?)(?: by (args\S*))?(?: \((\w+)\))?$/s.exec(path) ?? []
  const windowMs = window === undefined ? undefined : readDuration(window)
  if (window !== undefined && windowMs === undefined) throw usageFailure(`${path}: ${window} is no window such as 10m.`)
  const found = readPath(plain)
  if ('problem' in found) throw usageFailure(found.problem)
  if (typeof value !== 'number' && value !== null) throw usageFailure(`${path} is a number, or null for unknown.`)
  return [[inWindow(withKey(found.path.text, by), windowMs), value]]
}
