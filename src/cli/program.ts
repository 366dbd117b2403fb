import { Command, CommanderError, Option } from 'commander'
import type { Failure } from '../base/failure.ts'
import type { CommandSpec, TypedArguments, CommandManual, OptionSpec, ParsedCommand } from './shell/command.ts'
import { globalOptions } from './shell/global-options.ts'
import type { Io } from './shell/io.ts'
import type { GlobalOptions } from './shell/mode.ts'
import { nearestWord } from '../base/text/nearest-word.ts'
import {
  commandNotes,
  firstCommandsText,
  globalOptionsText,
  groupsText,
  HELP_WIDTH,
  helpLayout,
  moreHelp,
} from './help-text.ts'
import { commandTable } from './table/table.ts'
import { packageVersion } from './shell/version.ts'
import { usageFailure } from '../base/usage-failure.ts'
import { wrapMessage } from '../terminal/message.ts'
import { expectDefined } from '../base/values/expect-defined.ts'
import { textAfterLast, textBefore } from '../base/text/text-parts.ts'

const PURPOSE = 'svc runs AI agents whose risky calls wait for approval and happen once.'

/** The parser of all commands, and the command that it found. */
interface Program {
  readonly root: Command
  readonly found: () => ParsedCommand | undefined
}

/**
 * The parsed command, or an exit code after help or the version was printed.
 * @throws Failure `usage`
 */
export async function parseCommandLine(argv: readonly string[], io: Io): Promise<ParsedCommand | number> {
  if (argv.length === 0) {
    const width = Math.min(io.stdout.width, HELP_WIDTH)
    io.stdout.write(`${wrapMessage(PURPOSE, width)}\n\n${firstCommandsText(width)}\n\n${moreHelp(width)}\n`)
    return 0
  }
  const { root, found } = createProgram(io, argv[0])
  try {
    await root.parseAsync(withBareValues(argv), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0 || error.code === 'commander.help') return 0
    const [what = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
    const unknown = /^error: unknown command '(.*)'$/.exec(error.message)?.[1] ?? misspeltBelow(argv, error.code)
    if (unknown !== undefined) throw unknownCommand(unknown, argv)
    const hint = suggestion?.replace(/^\(|\)$/g, '').replace('Did you mean', 'did you mean')
    throw usageFailure(sentence(what), hint ?? usageOf(argv, /missing/.test(what)))
  }
  return found() ?? 0
}

export const createManual = (io: Io): CommandManual => ({
  commands: commandTable,
  globalOptions,
  show(words) {
    const { root } = createProgram(io)
    const page = words.reduce<Command | undefined>(
      (at, word) => at?.commands.find((each) => each.name() === word),
      root,
    )
    page?.outputHelp()
    return page !== undefined
  },
})

/** @param word first word of a command: only commands that begin with it are built, since building all of them takes a while */
export function createProgram(io: Io, word?: string): Program {
  let parsed: ParsedCommand | undefined
  const width = Math.min(io.stdout.width, HELP_WIDTH)
  const root: Command = new Command('svc')
    .description(PURPOSE)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: () => undefined,
      outputError: () => undefined,
    })
    // Its options come last: none is needed to begin.
    .configureHelp({
      ...helpLayout(width),
      showGlobalOptions: false,
      visibleCommands: () => [],
      visibleOptions: () => [],
    })
    .version(packageVersion, '-V', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .addHelpText(
      'after',
      () =>
        `\n${firstCommandsText(width)}\n\n${groupsText(width)}\n\nOptions of every command\n${globalOptionsText(root, width)}\n\n${moreHelp(width)}`,
    )
  for (const option of globalOptions) root.addOption(toOption(option))
  const parents = new Map<string, Command>()
  const named = commandTable.flatMap((spec) => [spec.path, ...(spec.aliases ?? [])].map((path) => ({ path, spec })))
  const sameGroup = named.filter(({ path }) => path.split(' ')[0] === word)
  for (const { path, spec } of sameGroup.length > 0 ? sameGroup : named) {
    const group = path.includes(' ') ? textBefore(path, ' ') : undefined
    const name = textAfterLast(path, ' ')
    const parent = group === undefined ? root : groupOf(root, parents, group)
    const command = parent.command(name).description(spec.summary)
    // `mcp` is a command, and the group of `mcp login`.
    if (group === undefined) parents.set(name, command)
    command.configureHelp({ visibleCommands: () => [] })
    for (const argument of spec.arguments ?? []) command.argument(argument.name, argument.description)
    for (const option of spec.options ?? []) command.addOption(toOption(option))
    command.addHelpText('after', () => `\n${commandNotes(spec, width)}`)
    command.action((...all: unknown[]) => {
      const operands = all.slice(0, -2) as (string | string[] | undefined)[]
      const options = { ...(parent !== root && optionsBelow(parent, command)), ...command.opts() }
      parsed = { spec, given: given(spec, operands, options), globals: root.opts<GlobalOptions>() }
    })
  }
  return { root, found: () => parsed }
}

/**
 * Options of `eval from-runs` that `eval` has as well, and which it was given in its place.
 * @throws CommanderError for one that the command below does not have
 */
function optionsBelow(group: Command, command: Command): Readonly<Record<string, unknown>> {
  const taken = group.options.filter((each) => group.getOptionValueSource(each.attributeName()) === 'cli')
  const foreign = taken.find(({ long }) => !command.options.some((own) => own.long === long))
  if (foreign) group.error(`error: unknown option '${foreign.long}'`, { code: 'commander.unknownOption' })
  return Object.fromEntries(taken.map((each) => [each.attributeName(), group.getOptionValue(each.attributeName())]))
}

