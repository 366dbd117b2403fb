/** Pages of `svc explain` about documents: kinds, fields, operators, facts and side-effect classes. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { CALL_FIELDS } from '../../../policy/condition/fields.ts'
import { OPERATORS, operatorRow, type ConditionOperator } from '../../../policy/condition/operators.ts'
import { KINDS, type SideEffectClass } from '../../../spec/document.ts'
import { readSchemaFile } from '../../project/schema-file.ts'
import { ownMember } from '../../../base/json/own-member.ts'
import type { TaskKind } from '../../../spec/task.ts'

export interface TermPage {
  readonly kind: 'class' | 'decision' | 'document' | 'fact' | 'field' | 'operator' | 'task'
  readonly text: string
}

/** What svc does with a call of each class. */
const CLASSES: Readonly<Record<SideEffectClass, string>> = {
  read_only: 'The call changes nothing. svc repeats it after a crash.',
  idempotent_write:
    'Repeating the call changes nothing more. svc repeats it after a crash, with the same idempotency key.',
  non_idempotent_write:
    'Repeating the call acts again. svc sends it at most once by itself; when its outcome is unknown, a person decides.',
  irreversible_action:
    'The call cannot be undone. svc sends it at most once by itself; when its outcome is unknown, a person decides.',
}

/** @param term a kind, `spec.model.provider` with or without its kind before it, an operator, `run.depth`, a class */
export async function documentTermPage(term: string): Promise<TermPage | undefined> {
  if (Object.hasOwn(CLASSES, term))
    return { kind: 'class', text: `${term} (side-effect class)  ${CLASSES[term as SideEffectClass]}` }
  if (Object.hasOwn(OPERATORS, term)) return { kind: 'operator', text: operatorText(term as ConditionOperator) }
  return wordPage(term) ?? factPage(term) ?? (await fieldPage(term)) ?? (await namedFieldsPage(term))
}

function wordPage(term: string): TermPage | undefined {
  if (Object.hasOwn(DECISION_WORDS, term))
    return { kind: 'decision', text: `${term} (decision of a policy)  ${DECISION_WORDS[term as 'allow']}` }
  if (Object.hasOwn(TASK_KIND_WORDS, term))
    return { kind: 'task', text: `${term} (kind of task)  ${TASK_KIND_WORDS[term as 'approval']}` }
  if (/^args(?:\.\S+)?$/.test(term))
    return {
      kind: 'fact',
      text: `${term} (fact that conditions name)  ${term === 'args' ? 'The arguments' : 'An argument'} of the call, with the type that the tool's input schema declares.`,
    }
  return undefined
}

function operatorText(op: ConditionOperator): string {
  const row = operatorRow(op)
  const takes = row.problem(undefined)?.replace(/;.*$/s, '')
  return `${op} (operator of conditions)  ${takes === undefined ? '' : `It ${takes}. `}Shown as "${row.word}".`
}

function factPage(term: string): TermPage | undefined {
  const [, root = '', name = ''] = /^(\w+)\.(\w+)$/.exec(term) ?? []
  const field = ownMember(ownMember(CALL_FIELDS, root) ?? {}, name)
  if (!field) return undefined
  const { type, enum: values } = field.schema
  const typed = typeof type === 'string' ? type : 'any value'
  const about = Array.isArray(values) ? `one of ${namesOf(values)}` : typed
  return {
    kind: 'fact',
    text: `${term} (fact that conditions name)  ${about}${field.isOptional ? '; a call may be without it' : ''}`,
  }
}

async function fieldPage(term: string): Promise<TermPage | undefined> {
  const [first = '', ...rest] = term.split('.')
  const kind = KINDS.find((each) => each.toLowerCase() === first.toLowerCase())
  const path = kind ? rest : [first, ...rest]
  const found: string[] = []
  for (const each of kind ? [kind] : KINDS) {
    const text = await readSchemaFile(each.toLowerCase())
    const root = JSON.parse(text) as JsonObject
    const schema = schemaAt(root, path)
    if (schema) found.push(fieldText([each, ...path].join('.'), root, schema))
  }
  return found.length === 0 ? undefined : { kind: path.length === 0 ? 'document' : 'field', text: found.join('\n\n') }
}

/** Most fields of one name that are shown. */
const MAX_NAMED = 8

/** `max_loop_iterations` without the path before it: every field of this name. */
async function namedFieldsPage(term: string): Promise<TermPage | undefined> {
  const found: string[] = []
  for (const each of KINDS) {
    const root = JSON.parse(await readSchemaFile(each.toLowerCase())) as JsonObject
    for (const path of pathsTo(term, root, root, [])) {
      const field = schemaAt(root, path)
      if (field && found.length < MAX_NAMED) found.push(fieldText([each, ...path].join('.'), root, field))
    }
  }
  return found.length === 0 ? undefined : { kind: 'field', text: found.join('\n\n') }
}

