/** Options that commands of several groups share. */
import type { OptionSpec } from '../shell/command.ts'

export const failOn: OptionSpec = {
  flags: '--fail-on <what>',
  description: 'exit 1 when there is any',
  choices: ['breaking'],
}

export const listFilters: readonly OptionSpec[] = [{ flags: '--agent <agent>', description: 'of this agent only' }]

export const metadataOption: OptionSpec = {
  flags: '--metadata <key=value>',
  description: 'metadata stored with the answer',
  many: true,
}
