import type { OptionSpec } from './command.ts'

/** Options of every command; they are accepted before and after its name. Source: command line, 1.5. */
export const globalOptions: readonly OptionSpec[] = [
  { flags: '-C, --cwd <dir>', say: 'act as if started there' },
  { flags: '--config <file>', say: 'project file instead of the nearest svc.config.yaml (SVC_CONFIG)' },
  { flags: '--data <dir>', say: 'data directory instead of .svc/ beside the project file (SVC_DATA)' },
  { flags: '--profile <name>', say: 'a server that is named in the configuration (SVC_PROFILE, SVC_HOST)' },
  { flags: '--url <url>', say: 'base address of the API (SVC_URL)' },
  { flags: '--key-file <file>', say: 'file with the API key, - for standard input (SVC_API_KEY, SVC_KEY_FILE)' },
  {
    flags: '--operator-key-file <file>',
    say: 'file with your operator credential, - for standard input (SVC_OPERATOR_KEY, SVC_OPERATOR_KEY_FILE)',
  },
  { flags: '--json', say: 'machine output' },
  { flags: '--jq <expression>', say: 'filter the machine output with jq' },
  { flags: '--fields <a,b>', say: 'keep these fields of the machine output' },
  { flags: '--color <when>', say: 'colour the output', choices: ['auto', 'always', 'never'] },
  { flags: '--no-color', say: 'as --color never (NO_COLOR)' },
  { flags: '--no-input', say: 'never ask (SVC_NO_INPUT, CI)' },
  { flags: '-y, --yes', say: 'answer yes to confirmations, never to approvals' },
  { flags: '-q, --quiet', say: 'no hints' },
  { flags: '-v, --verbose', say: 'tell how long it took' },
  { flags: '--debug', say: 'show HTTP exchanges, secrets masked, and stacks (SVC_LOG=debug)' },
  { flags: '--no-pager', say: 'never page (SVC_PAGER, PAGER)' },
  { flags: '--timeout <duration>', say: 'give up after this time, for example 30s' },
]
