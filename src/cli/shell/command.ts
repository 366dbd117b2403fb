/** A command: data for the parser, the help, the reference and the tests, and an action that is loaded when it runs. */
import type { JsonObject } from '../../base/json/json.ts'
import type { Io } from './io.ts'
import type { GlobalOptions, OutputMode } from './mode.ts'
import type { CommandOutput } from './output.ts'

export type CommandPlane = 'offline' | 'server' | 'client' | 'operator'
export type CommandGroup = 'Author' | 'Ship' | 'Serve' | 'Drive' | 'View' | 'Approve' | 'Continue' | 'Steer' | 'Operate'

export interface ArgumentSpec {
  /** As commander reads it: `<agent>` is required, `[paths...]` is optional and may repeat. */
  readonly name: string
  readonly description: string
  /** Offered by shell completion; the command itself refuses other values. */
  readonly choices?: readonly string[]
}

export interface OptionSpec {
  /** As commander reads it: `-t, --template <name>`. */
  readonly flags: string
  readonly description: string
  readonly choices?: readonly string[]
  /** Value of the option when it is given without one: `--wait` means `--wait=pause`. */
  readonly bare?: string
  /** Like `bare`, but a following word is taken as the value: `--changed origin/main`. */
  readonly preset?: string
  /** May be given several times. */
  readonly many?: boolean
}

/** A command as the file of its group declares it. */
export interface CommandEntry {
  /** Words after `svc`: `keys create`. */
  readonly path: string
  /** Other names of one word each: what people who know other tools try first. */
  readonly aliases?: readonly string[]
  readonly plane: CommandPlane
  readonly summary: string
  readonly arguments?: readonly ArgumentSpec[]
  readonly options?: readonly OptionSpec[]
  /** Complete command lines, each of which parses. */
  readonly examples: readonly string[]
  /** What `--json` prints, for people; absent where the output is text in every mode. `answers` makes it and the schema. */
  readonly json?: string
  /** JSON Schema of the document, or of each line, that `--json` prints; absent where any JSON may come. */
  readonly answer?: () => JsonObject
  /** Exit codes beyond 0, 2 and 70, with what they mean here. */
  readonly exits?: Readonly<Record<number, string>>
  /** The command handles `call.signal` itself, to shut down in order. */
  readonly drains?: boolean
  load(): Promise<CommandAction>
}

export interface CommandSpec extends CommandEntry {
  readonly group: CommandGroup
}

/** Returns the exit code; undefined means 0. */
export type CommandAction<Answer = unknown> = (call: CommandContext<Answer>) => Promise<number | void>

/** @typeParam Answer what the command prints as JSON, so that nothing else compiles; commands without JSON omit it */
export interface CommandContext<Answer = never> {
  readonly given: TypedArguments
  readonly globals: GlobalOptions
  readonly mode: OutputMode
  readonly io: Io
  readonly out: CommandOutput<Answer>
  /** Where the command acts: `--cwd`, else where the process was started. */
  readonly cwd: string
  /** Fires at Ctrl-C, SIGTERM and when `--timeout` has passed. */
  readonly signal: AbortSignal
  readonly manual: CommandManual
}

/** The command line after parsing. */
export interface ParsedCommand {
  readonly spec: CommandSpec
  readonly given: TypedArguments
  readonly globals: GlobalOptions
}

/** All commands as data, for `svc help`. */
export interface CommandManual {
  readonly commands: readonly CommandSpec[]
  readonly globalOptions: readonly OptionSpec[]
  /** Prints the help of a command or a group; of `svc` for no words. False where there is no such command. */
  readonly show: (words: readonly string[]) => boolean
}

/** Arguments and options as typed. A name that the command does not declare is a bug and throws. */
export interface TypedArguments {
  /** Optional argument by position. */
  argument(at: number): string | undefined
  /** Argument by position that the command requires: without it, the command does not begin. */
  required(at: number): string
  rest(at: number): readonly string[]
  text(option: string): string | undefined
  flag(option: string): boolean
  /** For `--x` and `--no-x` in one: undefined when neither was given. */
  choice(option: string): boolean | undefined
  list(option: string): readonly string[]
}
