/** The reference pages, made from the tables and schemas that the product runs by. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { failures } from '../../src/base/failure.ts'
import type { CommandSpec, OptionSpec } from '../../src/cli/shell/command.ts'
import { exitCodes } from '../../src/cli/shell/exit-codes.ts'
import { globalOptions } from '../../src/cli/shell/global-options.ts'
import { commandTable, commandGroups } from '../../src/cli/table/table.ts'
import { SUBJECTS } from '../../src/spec/event.ts'

const ROOT = resolve(import.meta.dirname, '../..')

export const referencePages: readonly { readonly name: string; readonly make: () => string }[] = [
  { name: 'documents', make: documentsPage },
  { name: 'commands', make: commandsPage },
  { name: 'config', make: configPage },
  { name: 'errors', make: errorsPage },
  { name: 'exit-codes', make: exitCodesPage },
  { name: 'events', make: eventsPage },
]

const page = (title: string, introduction: string, ...parts: readonly string[]): string =>
  `${[`# ${title}`, introduction, ...parts].join('\n\n')}\n`

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function commandsPage(): string {
  return page(
    'Commands',
    'Every command, from the table that builds program, help and completion; `svc help COMMAND` prints one. An *offline* command needs files\nalone, a *server* command opens the data directory and listens, a *client* command speaks `/v1` with a key, an *operator* command needs\nthe data directory or the server that holds it.',
    '## Options that every command takes',
    optionsTable(globalOptions),
    ...commandGroups.flatMap((group) => [
      `## ${group}`,
      ...commandTable.filter((each) => each.group === group).map((each) => commandPart(each)),
    ]),
  )
}

function commandPart(spec: CommandSpec): string {
  const { path, summary, plane, arguments: given = [], options = [], json, exits = {}, examples } = spec
  const rows = [...given.map(({ name, description }) => ({ flags: name, description })), ...options]
  return [
    `### svc ${path}`,
    `${summary[0]!.toUpperCase()}${summary.slice(1)} (${plane}).`,
    ...(rows.length > 0 ? [optionsTable(rows)] : []),
    ...(json === undefined ? [] : [`With \`--json\`: ${inCode(json)}`]),
    ...(Object.keys(exits).length === 0
      ? []
      : [
          `Ends with ${Object.entries(exits)
            .map(([code, when]) => `${code}: ${when}`)
            .join('; ')}.`,
        ]),
    ['```sh', ...examples, '```'].join('\n'),
  ].join('\n\n')
}

const optionsTable = (options: readonly OptionSpec[]): string =>
  table(
    ['', ''],
    options.map(({ flags, description, choices }) => [
      inCode(cell(flags)),
      cell(`${description}${choices ? `: ${choices.join(', ')}` : ''}`),
    ]),
  )

/** Text that holds the sign of code itself is set between two of them. */
const inCode = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

function errorsPage(): string {
  const rows = Object.entries(failures).map(([code, row]) => {
    const { status, exit, message, fix } = row as {
      status?: number
      exit: number
      message: (about: unknown) => unknown
      fix?: string
    }
    return [`\`${code}\``, String(status ?? ''), String(exit), cell(String(message(DETAILS))), cell(fix ?? '')]
  })
  return page(
    'Errors',
    'Everything that may be refused, or fail in a way its caller expects. Over HTTP the body is `{error, code, details?, requestId}`; the\ncommand line prints the same sentence and ends with the exit code. A word in brackets stands for what was given.',
    table(['code', 'HTTP', 'exit', 'says', 'what to do'], rows),
  )
}

/** Stands for every detail of a sentence: shows its name. A list of one word is a word and a list. */
const DETAILS: unknown = new Proxy({}, { get: (_, name) => [`[${String(name)}]`] })

