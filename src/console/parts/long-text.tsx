/** Texts and values that may be a megabyte: the beginning is drawn, the rest when it is asked for, a part at a time. */
import { useEffect, useState } from 'preact/hooks'
import { shortenText } from '../../base/text/cut-text.ts'
import { safeBlock, safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import type { ValueReference } from '../../spec/api.ts'
import { findRefusal, sendText, type RequestError } from '../wire/request.ts'
import type { View } from './view.ts'
import { ErrorNote } from './states.tsx'

/** Characters that are drawn at first, and with each further step: more at once would stop the page for a moment. */
const SHOWN_CHARACTERS = 2000
const MORE_CHARACTERS = 100_000

export function LongText({ text }: { readonly text: string }): View {
  const [most, setMost] = useState(SHOWN_CHARACTERS)
  const shown = shortenText(text, most)
  const rest = text.length - most
  return (
    <>
      <span class="json text">{text.includes('\n') ? <pre>{safeBlock(shown)}</pre> : safeText(shown)}</span>
      {rest > 0 && (
        <button type="button" class="link" onClick={() => setMost(most + MORE_CHARACTERS)}>
          Show {rest > MORE_CHARACTERS ? `${MORE_CHARACTERS.toLocaleString('en')} more of` : 'all'}{' '}
          {text.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  )
}

/** The reference that the server sends in the place of a large value; undefined for every other value. */
export const referenceIn = (value: JsonValue | undefined): ValueReference | undefined =>
  isJsonObject(value) && typeof value['svcValue'] === 'string' && typeof value['url'] === 'string'
    ? fromJson<ValueReference>(value)
    : undefined

/** A stored value that is fetched without being asked for. */
const SMALL_BYTES = 64 * 1024

/** A value that the store has by its digest: fetched when somebody wants to see it. */
export function StoredValue({ reference: { url, bytes, svcValue } }: { readonly reference: ValueReference }): View {
  const [text, setText] = useState<string | undefined>(undefined)
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const open = async (): Promise<void> => setProblem(await findRefusal(async () => setText(await sendText(url))))
  useEffect(() => {
    if (bytes <= SMALL_BYTES) void open()
  }, [url])
  if (text !== undefined) return <LongText text={text} />
  return (
    <>
      <button type="button" class="link" title={safeText(svcValue)} onClick={() => void open()}>
        Show {bytes.toLocaleString('en')} bytes
      </button>
      <ErrorNote error={problem} />
    </>
  )
}