function pathsTo(
  name: string,
  root: JsonObject,
  schema: JsonObject,
  path: readonly string[],
): readonly (readonly string[])[] {
  if (path.length > MAX_DEPTH) return []
  return Object.entries(propertiesOf(root, schema)).flatMap(([each, below]) =>
    // A condition holds conditions: one place of each is enough.
    path.includes(each)
      ? []
      : [...(each === name ? [[...path, each]] : []), ...pathsTo(name, root, below, [...path, each])],
  )
}

function schemaAt(root: JsonObject, path: readonly string[]): JsonObject | undefined {
  let at: JsonObject | undefined = root
  for (const name of path) {
    const properties: Readonly<Record<string, JsonObject>> = at ? propertiesOf(root, at) : {}
    at = Object.hasOwn(properties, name) ? properties[name] : undefined
  }
  return at
}

/** Own and, for a list, those of its items; references are followed. */
function propertiesOf(root: JsonObject, schema: JsonObject): Readonly<Record<string, JsonObject>> {
  const parts = partsOf(root, schema)
  return Object.fromEntries(
    parts.flatMap(({ properties }) =>
      isJsonObject(properties)
        ? Object.entries(properties).flatMap(([name, each]) => (isJsonObject(each) ? [[name, each] as const] : []))
        : [],
    ),
  )
}

/** Far deeper than any schema of ours. */
const MAX_DEPTH = 8

function partsOf(root: JsonObject, schema: JsonObject, depth = 0): readonly JsonObject[] {
  if (depth > MAX_DEPTH) return []
  const { $ref, items, anyOf, oneOf, allOf } = schema
  const below: readonly (JsonValue | undefined)[] = [
    typeof $ref === 'string' ? definitionOf(root, $ref) : undefined,
    items,
    ...[anyOf, oneOf, allOf].flatMap((each) => (Array.isArray(each) ? each : [])),
  ]
  return [schema, ...below.flatMap((each) => (isJsonObject(each) ? partsOf(root, each, depth + 1) : []))]
}

function definitionOf({ $defs }: JsonObject, ref: string): JsonValue | undefined {
  const name = ref.replace('#/$defs/', '')
  return isJsonObject($defs) ? $defs[name] : undefined
}

function fieldText(title: string, root: JsonObject, schema: JsonObject): string {
  const names = Object.entries(propertiesOf(root, schema))
  const width = Math.max(0, ...names.map(([name]) => name.length))
  const values = partsOf(root, schema).find((part) => Array.isArray(part['enum']))?.['enum'] as JsonValue[] | undefined
  return [
    `${title}  ${aboutOf(root, schema)}`.trimEnd(),
    ...(values && names.length === 0 ? [`  one of ${namesOf(values)}`] : []),
    ...names.map(([name, each]) => `  ${name.padEnd(width)}  ${aboutOf(root, each)}`.trimEnd()),
  ].join('\n')
}

const aboutOf = (root: JsonObject, schema: JsonObject): string =>
  partsOf(root, schema)
    .map(({ description }) => description)
    .find((each): each is string => typeof each === 'string') ?? ''

const namesOf = (values: readonly JsonValue[]): string =>
  values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ')

/** Decisions of policies. Source: docs/design/policies.md#the-decision */
const DECISION_WORDS: Readonly<Record<'allow' | 'deny' | 'require_approval' | 'escalate' | 'block', string>> = {
  allow: 'The call is sent, unless another policy or its side-effect class asks for more.',
  deny: 'The call is never sent; the model is told why.',
  require_approval: 'The call waits until as many people as the policy names have approved it: svc inbox.',
  escalate: 'The call waits for an operator; no API key can answer.',
  block: 'Treated as deny.',
}

/** Kinds of tasks. Source: docs/design/approvals.md#the-task */
const TASK_KIND_WORDS: Readonly<Record<TaskKind, string>> = {
  approval: 'May this call be sent? svc approve TASK, or svc reject TASK --reason TEXT.',
  multi_option: 'One of several options: svc answer TASK OPTION.',
  text: 'A text: svc answer TASK TEXT.',
  number: 'A number: svc answer TASK NUMBER.',
  escalation: 'An operator decides about a call or a limit: svc approve TASK, or svc reject TASK --reason TEXT.',
  aitl_escalation: 'A sub-agent asked a question that its parent handed to a person: svc answer TASK --text TEXT.',
  anomaly_review:
    'A call was sent and nobody knows whether it happened: svc answer TASK --option happened, retry, skip or stop.',
}

/** Terms that `svc explain` suggests for a misspelt one. */
export const documentTerms: readonly string[] = [
  ...KINDS,
  ...Object.keys(CLASSES),
  ...Object.keys(DECISION_WORDS),
  ...Object.keys(TASK_KIND_WORDS),
  ...Object.keys(OPERATORS),
  ...Object.entries(CALL_FIELDS).flatMap(([root, fields]) => Object.keys(fields).map((field) => `${root}.${field}`)),
]
