/**
 * Shell completion: `svc complete -- words…` prints one `value<TAB>description` a line, then a line `:directive`.
 * Names of agents, runs and tasks come from a running server only; opening the database would take too long.
 * Source: command line, 2.6.
 */
import { readdir } from 'node:fs/promises'
import type { OperatorRoutes } from '../spec/operator/routes.ts'
import { RUN_STATUSES } from '../spec/run.ts'
import { safeText } from '../base/escape-text.ts'
import type { CommandSpec, OptionSpec } from './shell/command.ts'
import type { Io } from './shell/io.ts'
import { globalOptions } from './shell/global-options.ts'
import { commandTable } from './table/table.ts'

interface Suggestion {
  readonly value: string
  readonly description?: string
}

/** Directives of the completion protocol: no file names, or file names as well. */
const NO_FILES = 4
const FILES = 0

/** Limit for the server's answer; the whole completion must stay under 150 ms. */
const SERVER_TIMEOUT_MS = 60

/** A shell gets the value as it is: other characters could end the word, or run a command that a key or a file name holds. */
const PLAIN = /^[\w.:@/=+-]+$/

/** @param argv the words after `complete`: `--`, then the command line, whose last word is incomplete */
export async function completeWords(argv: readonly string[], io: Io): Promise<number> {
  const words = argv[0] === '--' ? argv.slice(1) : argv
  const typed = words.at(-1) ?? ''
  const { suggestions, files } = await suggestFor(words.slice(0, -1), typed, io)
  const lines = suggestions
    .filter(({ value }) => value.startsWith(typed) && PLAIN.test(value))
    .map(({ value, description }) => (description === undefined ? value : `${value}\t${safeText(description)}`))
  io.stdout.write([...lines, `:${files ? FILES : NO_FILES}`, ''].join('\n'))
  return 0
}

interface CompletionAnswer {
  readonly suggestions: readonly Suggestion[]
  readonly files?: boolean
}

async function suggestFor(before: readonly string[], typed: string, io: Io): Promise<CompletionAnswer> {
  const { spec, rest } = commandIn(before)
  const options = [...(spec?.options ?? []), ...globalOptions]
  const open = optionNamed(before.at(-1), options)
  if (open && takesValue(open)) return await valuesOf(nameOf(open.flags), open.choices, io)
  const [flag, value] = typed.split('=', 2)
  const joined = value === undefined ? undefined : optionNamed(flag, options)
  if (joined && takesValue(joined)) {
    const { suggestions } = await valuesOf(nameOf(joined.flags), joined.choices, io)
    return { suggestions: suggestions.map((each) => ({ ...each, value: `${flag}=${each.value}` })) }
  }
  if (typed.startsWith('-')) return { suggestions: options.flatMap(flagsOf) }
  if (!spec) return { suggestions: nextWords(before.filter((each) => !each.startsWith('-'))) }
  const operands = operandsIn(rest, options)
  const all = spec.arguments ?? []
  const argument = all[operands.length] ?? (all.at(-1)?.name.includes('...') ? all.at(-1) : undefined)
  return argument
    ? await valuesOf(argument.name.replaceAll(/[<>[\].]/g, ''), argument.choices, io, spec.path)
    : { suggestions: [] }
}

/** The command that the words name, and the words after it. */
function commandIn(words: readonly string[]): { readonly spec?: CommandSpec; readonly rest: readonly string[] } {
  const names = operandsIn(words, globalOptions)
  const spec = [2, 1]
    .map((count) => names.slice(0, count).join(' '))
    .flatMap((path) => commandTable.find((each) => each.path === path) ?? [])[0]
  if (!spec) return { rest: [] }
  const last = spec.path.split(' ').at(-1)!
  return { spec, rest: words.slice(words.indexOf(last) + 1) }
}

function operandsIn(words: readonly string[], options: readonly OptionSpec[]): readonly string[] {
  return words.filter((word, at) => {
    if (word.startsWith('-')) return false
    const before = optionNamed(words[at - 1], options)
    return !(before && takesValue(before))
  })
}

function nextWords(names: readonly string[]): readonly Suggestion[] {
  const lead = names.length === 0 ? '' : `${names.join(' ')} `
  const known = new Map<string, string>()
  for (const { path, summary } of commandTable) {
    if (!path.startsWith(lead)) continue
    const [word, more] = path.slice(lead.length).split(' ')
    if (!known.has(word!)) known.set(word!, more === undefined ? summary : '')
  }
  return [...known].map(([value, description]) => (description === '' ? { value } : { value, description }))
}

const optionNamed = (word: string | undefined, options: readonly OptionSpec[]): OptionSpec | undefined =>
  word?.startsWith('-') ? options.find(({ flags }) => flags.split(/[ ,]+/).includes(word)) : undefined
