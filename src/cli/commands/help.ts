import { fail } from '../../base/failure.ts'
import type { Call } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { nearest } from '../nearest.ts'

export async function help({ given, mode, out, manual }: Call): Promise<void> {
  const words = given.rest(0)
  const { commands, globalOptions } = manual
  if (mode.json) return await out.json({ commands, globalOptions })
  if (given.flag('tree')) return commands.forEach(({ path, summary }) => out.line(`${path.padEnd(20)} ${summary}`))
  const topic = topics[words.join(' ')]
  if (topic) return out.line(topic())
  if (manual.show(words)) return
  const asked = words.join(' ')
  const near = nearest(asked, [...commands.map(({ path }) => path), ...Object.keys(topics)])
  throw fail(
    'not_found',
    { what: `command or topic "${asked}"` },
    { fix: near ? `Did you mean svc help ${near}?` : 'svc help --tree lists the commands.' },
  )
}

/** Pages that belong to no command. */
const topics: Readonly<Record<string, () => string>> = {
  'exit-codes': () =>
    Object.entries(exitCodes)
      .map(([code, { meaning, typical }]) => `${code.padStart(4)}  ${meaning}${typical ? `\n      ${typical}` : ''}`)
      .join('\n'),
  environment: () =>
    [
      'SVC_CONFIG      project file instead of the nearest svc.config.yaml',
      'SVC_DATA        data directory instead of .svc/ beside the project file',
      'SVC_URL         base address of the API',
      'SVC_API_KEY     API key',
      'SVC_KEY_FILE    file with the API key',
      'SVC_NO_INPUT    never ask; CI does the same',
      'NO_COLOR        no colour; FORCE_COLOR and CLICOLOR_FORCE ask for it',
      'EDITOR, VISUAL  editor for arguments that are changed at an approval',
      'SVC_FORCE_TTY   as if a terminal of that many columns were there',
    ].join('\n'),
  approvals: () =>
    [
      'A call that a policy holds becomes a task. It runs when a person says so, and is never approved by default.',
      '',
      '  svc inbox                      what waits',
      '  svc approve TASK               let it run; the verb is the decision, there is no --yes',
      '  svc reject TASK --reason TEXT  refuse it; the reason reaches the model where the policy says so',
      '  svc answer TASK VALUE          answer a question',
      '',
      'svc run shows the same card in place: a approve, r reject, e edit arguments, w why, c conversation, l later.',
      'A process that cannot ask ends with exit code 3 and names the task.',
    ].join('\n'),
  formatting: () =>
    [
      'stdout holds the answer and nothing else; progress, cards, hints and errors go to stderr.',
      '',
      '  on a terminal   tables, cards, short ids, relative times',
      '  in a pipe       TAB-separated, full ids, ISO times, no header',
      '  --json          one document, or a line of JSON for each event; errors as one line on stderr',
      '  --jq, --fields  filter it',
    ].join('\n'),
}
