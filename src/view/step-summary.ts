/** Summarizes a step in a few words, for outlines, which do not show its content. Not escaped. */
import { cutText, shortenText } from '../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { describeResumption } from './resumption.ts'
import { describeUndoRequest } from './undo.ts'

/** Longest text of a summary. */
const MAX_CHARACTERS = 120

/** @param error why the step failed, which says more than what it was about */
export function summarizeStep(type: string, content: JsonObject, error: string | null = null): string {
  // A result that is an error says it in its result, too.
  const about = error !== null && type === 'ToolResult' ? '' : summarizeContent(type, content)
  return error === null || !FAILING.has(type) ? about : inOneLine(about === '' ? error : `${about}: ${error}`)
}

/** Other steps have their error in their content, or are followed by a step that tells it. */
const FAILING: ReadonlySet<string> = new Set(['Reasoning', 'ToolCall', 'ToolResult', 'RunCompleted'])

function summarizeContent(type: string, content: JsonObject): string {
  const text = (name: string): string => (typeof content[name] === 'string' ? content[name] : '')
  switch (type) {
    case 'Reasoning':
      return inOneLine(text('text') || namesOf(content['tool_calls']))
    case 'UserMessage':
      return inOneLine(text('text') || text('message') || textOf(content['output']))
    case 'PolicyDecision':
      return `${text('name')} ${text('decision').replaceAll('_', ' ')}`.trim()
    case 'ToolCall':
      return inOneLine(`${text('ref') || text('name')} ${textOf(content['arguments'])}`)
    case 'ToolResult':
      return inOneLine(textOf(content['result']))
    case 'SubAgentCall':
      return inOneLine(`${text('agent')} ${textOf(content['input'])}`)
    case 'SubAgentResult':
      return inOneLine(`${text('status')} ${textOf(content['output'] ?? undefined)}`)
    case 'UserTaskReq':
      return inOneLine(text('title'))
    case 'UserTaskRes':
      return text('outcome').replaceAll('_', ' ')
    case 'LimitReached':
      return text('limit')
    case 'RunResumed':
      return inOneLine(describeResumption(content))
    case 'UndoRequested':
      return inOneLine(describeUndoRequest(content))
    case 'RunCompleted':
    case 'SessionCompleted':
      return text('status')
    case 'Output':
      return inOneLine(textOf(content['output']))
    default:
      return ''
  }
}

/** `calls pay, look` */
const namesOf = (calls: JsonValue | undefined): string => {
  const names = (Array.isArray(calls) ? calls : []).flatMap((each) =>
    isJsonObject(each) && typeof each['name'] === 'string' ? [each['name']] : [],
  )
  return names.length === 0 ? '' : `calls ${names.join(', ')}`
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Line breaks and indents are blanks: a JSON text is as short as it can be. */
function inOneLine(text: string): string {
  const { text: beginning } = cutText(text, 4 * MAX_CHARACTERS)
  return shortenText(beginning.replaceAll(/\s+/g, ' ').trim(), MAX_CHARACTERS)
}
