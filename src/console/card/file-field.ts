/** A file as a value of a form: it is kept in the workspace as soon as it is chosen, and the form holds its reference. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/escape-text.ts'
import { isJsonObject, parseJson, type JsonValue } from '../../base/json/json.ts'
import { html, type View } from '../parts/html.ts'
import { ErrorNote } from '../parts/states.ts'
import { findRefusal, sendFile, type RequestError } from '../wire/request.ts'

/** A property whose schema asks for `svcFile: true` (HTTP API, "File reference"). */
export function isFileSchema(property: JsonValue | undefined): boolean {
  const properties = isJsonObject(property) ? property['properties'] : undefined
  const mark = isJsonObject(properties) ? properties['svcFile'] : undefined
  return isJsonObject(mark) && (mark['const'] === true || (Array.isArray(mark['enum']) && mark['enum'].includes(true)))
}

export function FileField({
  shared,
  text,
  onText,
}: {
  /** Attributes of the input. */
  readonly shared: Readonly<Record<string, unknown>>
  /** The reference as JSON. */
  readonly text: string | undefined
  readonly onText: (text: string | undefined) => void
}): View {
  const [state, setState] = useState<'idle' | 'sending'>('idle')
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const keep = async ({ currentTarget }: { currentTarget: HTMLInputElement }): Promise<void> => {
    const [file] = currentTarget.files ?? []
    setProblem(undefined)
    if (!file) return onText(undefined)
    setState('sending')
    const refusal = await findRefusal(async () => {
      const { filename, mediaType } = await sendFile(file)
      onText(JSON.stringify({ svcFile: true, filename, mediaType }))
    })
    setProblem(refusal)
    if (refusal) onText(undefined)
    setState('idle')
    return undefined
  }
  return html`
    <input
      ...${shared}
      type="file"
      disabled=${state === 'sending'}
      onChange=${(event: { currentTarget: HTMLInputElement }) => void keep(event)}
    />
    ${state === 'sending' && html`<p class="dim hint" role="status">Uploading…</p>`}
    ${text !== undefined && html`<p class="dim hint">Kept as ${safeText(nameIn(text))}</p>`}
    <${ErrorNote} error=${problem} />
  `
}

function nameIn(text: string): string {
  const value = parseJson(text)
  return isJsonObject(value) && typeof value['filename'] === 'string' ? value['filename'] : 'a file'
}
