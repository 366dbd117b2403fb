/** Output settings of one invocation, from the global options and the environment. Source: docs/design/command-line.md#streams */
import type { Io } from './io.ts'

/** Levels of `chalk`: 0 none, 1 basic, 2 256 colours, 3 true colour. */
export type ColorLevel = 0 | 1 | 2 | 3

export interface OutputMode {
  /** Machine output: `--json`, or implied by `--jq` and `--fields`. */
  readonly json: boolean
  readonly jq?: string
  readonly fields?: readonly string[]
  /** Prompts may be shown. */
  readonly interactive: boolean
  readonly yes: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  /** HTTP exchanges and stacks are shown. */
  readonly debug: boolean
  /** For a screen reader: nothing is redrawn or boxed, questions are plain lines. Source: docs/design/command-line.md#asking */
  readonly accessible: boolean
  /** Long answers may be paged. */
  readonly pager: boolean
  readonly color: { readonly stdout: ColorLevel; readonly stderr: ColorLevel }
}

export interface GlobalOptions {
  readonly cwd?: string
  readonly config?: string
  readonly data?: string
  readonly profile?: string
  readonly url?: string
  readonly keyFile?: string
  readonly operatorKeyFile?: string
  readonly json?: boolean
  readonly jq?: string
  readonly fields?: string
  /** `always`, `never` or `auto`; false for `--no-color`. */
  readonly color?: string | false
  /** False for `--no-input`. */
  readonly input?: boolean
  readonly yes?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
  readonly debug?: boolean
  /** False for `--no-pager`. */
  readonly pager?: boolean
  readonly timeout?: string
}

export function modeOf(options: GlobalOptions, io: Io): OutputMode {
  const { env } = io
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== '' && env[name] !== '0'
  const debug = options.debug === true || env['SVC_LOG'] === 'debug'
  const fields = options.fields?.split(',').map((each) => each.trim())
  return {
    json: options.json === true || options.jq !== undefined || fields !== undefined,
    ...(options.jq !== undefined && { jq: options.jq }),
    ...(fields !== undefined && { fields }),
    // Checked last: reading `stdin.isTTY` opens standard input.
    interactive:
      io.stderr.isTTY &&
      !io.unattended &&
      env['TERM'] !== 'dumb' &&
      options.input !== false &&
      !isSet('CI') &&
      !isSet('SVC_NO_INPUT') &&
      io.stdin.isTTY,
    yes: options.yes === true,
    quiet: options.quiet === true,
    verbose: options.verbose === true || env['SVC_LOG'] === 'info' || debug,
    debug,
    accessible: isSet('SVC_ACCESSIBLE'),
    pager: options.pager !== false && io.stdout.isTTY,
    color: {
      stdout: levelOf(options.color, env, io.stdout.isTTY),
      stderr: levelOf(options.color, env, io.stderr.isTTY),
    },
  }
}

/** Flag > FORCE_COLOR > NO_COLOR > CLICOLOR_FORCE, CLICOLOR > terminal. */
function levelOf(flag: string | false | undefined, env: Io['env'], isTTY: boolean): ColorLevel {
  if (flag === false || flag === 'never') return 0
  if (flag === 'always') return depthOf(env)
  const force = env['FORCE_COLOR']
  if (force !== undefined) {
    if (force === '0' || force === 'false') return 0
    if (force === '2') return 2
    return force === '3' ? 3 : depthOf(env)
  }
  if (env['NO_COLOR']) return 0
  if (env['CLICOLOR_FORCE'] && env['CLICOLOR_FORCE'] !== '0') return depthOf(env)
  if (env['CLICOLOR'] === '0' || !isTTY || env['TERM'] === 'dumb') return 0
  return depthOf(env)
}

function depthOf(env: Io['env']): ColorLevel {
  if (env['COLORTERM'] === 'truecolor' || env['COLORTERM'] === '24bit') return 3
  return /256/.test(env['TERM'] ?? '') ? 2 : 1
}
