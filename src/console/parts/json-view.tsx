/** A JSON value as a tree: what is large is drawn when it is opened. */
import { useState } from 'preact/hooks'
import { safeJson } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { View } from './view.ts'
import { LongText, referenceIn, StoredValue } from './long-text.tsx'

/** Members shown before more are asked for. */
const SHOWN_MEMBERS = 100
/** Levels that are open at first. */
const OPEN_LEVELS = 2

export function JsonView({ value, level = 0 }: { readonly value: JsonValue; readonly level?: number }): View {
  if (Array.isArray(value))
    return <Members entries={value.map((each, at) => [String(at), each])} level={level} marks="[]" />
  const reference = referenceIn(value)
  if (reference) return <StoredValue reference={reference} />
  if (isJsonObject(value)) return <Members entries={Object.entries(value)} level={level} marks="{}" />
  if (typeof value === 'string') return <LongText text={value} />
  return <code class={`json ${typeof value}`}>{JSON.stringify(value)}</code>
}

function Members({
  entries,
  level,
  marks,
}: {
  readonly entries: readonly (readonly [string, JsonValue])[]
  readonly level: number
  readonly marks: string
}): View {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS)
  const [most, setMost] = useState(SHOWN_MEMBERS)
  if (entries.length === 0) return <code class="json">{marks}</code>
  const summary = `${marks[0]} ${entries.length} ${marks[1]}`
  return (
    <div class="json-members">
      {level > 0 && (
        <button type="button" class="link json-open" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {summary}
        </button>
      )}
      {isOpen && (
        <dl>
          {entries.slice(0, most).map(([name, value]) => (
            <div key={name}>
              <dt>{safeJson(name).slice(1, -1)}</dt>
              <dd>
                <JsonView value={value} level={level + 1} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {isOpen && entries.length > most && (
        <button type="button" class="link" onClick={() => setMost(most + 1000)}>
          {entries.length - most} more
        </button>
      )}
    </div>
  )
}
