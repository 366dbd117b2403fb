/** 0 none, 1 basic, 2 256 colours, 3 true colour. */
export type ColorLevel = 0 | 1 | 2 | 3

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

/** The eight colours that every terminal has: their shades are the reader's own, light or dark. */
export function createTheme(level: ColorLevel): Theme {
  const style = (begin: number, end: number): Style => (level === 0 ? (text) => text : styled(begin, end))
  return {
    ok: style(32, 39),
    waiting: style(33, 39),
    bad: style(31, 39),
    warn: style(35, 39),
    dim: style(2, 22),
    name: style(36, 39),
    strong: style(1, 22),
  }
}

/** Between two codes (ECMA-48, SGR). What ends inside it begins again, and no style reaches over the end of a line. */
function styled(begin: number, end: number): Style {
  const [opens, closes] = [`\x1b[${begin}m`, `\x1b[${end}m`]
  return (text) => {
    if (text === '') return ''
    const inner = text.replaceAll(closes, closes + opens).replaceAll(/\r?\n/g, (lineEnd) => closes + lineEnd + opens)
    return opens + inner + closes
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
