/** No credential of a source is written into a document, wherever the source had it. Source: docs/design/command-line.md#imports */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { maskCredentials } from '../documents/text/credentials.ts'
import type { PlannedFile } from './import-plan.ts'
import type { LossList } from './losses.ts'

/** Documents whose texts have asterisks in place of what looks like a credential; each is reported with its place. */
export const maskPlanned = (files: readonly PlannedFile[], losses: LossList): readonly PlannedFile[] =>
  files.map((file) => {
    if (!isJsonObject(file.content)) return file
    const content = maskValue(file.content, [], (place) =>
      losses.add(file.key, `what looks like a credential is masked: ${place.join('.')}`, true),
    )
    return { ...file, content: content as JsonObject }
  })

type Report = (place: readonly string[]) => void

/** Names of members are the source's, too, but a masked name would be another member. */
function maskValue(value: JsonValue, place: readonly string[], report: Report): JsonValue {
  if (typeof value === 'string') {
    const masked = maskCredentials(value)
    if (masked !== value) report(place)
    return masked
  }
  if (Array.isArray(value)) return value.map((each, at) => maskValue(each, [...place, String(at)], report))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, maskValue(each, [...place, key], report)]))
}
