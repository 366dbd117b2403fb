import type { OptionSpec } from './command.ts'

/** Options of every command; they are accepted before and after its name. Source: docs/design/command-line.md#settings */
export const globalOptions: readonly OptionSpec[] = [
  { flags: '-C, --cwd <dir>', description: 'act as if started there' },
  { flags: '--config <file>', description: 'project file instead of the nearest svc.config.yaml (SVC_CONFIG)' },
  { flags: '--data <dir>', description: 'data directory instead of .svc/ beside the project file (SVC_DATA)' },
  { flags: '--profile <name>', description: 'a server that is named in the configuration (SVC_PROFILE, SVC_HOST)' },
  { flags: '--url <url>', description: 'base address of the API (SVC_URL)' },
  {
    flags: '--key-file <file>',
    description: 'file with the API key, - for standard input (SVC_API_KEY, SVC_KEY_FILE)',
  },
  {
    flags: '--operator-key-file <file>',
    description: 'file with your operator credential, - for standard input (SVC_OPERATOR_KEY, SVC_OPERATOR_KEY_FILE)',
  },
  { flags: '--json', description: 'machine output' },
  { flags: '--jq <expression>', description: 'filter the machine output with jq' },
  { flags: '--fields <a,b>', description: 'keep these fields of the machine output' },
  { flags: '--color <when>', description: 'colour the output', choices: ['auto', 'always', 'never'] },
  { flags: '--no-color', description: 'as --color never (NO_COLOR)' },
  { flags: '--no-input', description: 'never ask (SVC_NO_INPUT, CI)' },
  { flags: '-y, --yes', description: 'answer yes to confirmations, never to approvals' },
  { flags: '-q, --quiet', description: 'no hints' },
  { flags: '-v, --verbose', description: 'tell how long it took' },
  { flags: '--debug', description: 'show HTTP exchanges, secrets masked, and stacks (SVC_LOG=debug)' },
  { flags: '--no-pager', description: 'never page (SVC_PAGER, PAGER)' },
  { flags: '--timeout <duration>', description: 'give up after this time, for example 30s' },
]
