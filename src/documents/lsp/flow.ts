/** The position of a cursor in a flow collection of YAML or JSON, which may still be open. */

export interface FlowCursor {
  /** Keys from the outermost bracket on, `*` for an item of a list. */
  readonly path: readonly string[]
  /** The key at or before the cursor. */
  readonly key: string | undefined
  readonly at: 'key' | 'value' | 'item'
  /** The word around it, with its quotes. */
  readonly start: number
  readonly end: number
  /** Other keys of the same mapping. */
  readonly siblings: ReadonlySet<string>
}

interface FlowFrame {
  readonly isList: boolean
  readonly keys: Set<string>
  /** Set after the colon. */
  key: string | undefined
}

/**
 * Reads from an opening bracket.
 * @returns the cursor if it is inside the brackets, otherwise the offset where they are closed
 */
export function readFlow(text: string, from: number, cursor: number): FlowCursor | number {
  const frames: FlowFrame[] = []
  let found: FlowCursor | undefined
  /** The mapping or list of the cursor; parsing continues to its end to collect later keys. */
  let around: FlowFrame | undefined
  let last: string | undefined
  const see = (start: number, end: number, word?: string): void => {
    around = frames.at(-1)!
    const { isList, key, keys } = around
    const own = word !== undefined && /^\s*:/.test(text.slice(end)) ? word : undefined
    const inMapping = key === undefined ? 'key' : 'value'
    found = {
      path: [...frames.slice(0, -1).map((each) => each.key ?? '*'), ...(isList ? ['*'] : [])],
      key: key ?? (isList ? undefined : own),
      at: isList ? 'item' : inMapping,
      start,
      end,
      siblings: keys,
    }
  }
  for (const { index: start, 0: token } of text.slice(from).matchAll(TOKEN)) {
    const [at, end] = [from + start, from + start + token.length]
    if (found === undefined && frames.length > 0 && cursor <= at && !(cursor === at && isWord(token)))
      see(cursor, cursor)
    if (token === '{' || token === '[') frames.push({ isList: token === '[', keys: new Set(), key: undefined })
    else if (token === '}' || token === ']') {
      if (frames.pop() === around && around !== undefined) break
      if (frames.length === 0) return found ?? end
    } else if (token === ',') frames.at(-1)!.key = last = undefined
    else if (token === ':') {
      const top = frames.at(-1)!
      if (top.isList || last === undefined) continue
      top.key = last
      if (found?.key !== last || top !== around || found.at !== 'key') top.keys.add(last)
      last = undefined
    } else if (isWord(token)) {
      const word = token.replace(/^["']|["']$/g, '')
      if (found === undefined && at <= cursor && cursor <= end) see(at, isOpen(token) ? cursor : end, word)
      last = word
    }
  }
  if (found === undefined) see(cursor, cursor)
  return found!
}

/** Brackets and punctuation, quoted strings (which may be unclosed at the end of the line), comments and words. */
const TOKEN =
  /[{}[\],]|:(?=[\s,{}[\]"']|$)|"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\r\n]|'')*'?|(?<=\s)#[^\r\n]*|[^\s,{}[\]"':#](?:[^\s,{}[\]:]|:(?![\s,{}[\]]|$)|[ \t]+(?![\s#:,{}[\]]|$))*/g

const isWord = (token: string): boolean => !/^(?:[{}[\],:]$|#)/.test(token)
const isOpen = (token: string): boolean => /^["']/.test(token) && (token.length === 1 || token.at(-1) !== token[0])
