/** Markdown for the comment of a review: what documents and models say is shown in it, and means nothing to it. */
import { shortenText } from '../../base/text/cut-text.ts'
import { safeText } from '../../base/text/escape-text.ts'

/** Rows of each list. The rest is counted: a comment has at most 65,536 characters. */
const MOST_ROWS = 50

/** Characters of one value. */
const MOST_CHARACTERS = 600

/** As entities: nothing becomes a mention, a link, a reference, a cell or HTML. */
export const escapeMarkdown = (text: string): string =>
  shortenText(safeText(text), MOST_CHARACTERS).replace(/[&<>"'`*_~[\]()!#@|\\:]/g, (mark) => `&#${mark.charCodeAt(0)};`)

/** @param cells already escaped */
export const markdownRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** The first rows, and how many more there are. */
export const withinRows = (rows: readonly string[]): readonly string[] =>
  rows.length > MOST_ROWS ? [...rows.slice(0, MOST_ROWS), '', `… and ${rows.length - MOST_ROWS} more`] : rows
