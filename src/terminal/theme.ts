import { Chalk, type ColorSupportLevel } from 'chalk'

export type Style = (text: string) => string

/** What a colour means. With level 0 each gives the text back as it came. */
export interface Theme {
  /** Done, allowed, approved. */
  readonly ok: Style
  /** Waits for a person. */
  readonly waiting: Style
  /** Failed, denied, rejected. */
  readonly bad: Style
  /** A warning. */
  readonly warn: Style
  /** Beside the point: times, digests, places. */
  readonly dim: Style
  /** Agents, tools, policies, runs. */
  readonly name: Style
  /** What the eye should find first. */
  readonly strong: Style
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
export const styleOfStatus = (theme: Theme, status: string): Style =>
  status === 'Completed'
    ? theme.ok
    : status === 'Failed' || status === 'Cancelled'
      ? theme.bad
      : status.startsWith('WaitingFor')
        ? theme.waiting
        : theme.name
