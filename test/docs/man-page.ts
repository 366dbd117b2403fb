/** The page that `man svc` shows, made from the table of commands. */
import { exitCodes } from '../../src/cli/shell/exit-codes.ts'
import type { CommandSpec } from '../../src/cli/shell/command.ts'
import { globalOptions } from '../../src/cli/shell/global-options.ts'
import { commandGroups, commandTable } from '../../src/cli/table/table.ts'

export const manPage = (): string =>
  `${[
    '.TH SVC 1 "" "svc" "User Commands"',
    section('NAME', ['svc \\- check, publish and run AI agents, with every irreversible act behind its approval']),
    section('SYNOPSIS', [bold('svc'), italic('command'), '[arguments] [options]']),
    section('DESCRIPTION', [
      'Agents, tools, policies and bundles are YAML documents. svc checks, tests and publishes them, serves them over HTTP, and asks',
      'a person before a call that a policy holds.',
      bold('svc help COMMAND'),
      'prints one command,',
      bold('svc help environment'),
      'the variables that are read.',
    ]),
    ...commandGroups.map((group) =>
      section(
        `${group} commands`.toUpperCase(),
        commandTable.filter((each) => each.group === group).flatMap((each) => commandLines(each)),
      ),
    ),
    section(
      'OPTIONS OF EVERY COMMAND',
      globalOptions.flatMap(({ flags, description }) => entry(flags, description)),
    ),
    section(
      'EXIT STATUS',
      Object.entries(exitCodes).flatMap(([code, { meaning }]) => entry(code, meaning)),
    ),
    section('FILES', [
      ...entry('svc.config.yaml', 'the project: where tools run, which servers exist, limits'),
      ...entry('svc.lock', 'digests of what was compiled; belongs in the repository'),
      ...entry('.svc/', 'data of the local server; --data names another directory'),
      ...entry('.env', 'secrets of the local server; svc secrets set writes it'),
    ]),
  ].join('\n')}\n`

const section = (title: string, lines: readonly string[]): string => [`.SH ${title}`, ...lines].join('\n')

function commandLines({
  path,
  aliases,
  summary,
  arguments: given = [],
  options = [],
  examples,
}: CommandSpec): string[] {
  const names = given.map(({ name }) => ` ${name}`).join('')
  return [
    ...entry(
      `svc ${path}${names}`,
      aliases === undefined ? summary : `${summary} (also: ${aliases.map((each) => `svc ${each}`).join(', ')})`,
    ),
    ...(options.length === 0
      ? []
      : ['.RS', ...options.flatMap(({ flags, description }) => entry(flags, description)), '.RE']),
    '.IP',
    `Example: ${roffText(examples[0]!)}`,
  ]
}

const entry = (term: string, say: string): string[] => ['.TP', bold(term), roffText(say)]
const bold = (text: string): string => `\\fB${roffText(text)}\\fR`
const italic = (text: string): string => `\\fI${roffText(text)}\\fR`

/** Hyphens that can be copied, backslashes as they are, and no line that begins with a request. */
const roffText = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('\n', ' ')
    .replaceAll('…', '...')
    .replace(/^(?=[.'])/, '\\&')
