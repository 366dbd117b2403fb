/** The pages of `svc help` as text: the first screen, the groups of commands, and what stands below the options of a command. */
import { Help, type Command } from 'commander'
import { wrapMessage } from '../terminal/message.ts'
import { wrapText } from '../terminal/text.ts'
import type { CommandGroup, CommandSpec } from './shell/command.ts'
import { commandGroups, commandTable } from './table/table.ts'
import { textBefore } from '../base/text/text-parts.ts'
import { getOrInsert } from '../base/values/collections.ts'

/** Wider lines are tiring to read. */
export const HELP_WIDTH = 80

/** From this width on, an option and its description have room beside each other. */
const SIDE_BY_SIDE = 64

/** How commander lays out a page; on a narrow terminal each description stands below its option. */
export const helpLayout = (width: number) => ({
  helpWidth: width,
  minWidthToWrap: 20,
  ...(width < SIDE_BY_SIDE && {
    formatItem: (term: string, _: number, description: string) =>
      [`  ${term}`, ...wrapText(description, width - 6).map((line) => `      ${line}`)].join('\n'),
  }),
})

/** The part of a help page below the options. */
export function commandNotes(spec: CommandSpec, width: number): string {
  const lines = [`Needs: ${PLANES[spec.plane]}`]
  if (spec.aliases) lines.push(`Also:  ${spec.aliases.map((each) => `svc ${each}`).join(', ')}`)
  lines.push('', 'Examples:', ...spec.examples.map((each) => `  ${each}`))
  if (spec.json) lines.push('', 'With --json:', ...wrapList(spec.json, width - 4).map((each) => `  ${each}`))
  const exits = Object.entries(spec.exits ?? {})
  if (exits.length > 0)
    lines.push('', 'Exit codes:', ...exits.map(([code, meaning]) => `  ${code.padEnd(4)}${meaning}`))
  lines.push('', 'svc --help lists the options that every command takes.', '')
  return lines.map((line) => wrapMessage(line, width)).join('\n')
}

const PLANES = {
  offline: 'only files (offline)',
  server: 'opens the data directory and listens (server)',
  client: 'a running server, and an API key or the project (client)',
  operator: 'the data directory or the server that holds it (operator)',
} as const satisfies Record<CommandSpec['plane'], string>

/** What `svc` says first, by purpose: what one types, and what it is for. */
const FIRST_COMMANDS: readonly (readonly [purpose: string, command: string, use: string])[] = [
  ['Start', 'svc demo', 'watch a run stop for approval (no key needed)'],
  ['', 'svc init DIR', 'write a project of your own'],
  ['', 'svc dev', 'serve it, and deploy each save'],
  ['', 'svc run AGENT order=A-1', 'start a run and follow it'],
  ['Decide', 'svc inbox', 'see what waits for a person, and answer it'],
  ['', 'svc approve TASK', 'let a call run; svc reject TASK refuses it'],
  ['Look', 'svc runs list', 'runs, newest first; svc runs watch RUN'],
  ['', 'svc policy explain RUN', 'why each call was allowed, held or denied'],
  ['Check', 'svc lint', 'find faults in documents before they run'],
  ['', 'svc test', 'play scenarios with scripted models'],
  ['Ship', 'svc publish --deploy', 'store a version, and use it for new runs'],
  ['', 'svc serve', 'serve programs and other people'],
]

/** The commands of the first hour, a line each; on a narrow terminal each use stands below its command. */
export function firstCommandsText(width: number): string {
  const commandWidth = Math.max(...FIRST_COMMANDS.map(([, command]) => command.length))
  return FIRST_COMMANDS.flatMap(([purpose, command, use]) => {
    const begin = `${purpose.padEnd(7)} ${command}`
    if (width >= SIDE_BY_SIDE) {
      const lead = begin.padEnd(commandWidth + 10)
      return wrapText(use, width - lead.length).map((line, at) => (at === 0 ? lead : ' '.repeat(lead.length)) + line)
    }
    return [begin, ...wrapText(use, width - 10).map((line) => ' '.repeat(10) + line)]
  }).join('\n')
}

/** Where more is to be found. */
export const moreHelp = (width: number): string =>
  ['All commands: svc --help, svc help --tree', 'One command:  svc help COMMAND']
    .map((line) => wrapMessage(line, width))
    .join('\n')

const GROUP_PURPOSES = {
  Author: 'write and check documents',
  Ship: 'publish, deploy, and let programs in',
  Serve: 'run servers, keep their data',
  Drive: 'start runs, and find them',
  View: 'look at one run (which when: svc help views)',
  Approve: 'decide what waits for a person',
  Continue: 'resume, repeat or undo a run (which when: svc help continue)',
  Steer: 'stop runs, and settle what they do outside',
  Operate: 'keep an installation healthy',
} as const satisfies Record<CommandGroup, string>

/** Each group: what it is for, then its commands and their other names. */
export function groupsText(width: number): string {
  return commandGroups
    .map((group) => {
      const heading = wrapMessage(`${group}: ${GROUP_PURPOSES[group]}`, width)
      return [heading, ...commandsOf(group, width - 2).map((line) => `  ${line}`)].join('\n')
    })
    .join('\n')
}

function commandsOf(group: CommandGroup, width: number): string[] {
  const words = new Map<string, string[]>()
  const members = commandTable.filter((each) => each.group === group)
  for (const { path } of members) {
    const first = textBefore(path, ' ')
    const rest = getOrInsert(words, first, () => [])
    if (first !== path) rest.push(path.slice(first.length + 1))
  }
  const named = [...words].map(([first, rest]) => (rest.length === 0 ? first : `${first} {${rest.join(',')}}`))
  const aliases = members.flatMap(({ path, aliases: names = [] }) => names.map((name) => `${name} = ${path}`))
  return [
    ...wrapList(named.join('  '), width),
    ...(aliases.length === 0 ? [] : wrapList(`also ${aliases.join(', ')}`, width)),
  ]
}

/** The options of `svc` itself, for the end of its page. */
export function globalOptionsText(root: Command, width: number): string {
  const help = Object.assign(new Help(), { helpWidth: width }, helpLayout(width))
  const options = help
    .visibleOptions(root)
    .map((each) => [help.optionTerm(each), help.optionDescription(each)] as const)
  const termWidth = Math.max(...options.map(([term]) => term.length))
  return options.map(([term, description]) => help.formatItem(term, termWidth, description, help)).join('\n')
}

/** Lines of at most `width` characters, broken after spaces, commas and bars. */
function wrapList(text: string, width: number): string[] {
  const lines = ['']
  for (const piece of text.split(/(?<=[ ,|])/)) {
    const last = lines.at(-1) ?? ''
    if (last.length + piece.trimEnd().length > width) lines.push(piece)
    else lines[lines.length - 1] = last + piece
  }
  return lines.map((line) => line.trimEnd())
}
