/**
 * The annotation `svc/context`: how much of a long conversation the model gets, as YAML flow text. Source: docs/design/steering.md#context
 */
import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { DEFAULT_CONTEXT_RULE, type ContextRule } from '../../../spec/context-rule.ts'
import { readValues } from '../../workspace/read.ts'

export const CONTEXT_RULE = 'svc/context'

const MAX_KEEP = 1000
const MIN_TOKENS = 1000

/** Reads the annotation; absent fields have the values of `DEFAULT_CONTEXT_RULE`. */
export function readContextRule(text: string): { readonly rule: ContextRule } | { readonly problem: string } {
  const { values, findings } = readValues({ path: CONTEXT_RULE, text })
  const [given] = values
  if (values.length !== 1 || findings.some(({ severity }) => severity === 'error') || !isJsonObject(given ?? null))
    return { problem: `${CONTEXT_RULE} is a mapping, such as "{keep: 20, summarise: true, budget: 60%}".` }
  const members = given as Readonly<Record<string, JsonValue>>
  const unknown = Object.keys(members).find((name) => !['keep', 'summarise', 'budget'].includes(name))
  if (unknown !== undefined)
    return { problem: `${CONTEXT_RULE} has keep, summarise and budget; "${unknown}" is none of them.` }
  const { keep = DEFAULT_CONTEXT_RULE.keep, summarise = DEFAULT_CONTEXT_RULE.summarise } = members
  if (typeof keep !== 'number' || !Number.isInteger(keep) || keep < 1 || keep > MAX_KEEP)
    return { problem: `keep of ${CONTEXT_RULE} is a number of messages from 1 to ${MAX_KEEP}.` }
  if (typeof summarise !== 'boolean') return { problem: `summarise of ${CONTEXT_RULE} is true or false.` }
  const budget = readBudget(members['budget'])
  return budget
    ? { rule: { keep, summarise, budget } }
    : { problem: `budget of ${CONTEXT_RULE} is a share from 1% to 100%, or tokens from ${MIN_TOKENS} on.` }
}

function readBudget(given: JsonValue | undefined): ContextRule['budget'] | undefined {
  if (given === undefined) return DEFAULT_CONTEXT_RULE.budget
  if (typeof given === 'number') return Number.isInteger(given) && given >= MIN_TOKENS ? { tokens: given } : undefined
  const [, percent] = (typeof given === 'string' && /^(\d{1,3})%$/.exec(given)) || []
  return percent !== undefined && Number(percent) >= 1 && Number(percent) <= 100
    ? { percent: Number(percent) }
    : undefined
}