/** `logni` in `mcp logni`: a group, and a command that is a group as well, takes no arguments unless it says so. */
function misspeltBelow([group = '', word = '']: readonly string[], code: string): string | undefined {
  const takesNone = !commandTable.some((spec) => spec.path === group && spec.arguments)
  const isGroup = takesNone && commandTable.some(({ path }) => path.startsWith(`${group} `))
  return code === 'commander.excessArguments' && isGroup && !word.startsWith('-') ? word : undefined
}

/** The remedy of a usage error: the command's help, and an example where an argument is missing. */
function usageOf(argv: readonly string[], missing: boolean): string {
  const typed = ` ${argv.join(' ')} `
  const [spec] = commandTable
    .filter(({ path }) => typed.includes(` ${path} `))
    .toSorted((a, b) => b.path.length - a.path.length)
  if (!spec) return 'svc help lists the commands; --help describes one.'
  return `${missing ? `for example  ${spec.examples[0]}   ` : ''}svc ${spec.path} --help describes it.`
}

/** Words that people try, which could mean more than one command. */
const TRIED_WORDS: Readonly<Record<string, string>> = {
  list: 'svc runs list lists runs, svc agents list agents, svc inbox what waits.',
  status: 'svc alone shows the server and what waits, on a terminal in a project; svc doctor checks everything.',
  start: 'svc run AGENT starts a run, svc dev a server for a project, svc serve one for shared use.',
  show: 'svc runs get RUN shows a run, svc agents show AGENT an agent.',
  history: 'svc runs list lists runs, svc agents history AGENT deployments.',
  events: 'svc stream RUN prints the events of a run.',
  resume: 'svc runs resume RUN continues a run, svc agents resume AGENT ends a pause.',
}

/** @param argv finds the group, for `keys creat` */
function unknownCommand(word: string, argv: readonly string[]): Failure {
  const before = argv[argv.indexOf(word) - 1]
  const siblings = commandTable
    .filter(({ path }) => path.startsWith(`${before} `))
    .map(({ path }) => textAfterLast(path, ' '))
  const tried = siblings.length === 0 ? TRIED_WORDS[word] : undefined
  if (tried) return usageFailure(`Unknown command '${word}'.`, tried)
  const near = nearestWord(
    word,
    siblings.length > 0 ? siblings : [...new Set(commandTable.map(({ path }) => textBefore(path, ' ')))],
  )
  return usageFailure(`Unknown command '${word}'.`, near ? `did you mean ${near}?` : 'svc help lists the commands.')
}

/** Adds the default value to an option written without one, which otherwise would take the next argument as its value. */
function withBareValues(argv: readonly string[]): readonly string[] {
  const bare = new Map(
    commandTable
      .flatMap((each) => each.options ?? [])
      .flatMap(({ flags, bare: value }) => (value ? [[textBefore(flags, ' '), value] as const] : [])),
  )
  const end = argv.indexOf('--')
  return argv.map((word, at) => (bare.has(word) && (end < 0 || at < end) ? `${word}=${bare.get(word)}` : word))
}

/** `keys` in `keys create`; alone it prints its subcommands. */
function groupOf(root: Command, parents: Map<string, Command>, name: string): Command {
  const known = parents.get(name)
  if (known) return known.configureHelp({ visibleCommands: (command) => [...command.commands] })
  const members = commandTable.filter((each) => each.path.startsWith(`${name} `))
  const group = root
    .command(name)
    .description(members.map((each) => each.path.split(' ')[1]).join(', '))
    .helpCommand(false)
    .allowExcessArguments()
    .configureHelp({ visibleCommands: (command) => [...command.commands] })
  group.action(() => {
    if (group.args.length === 0) return group.outputHelp()
    group.error(`error: unknown command '${group.args[0]}'`, { code: 'commander.unknownCommand' })
  })
  parents.set(name, group)
  return group
}

const toOption = ({ flags, description, choices, many, preset }: OptionSpec): Option => {
  const option = new Option(flags, description)
  if (preset !== undefined) option.preset(preset)
  if (choices && !many) option.choices([...choices])
  if (many)
    option.argParser((value: string, previous: readonly string[] | undefined) => {
      if (choices && !choices.includes(value))
        throw new CommanderError(2, 'commander.invalidArgument', `${flags} takes one of ${choices.join(', ')}`)
      return [...(previous ?? []), value]
    })
  return option
}

function given(
  spec: CommandSpec,
  operands: readonly (string | string[] | undefined)[],
  options: Record<string, unknown>,
): TypedArguments {
  const declared = new Map(
    (spec.options ?? []).map(({ flags }) => [new Option(flags).attributeName(), new Option(flags)]),
  )
  const value = (name: string): unknown => {
    const key = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    if (!declared.has(key)) throw new Error(`svc ${spec.path} declares no option --${name}.`)
    return options[key]
  }
  return {
    argument: (at) => operands[at] as string | undefined,
    required: (at) => expectDefined(operands[at] as string | undefined, `svc ${spec.path} requires argument ${at}`),
    rest: (at) => (operands[at] as string[] | undefined) ?? [],
    text: (name) => value(name) as string | undefined,
    flag: (name) => value(name) === true,
    choice: (name) => value(name) as boolean | undefined,
    list: (name) => (value(name) as string[] | undefined) ?? [],
  }
}

const sentence = (text: string): string => {
  const trimmed = text.trim()
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.?!]$/.test(trimmed) ? '' : '.'}`
}
