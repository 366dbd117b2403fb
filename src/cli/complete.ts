/**
 * Shell completion: `svc complete -- words…` prints one `value<TAB>description` a line, then a line `:directive`.
 * Names of agents, runs and tasks come from a running server only; opening the database would take too long.
 * Source: docs/design/command-line.md#operating
 */
import { safeText } from '../base/text/escape-text.ts'
import type { CommandSpec, OptionSpec } from './shell/command.ts'
import type { Io } from './shell/io.ts'
import { globalOptions } from './shell/global-options.ts'
import { isShellPlain, sourceOf } from './completion-sources.ts'
import type { Suggestion } from './suggestion.ts'
import { commandTable } from './table/table.ts'
import { textAfterLast, textBefore } from '../base/text/text-parts.ts'

/** Directives of the completion protocol: no file names, or file names as well. */
const NO_FILES = 4
const FILES = 0

/** @param argv the words after `complete`: `--`, then the command line, whose last word is incomplete */
export async function completeWords(argv: readonly string[], io: Io): Promise<number> {
  const words = argv[0] === '--' ? argv.slice(1) : argv
  const typed = words.at(-1) ?? ''
  const { suggestions, files } = await suggestFor(words.slice(0, -1), typed, io)
  const lines = suggestions
    .filter(({ value }) => value.startsWith(typed) && isShellPlain(value))
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
  if (open && takesValue(open)) return await valuesOf(nameOf(open.flags), open.choices, io, before, spec?.path)
  const [flag, value] = typed.split('=', 2)
  const joined = value === undefined ? undefined : optionNamed(flag, options)
  if (joined && takesValue(joined)) {
    const { suggestions } = await valuesOf(nameOf(joined.flags), joined.choices, io, before, spec?.path)
    return { suggestions: suggestions.map((each) => ({ ...each, value: `${flag}=${each.value}` })) }
  }
  if (typed.startsWith('-')) return { suggestions: options.flatMap(flagsOf) }
  if (!spec) return { suggestions: nextWords(before.filter((each) => !each.startsWith('-'))) }
  const operands = operandsIn(rest, options)
  const all = spec.arguments ?? []
  const argument = all[operands.length] ?? (all.at(-1)?.name.includes('...') ? all.at(-1) : undefined)
  return argument
    ? await valuesOf(argument.name.replaceAll(/[<>[\].]/g, ''), argument.choices, io, before, spec.path)
    : { suggestions: [] }
}

/** The command that the words name, and the words after it. */
function commandIn(words: readonly string[]): { readonly spec?: CommandSpec; readonly rest: readonly string[] } {
  const names = operandsIn(words, globalOptions)
  const spec = [2, 1]
    .map((count) => names.slice(0, count).join(' '))
    .flatMap((path) => commandTable.find((each) => each.path === path) ?? [])[0]
  if (!spec) return { rest: [] }
  const last = textAfterLast(spec.path, ' ')
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
    const rest = path.slice(lead.length)
    const word = textBefore(rest, ' ')
    if (!known.has(word)) known.set(word, word === rest ? summary : '')
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

/** Options and arguments whose values are files. */
const FILE =
  /^(?:file|files|path|paths|input|output|config|data|cwd|key-file|operator-key-file|bundles?|attach|before|after|decide|record|replay|root)$/

async function valuesOf(
  name: string,
  choices: readonly string[] | undefined,
  io: Io,
  words: readonly string[],
  path = '',
): Promise<CompletionAnswer> {
  if (choices) return { suggestions: choices.map((value) => ({ value })) }
  if (path === 'help') return { suggestions: nextWords([]) }
  const source = sourceOf(path, name)
  if (!source) return { suggestions: [], files: FILE.test(name) }
  return { suggestions: await source(io, words).catch(() => []) }
}