const takesValue = ({ flags, bare, preset }: OptionSpec): boolean =>
  /<|\[/.test(flags) && bare === undefined && preset === undefined
const nameOf = (flags: string): string => /--([\w-]+)/.exec(flags)?.[1] ?? ''
const flagsOf = ({ flags, description }: OptionSpec): Suggestion[] =>
  flags
    .split(/[ ,]+/)
    .filter((word) => word.startsWith('--'))
    .map((value) => ({ value, description }))

/** Options and arguments whose values come from the server or the package. */
const SOURCES: Readonly<Record<string, (io: Io) => Promise<readonly Suggestion[]>>> = {
  // Commands whose argument has the name of another thing elsewhere.
  'keys revoke key': keys,
  'files get key': files,
  'effects show key': effects,
  'effects release key': effects,
  'secrets set name': secrets,
  'versions show version': versions,
  'versions source version': versions,
  'versions yank version': versions,
  'versions diff before': versions,
  'versions diff after': versions,
  'workers drain worker': workers,
  agent: agents,
  run: runs,
  runs,
  task: tasks,
  tasks,
  session: runs,
  template: templates,
  trigger: triggers,
  term: rules,
  rule: rules,
  status: async () => RUN_STATUSES.map((value) => ({ value })),
}

/** Options and arguments whose values are files. */
const FILE =
  /^(?:file|files|path|paths|input|output|config|data|cwd|key-file|operator-key-file|bundles?|attach|before|after|decide|record|replay|root)$/

async function valuesOf(
  name: string,
  choices: readonly string[] | undefined,
  io: Io,
  path = '',
): Promise<CompletionAnswer> {
  if (choices) return { suggestions: choices.map((value) => ({ value })) }
  if (path === 'help') return { suggestions: nextWords([]) }
  const source = [`${path} ${name}`, name]
    .map((each) => (Object.hasOwn(SOURCES, each) ? SOURCES[each] : undefined))
    .find(Boolean)
  if (!source) return { suggestions: [], files: FILE.test(name) }
  return { suggestions: await source(io).catch(() => []) }
}

async function ask<R extends keyof OperatorRoutes & `GET /${string}`>(
  route: R,
  io: Io,
): Promise<OperatorRoutes[R]['answer']> {
  const [{ openProject }, { askRunning }] = await Promise.all([
    import('./project/project.ts'),
    import('./project/server/operator-socket.ts'),
  ])
  const project = await openProject({ cwd: io.cwd, globals: {}, io })
  return (await askRunning(
    project.dataDirectory,
    route.slice('GET '.length),
    SERVER_TIMEOUT_MS,
  )) as OperatorRoutes[R]['answer']
}

async function agents(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /agents', io)
  return items.map(({ name, deployed }) => ({ value: name, description: deployed?.versionLabel ?? 'not deployed' }))
}

async function runs(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /runs', io)
  const named = ['@last', '@waiting'].map((value) => ({ value }))
  return [
    ...named,
    ...items.map(({ runId, agent, status }) => ({ value: runId.slice(-6), description: `${agent} ${status}` })),
  ]
}

async function tasks(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /tasks', io)
  return items.map(({ userTaskId, kind, agent }) => ({
    value: userTaskId.slice(-6),
    description: `${kind} of ${agent}`,
  }))
}

async function triggers(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /triggers', io)
  return items.map(({ name, triggerId, agent }) => ({
    value: PLAIN.test(name) ? name : triggerId.slice(-6),
    description: `${agent} ${PLAIN.test(name) ? triggerId.slice(-6) : name}`,
  }))
}

async function keys(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /keys', io)
  return items
    .filter(({ revokedAt }) => revokedAt === null)
    .map((key) => ({
      value: key.keyId.slice(-6),
      description: `${key.prefix}… of ${'email' in key ? key.email : `${key.agent} / ${key.trigger}`}`,
    }))
}

async function files(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /files', io)
  return items.map(({ filename, mediaType }) => ({ value: filename, description: mediaType }))
}

async function effects(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /effects', io)
  return items.map(({ key, tool, outcome }) => ({ value: key, description: `${tool} ${outcome}` }))
}

async function secrets(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /secrets', io)
  return items.map(({ name, agent }) => ({ value: name, description: agent }))
}

async function workers(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /workers', io)
  return items.map(({ workerId, state }) => ({ value: workerId.slice(-6), description: state }))
}

/** Deployed versions: those of one agent alone would take a question each. */
async function versions(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /agents', io)
  return items.flatMap(({ name, deployed }) =>
    deployed ? [{ value: `${name}@${deployed.versionLabel}`, description: 'deployed' }] : [],
  )
}

async function templates(): Promise<readonly Suggestion[]> {
  const { packageFile } = await import('./project/package-file.ts')
  return (await readdir(packageFile('templates'))).map((value) => ({ value }))
}

async function rules(): Promise<readonly Suggestion[]> {
  const { rules: all } = await import('../documents/rules/index.ts')
  return all.map(({ name, law }) => ({ value: name, description: law }))
}
