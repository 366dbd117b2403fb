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
  /** A warning; what cannot be undone. */
  readonly warn: TextStyle
  /** An agent may do more than before. */
  readonly wider: TextStyle
  /** An agent may do less than before. */
  readonly tighter: TextStyle
  /** Secondary text: labels, times, places. */
  readonly dim: TextStyle
  /** Agents, tools, policies, runs. */
  readonly name: TextStyle
  /** Emphasized text. */
  readonly strong: TextStyle
  /** The chosen line of a list. */
  readonly chosen: TextStyle
}

/** Each has a contrast of at least 3.6 to white and to a dark background of #1e1e1e. */
const COLORS = { green: '#188a42', orange: '#c2590a', red: '#e03131', purple: '#b546c8', blue: '#1681a8' } as const

/** @param level 0 none, 1 basic, 2 256 colours, 3 true colour */
export function createTheme(level: ColorSupportLevel): Theme {
  const chalk = new Chalk({ level })
  // With 16 colours the person's own palette decides.
  const color = (name: keyof typeof COLORS, basic: 'green' | 'yellow' | 'red' | 'magenta' | 'cyan') =>
    level < 2 ? chalk[basic] : chalk.hex(COLORS[name])
  const [ok, waiting, bad] = [color('green', 'green'), color('orange', 'yellow'), color('red', 'red')]
  const [warn, name] = [color('purple', 'magenta'), color('blue', 'cyan')]
  return {
    ok: (text) => ok(text),
    waiting: (text) => waiting(text),
    bad: (text) => bad(text),
    warn: (text) => warn(text),
    wider: (text) => bad.bold.inverse(text),
    tighter: (text) => ok(text),
    dim: (text) => chalk.dim(text),
    name: (text) => name(text),
    strong: (text) => chalk.bold(text),
    chosen: (text) => chalk.inverse(text),
  }
}

/** The style of a run's or a session's status. */
export function styleOfStatus(theme: Theme, status: string): TextStyle {
  if (status === 'Completed') return theme.ok
  if (status === 'Failed' || status === 'Cancelled') return theme.bad
  return status.startsWith('WaitingFor') ? theme.waiting : theme.name
}
