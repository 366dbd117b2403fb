/** The pages of `svc help` as text: how options are laid out, what follows them, and the groups of commands. */
import { wrapMessage } from '../terminal/message.ts'
import { wrapText } from '../terminal/text.ts'
import type { CommandGroup, CommandSpec } from './shell/command.ts'
import { commandGroups, commandTable } from './table/table.ts'

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
  if (spec.alias) lines.push(`Also:  svc ${spec.alias}`)
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

/** The groups with their commands, as `svc help` shows them. */
export function groupsText(width: number): string {
  const groups = commandGroups.map((group) => `${group.padEnd(9)} ${pathsOf(group, width - 10)}`)
  return `${groups.join('\n')}\n\nNew here:    svc demo, then svc init\nOne command: svc help COMMAND\nEverything:  svc help --tree\n`
}

function pathsOf(group: CommandGroup, width: number): string {
  const words = new Map<string, string[]>()
  for (const { path } of commandTable.filter((each) => each.group === group)) {
    const [first, second] = path.split(' ')
    words.set(first!, [...(words.get(first!) ?? []), ...(second ? [second] : [])])
  }
  const named = [...words].map(([first, rest]) => (rest.length === 0 ? first : `${first} {${rest.join(',')}}`))
  return wrapList(named.join('  '), width).join(`\n${' '.repeat(10)}`)
}

/** Lines of at most `width` characters, broken after spaces, commas and bars. */
function wrapList(text: string, width: number): string[] {
  const lines = ['']
  for (const piece of text.split(/(?<=[ ,|])/)) {
    const last = lines.at(-1)!
    if (last.length + piece.trimEnd().length > width) lines.push(piece)
    else lines[lines.length - 1] = last + piece
  }
  return lines.map((line) => line.trimEnd())
}
