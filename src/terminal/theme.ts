import { Chalk, type ColorSupportLevel } from 'chalk'

export type TextStyle = (text: string) => string

/** Styles by meaning. With level 0 they return the text unchanged. */
export interface Theme {
  /** Done, allowed, approved. */
  readonly ok: TextStyle
  /** Waits for a person. */
  readonly waiting: TextStyle
  /** Failed, denied, rejected. */
  readonly bad: TextStyle
  /** A warning. */
  readonly warn: TextStyle
  /** Secondary text: times, digests, places. */
  readonly dim: TextStyle
  /** Agents, tools, policies, runs. */
  readonly name: TextStyle
  /** Emphasized text. */
  readonly strong: TextStyle
}

/** @param level 0 none, 1 basic, 2 256 colours, 3 true colour */
export function createTheme(level: ColorSupportLevel): Theme {
  const chalk = new Chalk({ level })
  return {
    ok: (text) => chalk.green(text),
    waiting: (text) => chalk.yellow(text),
    bad: (text) => chalk.red(text),
    warn: (text) => chalk.magenta(text),
    dim: (text) => chalk.dim(text),
    name: (text) => chalk.cyan(text),
    strong: (text) => chalk.bold(text),
  }
}

/** The style of a run's or a session's status. */
export const styleOfStatus = (theme: Theme, status: string): TextStyle =>
  status === 'Completed'
    ? theme.ok
    : status === 'Failed' || status === 'Cancelled'
      ? theme.bad
      : status.startsWith('WaitingFor')
        ? theme.waiting
        : theme.name
