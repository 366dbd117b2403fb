import type { JsonObject } from '../base/json/json.ts'
import { describeApprover } from './task/task-people.ts'

/** Who resumed a run, how and why. Not escaped. */
export function describeResumption(content: JsonObject): string {
  const text = (name: string): string => (typeof content[name] === 'string' ? content[name] : '')
  const { granted } = content
  const limits = Array.isArray(granted) ? granted.filter((each) => typeof each === 'string') : []
  return [
    `by ${describeApprover(text('resumed_by'))}`,
    text('version') === '' ? '' : `with version ${text('version')} instead of ${text('from_version')}`,
    limits.length === 0 ? '' : `granting ${limits.join(', ')} again`,
    text('reason'),
  ]
    .filter((part) => part !== '')
    .join('; ')
}
