/** A file of a form: it is kept in the workspace as soon as it is chosen, and the form holds its name there. */
import type { AriaAttributes } from 'preact'
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { FileView } from '../../operations/sessions.ts'
import type { View } from '../parts/view.ts'
import { ErrorNote } from '../parts/states.tsx'
import { findRefusal, sendFile, type RequestError } from '../wire/request.ts'

/** A property whose schema asks for `svcFile: true` (HTTP API, "File reference"). */
export function isFileSchema(property: JsonValue | undefined): boolean {
  const properties = isJsonObject(property) ? property['properties'] : undefined
  const mark = isJsonObject(properties) ? properties['svcFile'] : undefined
  return isJsonObject(mark) && (mark['const'] === true || (Array.isArray(mark['enum']) && mark['enum'].includes(true)))
}

export function FileField({
  attributes,
  kept,
  onKept,
}: {
  /** Further ones, of the input. */
  readonly attributes?: AriaAttributes & { readonly id: string }
  /** The name of the file that was kept. */
  readonly kept: string | undefined
  readonly onKept: (file: FileView | undefined) => void
}): View {
  const [state, setState] = useState<'idle' | 'sending'>('idle')
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const keep = async ({ currentTarget }: { currentTarget: HTMLInputElement }): Promise<void> => {
    const [file] = currentTarget.files ?? []
    setProblem(undefined)
    if (!file) return onKept(undefined)
    setState('sending')
    const refusal = await findRefusal(async () => onKept(await sendFile(file)))
    setProblem(refusal)
    if (refusal) onKept(undefined)
    setState('idle')
    return undefined
  }
  return (
    <>
      <input
        {...attributes}
        type="file"
        disabled={state === 'sending'}
        onChange={(event: { currentTarget: HTMLInputElement }) => void keep(event)}
      />
      {state === 'sending' && (
        <p class="dim hint" role="status">
          Uploading…
        </p>
      )}
      {kept !== undefined && <p class="dim hint">Kept as {safeText(kept)}</p>}
      <ErrorNote error={problem} />
    </>
  )
}
