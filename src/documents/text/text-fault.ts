/** Explains syntax errors of YAML and JSON. */
import type { YAMLException } from 'js-yaml'

export interface TextFault {
  /** Offsets into the text. */
  readonly start: number
  readonly end: number
  readonly message: string
  readonly fix?: string
  /** The replacement for the span, if it is certain. */
  readonly instead?: string
}

/** Offset at which the YAML parser stopped, at most the end of the last line with text: something missing at the end is reported there. */
export const stopOf = (text: string, { mark }: YAMLException): number =>
  Math.min(mark?.position ?? 0, text.trimEnd().length)

/** The mistake behind an error of the YAML parser, at or before the place where it stopped. */
export function yamlFault(text: string, error: YAMLException): TextFault {
  const { reason } = error
  const conflict = conflictIn(text)
  if (conflict !== undefined)
    return {
      start: conflict,
      end: conflict + 7,
      message: 'A merge conflict is not resolved here.',
      fix: 'Keep one of the two.',
    }
  const start = stopOf(text, error)
  const unfilled = unfilledAt(text, start)
  if (unfilled !== undefined) return unfilled
  const tab = reason === DEFICIENT_INDENTATION ? tabBefore(text, start) : undefined
  if (tab !== undefined)
    return { start: tab, end: tab + 1, message: 'A tab stands before a bracket or in it.', fix: 'Write a space.' }
  const message = UNSTARTABLE.test(text[start] ?? '')
    ? `A text without quotes cannot begin with "${text[start]}".`
    : sentence(REASONS[reason] ?? reason)
  const fix = syntaxFix(text, start)
  return { start, end: start + 1, message, ...(fix !== undefined && { fix }) }
}

/** An unfilled template or a shell variable that begins at or before the offset, on the same line. */
function unfilledAt(text: string, offset: number): TextFault | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  const line = text.slice(lineStart, end < 0 ? undefined : end)
  const template = templateIn(line)
  if (template !== undefined && lineStart + template.start <= offset)
    return unfilledTemplate(text, lineStart + template.start, lineStart + template.end)
  const variable = /\$\{(\w+)\}/.exec(line)
  if (!variable || offset < lineStart + variable.index || offset > lineStart + variable.index + variable[0].length)
    return undefined
  const [written, name] = variable
  const start = lineStart + variable.index
  const place = { start, end: start + written.length, message: `"${written}" is not replaced by a value here.` }
  return /^\s*secrets:\s*\{/.test(line) && /[{,]\s*["']?[\w.-]+["']?:\s*$/.test(line.slice(0, variable.index))
    ? { ...place, fix: `Write {fromEnv: ${name}}.`, instead: `{fromEnv: ${name}}` }
    : { ...place, fix: 'Write the value itself; a secret names its variable: `secrets: {NAME: {fromEnv: VARIABLE}}`.' }
}

/** A value that begins with two braces; valid documents have none. */
function templateIn(line: string): { readonly start: number; readonly end: number } | undefined {
  const found = /(?<=^|[\s:[,])\{\{[^{}\n]*\}\}/.exec(line)
  return found ? { start: found.index, end: found.index + found[0].length } : undefined
}

/** @param start of the first brace */
export const unfilledTemplate = (text: string, start: number, end: number): TextFault => ({
  start,
  end,
  message: `A template was not filled in: "${text.slice(start, end)}".`,
  fix: 'Write the value, or run the template before svc reads the file.',
})

/** Undefined for JSON. */
export function jsonFault(text: string): TextFault | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    const reason = (error as Error).message
    const start = Number(/at position (\d+)/.exec(reason)?.[1] ?? 0)
    return {
      start,
      end: start + 1,
      message: sentence(reason.replace(/ in JSON at position.*$/s, '').replace(/, "[^]*$/, '')),
    }
  }
}

/** Reason of the YAML parser for a line with too little indentation. */
export const DEFICIENT_INDENTATION = 'deficient indentation'

/** Clearer words for reasons of the YAML parser. */
const REASONS: Readonly<Record<string, string>> = {
  [DEFICIENT_INDENTATION]: 'a bracket or quote is not closed, or the next line is indented too little',
  'bad indentation of a mapping entry': 'this does not continue the mapping: a colon too many, or wrong indentation',
  'end of the stream or a document separator is expected':
    'the document ends before this: a colon may be missing, or the indentation is wrong',
}

const sentence = (reason: string): string => `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`

/** Offset of the first conflict marker of git; undefined if there is no complete conflict. */
function conflictIn(text: string): number | undefined {
  const at = text.search(/^<{7} /m)
  return at >= 0 && /^={7}$[^]*^>{7} /m.test(text.slice(at).replaceAll('\r', '')) ? at : undefined
}

/** Offset of a tab that the parser takes for indentation on the line of a bracket. */
function tabBefore(text: string, offset: number): number | undefined {
  const tab = text.lastIndexOf('\t', offset)
  return tab > text.lastIndexOf('\n', offset - 1) ? tab : undefined
}

/** The fix for a syntax error whose cause is recognized. */
function syntaxFix(text: string, offset: number): string | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  const line = text.slice(lineStart, offset + 1)
  if (/^\s*\t/.test(line)) return 'Indent with spaces; YAML forbids tabs there.'
  if (UNSTARTABLE.test(text[offset] ?? '')) return 'Put the value in quotes.'
  if (text[offset] === ':' && /^\s*(?:- )?[^\s:]+: \S/.test(line)) return 'Put the value in quotes: it has a colon.'
  const above = text.slice(0, lineStart).trimEnd()
  const before = above.slice(above.lastIndexOf('\n') + 1)
  const opened = unclosedAtEnd(before)
  if (opened !== undefined) return `Close the ${opened} of the line above.`
  const glued = /^\s*(?:- )?([A-Za-z_]\w*):[^\s:/]/.exec(before)?.[1]
  if (glued !== undefined) return `Write a space behind the colon of \`${glued}:\`.`
  const [own, other] = [indentOf(text.slice(lineStart)), indentOf(before)]
  const key = /^( *(?:- +)*)[\w."'-]+:\s+[^\s|>&#]/.exec(before)?.[1]?.length
  const isKey = text[offset] === ':' && /^\s*[\w."'-]+$/.test(line.slice(0, -1))
  if (key !== undefined && own > key && (isKey || offset === lineStart + own))
    return `Lines of one mapping are indented alike: the line above by ${key} spaces, this one by ${own}.`
  if (offset === lineStart + own && own < other)
    return `Lines of one mapping are indented alike: the line above by ${other} spaces, this one by ${own}.`
  return undefined
}

/** The quote or bracket that the line leaves open. */
export function unclosedAtEnd(line: string): string | undefined {
  const open: string[] = []
  let quote: string | undefined
  for (const [at, char] of line.split('').entries()) {
    if (quote !== undefined) {
      if (char === quote && line[at - 1] !== '\\') quote = undefined
    } else if (/["']/.test(char) && /^[\s,[{]?$/.test(line[at - 1] ?? '')) quote = char
    else if (char === '#' && /^\s?$/.test(line[at - 1] ?? '')) break
    else if (char === '{' || char === '[') open.push(char)
    else if (char === '}' || char === ']') open.pop()
  }
  return quote ?? open.at(-1)
}

/** Characters that cannot begin an unquoted YAML value. */
const UNSTARTABLE = /[@`%]/

export const indentOf = (line: string): number => line.search(/[^ ]|$/)