function exitCodesPage(): string {
  const rows = Object.entries(exitCodes).map(([code, { meaning, typical }]) => [code, meaning, cell(typical)])
  return page(
    'Exit codes',
    'What every command ends with; `svc help exit-codes` prints it.',
    table(['code', 'means', 'typical'], rows),
  )
}

function eventsPage(): string {
  const rows = Object.entries(SUBJECTS).flatMap(([kind, subjects]) => subjects.map((each) => [kind, `\`${each}\``]))
  return page(
    'Events',
    'What `GET /v1/runs/{runId}/stream`, `svc stream` and the client library tell, as `{ts, kind, subject, data}`. `data` always has `sessionId`\nand `runId`; a step carries its timeline item as `step`, a task itself as `task`. `engine.step.delta` is text as it arrives,\n`engine.step.progress` what a tool reports of a call: live only, without an id, never stored.',
    table(['kind', 'subject'], rows),
  )
}

interface Schema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: boolean | Schema
}

function documentsPage(): string {
  const kinds = ['agent', 'tool', 'policy', 'bundle', 'scenario', 'policytest', 'evalcase']
  return page(
    'Documents',
    'Every field, from the schemas that `svc lint` checks by and `svc schema KIND` prints. `[]` is an item of a list, `*` any name.',
    ...kinds.map((kind) => {
      const schema = schemaOf(kind)
      return `## ${schema.title ?? kind}\n\n${fieldsTable(schema)}`
    }),
  )
}

function configPage(): string {
  return page(
    'Configuration',
    'Every key of `svc.config.yaml`, the project file. A flag wins over the environment, the environment over this file, this file over\n`$XDG_CONFIG_HOME/svc/config.yaml`.',
    fieldsTable(schemaOf('config')),
  )
}

const schemaOf = (kind: string): Schema =>
  JSON.parse(readFileSync(resolve(ROOT, `schemas/${kind}.schema.json`), 'utf8'), joined) as Schema

/** Branches that differ in type are one row, which names all of them. */
const joined = (_: string, value: Schema | null): unknown =>
  value?.anyOf === undefined
    ? value
    : Object.assign({ ...value }, ...value.anyOf, { type: value.anyOf.map(({ type }) => type) })

const fieldsTable = (schema: Schema): string =>
  table(['field', 'type', 'required', 'meaning'], rowsOf(schema, schema, '', []))

/** @param above references that are being followed, so that a schema which names itself ends */
function rowsOf(root: Schema, given: Schema, path: string, above: readonly string[]): string[][] {
  const schema = follow(root, given)
  const within = given.$ref === undefined ? above : [...above, given.$ref]
  const rows: string[][] = []
  const descend = (child: Schema, at: string): void => {
    if (child.$ref === undefined || !within.includes(child.$ref)) rows.push(...rowsOf(root, child, at, within))
  }
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const at = path === '' ? name : `${path}.${name}`
    const { description = '', default: standard } = { ...follow(root, child), ...child }
    const meaning = [description, standard === undefined ? '' : `Default: \`${JSON.stringify(standard)}\`.`]
    rows.push([
      `\`${at}\``,
      cell(typeOf(root, child)),
      schema.required?.includes(name) ? 'yes' : '',
      cell(meaning.filter(Boolean).join(' ')),
    ])
    descend(child, at)
  }
  if (schema.items) descend(schema.items, `${path}[]`)
  if (typeof schema.additionalProperties === 'object') descend(schema.additionalProperties, `${path}.*`)
  return rows
}

const follow = (root: Schema, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : follow(root, root.$defs![schema.$ref.replace('#/$defs/', '')]!)

function typeOf(root: Schema, given: Schema): string {
  const schema = follow(root, given)
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((each) => `\`${String(each)}\``).join(', ')
  if (schema.items) return `list of ${typeOf(root, schema.items)}`
  const type = [schema.type ?? (schema.properties ? 'object' : 'any')].flat().join(' or ')
  return schema.minimum === undefined ? type : `${type}, at least ${schema.minimum}`
}
