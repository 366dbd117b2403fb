/** What a task is about, in one line: its kind, its call, and why the call was stopped. */
import { shortenText } from '../../base/text/cut-text.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { wordsOfTask } from '../../spec/server-question.ts'
import type { TaskRequest } from '../../spec/task.ts'
import { currencyOf, isMoneyName, isRecipientName } from './call-arguments.ts'

/** The kind of a task for people. */
export const nameOfKind = (kind: string): string => KINDS[kind] ?? kind.replaceAll('_', ' ')

const KINDS: Readonly<Record<string, string>> = {
  multi_option: 'choice',
  text: 'answer',
  aitl_escalation: 'agent question',
  anomaly_review: 'unknown outcome',
}

/**
 * What a task is about, in one line for lists and messages: the summary of the call; `acme.refunds amount 180 EUR, order A-1042`
 * where its tool declares none; the question where no call is held.
 */
export function describeSubject(task: TaskRequest): string {
  const { tool, summary, arguments: args } = task
  if (summary !== undefined) return safeText(summary)
  if (tool === undefined) return safeText(shortenText(wordsOfTask(task).replaceAll(/\s+/g, ' '), MOST_OF_SUBJECT))
  const key = findKeyArgument(args)
  const unit = currencyOf(args)
  const facts = [
    ...(typeof key?.value === 'number'
      ? [`${key.name} ${key.value}${unit !== undefined && isMoneyName(key.name) ? ` ${unit}` : ''}`]
      : []),
    ...describeCounterpart(args, unit),
  ]
  return safeText([tool.ref, ...(facts.length > 0 ? [facts.join(', ')] : [])].join(' '))
}

const MOST_OF_SUBJECT = 120

/** The recipient of a call, else its first text that is one word: `order A-1042`. */
function describeCounterpart(args: JsonValue | undefined, unit: string | undefined): readonly string[] {
  if (!isJsonObject(args)) return []
  const words = Object.entries(args).flatMap(([name, value]) =>
    typeof value === 'string' && SHORT_WORD.test(value) && value !== unit ? [[name, value] as const] : [],
  )
  const [name, value] = words.find(([each]) => isRecipientName(each)) ?? words[0] ?? []
  return name === undefined ? [] : [`${name} ${value}`]
}

const SHORT_WORD = /^[\w.@#+/:-]{1,40}$/

/** The most telling argument of a call: the first number, else the first non-empty text. */
export function findKeyArgument(
  args: JsonValue | undefined,
): { readonly name: string; readonly value: number | string } | undefined {
  if (!isJsonObject(args)) return undefined
  let text: { readonly name: string; readonly value: string } | undefined
  for (const [name, value] of Object.entries(args)) {
    if (typeof value === 'number') return { name, value }
    if (typeof value === 'string' && value !== '') text ??= { name, value }
  }
  return text
}

/** The first policy that stopped the call, in one line, with the values of its condition. Not escaped. */
export function describeCause(task: TaskRequest): string {
  const policy = task.policies?.find(({ matched }) => matched !== false)
  if (!policy) return wordsOfTask(task)
  const earlier = earlierCallIn(task.prompt)
  return `${policy.id}@${policy.version}: ${policy.condition ?? policy.decision}${earlier === undefined ? '' : `; ${earlier}`}`
}

/** What a question says of a call that was made before, behind the sentence about its policy. */
export const earlierCallIn = (question = ''): string | undefined =>
  /\bthe same tool was called with (?:the same|other) arguments before in .+$/i.exec(question)?.[0]
