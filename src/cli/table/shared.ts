/** Options that commands of several groups share. */
import type { OptionSpec } from '../shell/command.ts'
import { runAnswer, runResultLine } from '../answers/drive.ts'
import { apiBody } from '../../operations/schema.ts'

export const failOn: OptionSpec = {
  flags: '--fail-on <what>',
  description: 'exit 1 when there is any',
  choices: ['breaking'],
}

export const sign: OptionSpec = {
  flags: '--sign [key]',
  description: 'sign it with this key: OpenSSH or PEM; else SVC_SIGN_KEY, else that of git',
  // `DEFAULT_KEY` of `cli/trust/signer.ts`, which the table does not load.
  preset: 'default',
}

export const listFilters: readonly OptionSpec[] = [{ flags: '--agent <agent>', description: 'of this agent only' }]

export const metadataOption: OptionSpec = {
  flags: '--metadata <key=value>',
  description: 'metadata stored with the answer',
  many: true,
}

export const followOptions: readonly OptionSpec[] = [
  {
    flags: '--show <what>',
    description: 'what to show while the run works',
    choices: ['all', 'steps', 'text', 'none'],
  },
  {
    flags: '--on-task <what>',
    description: 'what to do at a task; prompt when interactive, else exit',
    choices: ['prompt', 'wait', 'exit', 'reject'],
  },
  { flags: '--events', description: 'every event: a line of JSON with --json' },
  { flags: '--max-wait <duration>', description: 'stop following after this time (exit 9)' },
]

export const runEnds = {
  1: 'the run failed or was cancelled',
  3: 'the run waits for a person',
  9: '--max-wait elapsed',
} as const

export const followedAnswers = {
  '': runAnswer,
  'with --events a line for each event': apiBody('StreamEvent'),
  'and then the result': runResultLine,
}
