/** Title, metadata and tags of a session, beyond what their schemas can say. Source: docs/design/http.md#sessions-and-lists */
import type { InvalidPlace } from '../../base/failure.ts'
import type { SessionPatch } from '../../spec/api.ts'

const MAX_NAME_BYTES = 64
const MAX_VALUE_BYTES = 512
/** Bytes of all metadata as JSON, so that a page of 500 sessions stays within the bounds of an answer. */
const MAX_METADATA_BYTES = 10 * 1024
const MAX_TAG_BYTES = 64

/** Control characters take six bytes each in JSON, and mean nothing in a label. Half a surrogate pair (`Cs`) cannot be stored as it is. */
const CONTROL = /[^\P{Cc}\t\n\r]|\p{Cs}/u
const CONTROL_OR_LINE = /[\p{Cc}\p{Cs}\u2028\u2029]/u
const NO_CONTROL = 'must have no control characters, nor half of a surrogate pair'

export function labelProblems({ title, metadata = {}, tags = [] }: SessionPatch): InvalidPlace[] {
  const found: InvalidPlace[] = []
  const report = (path: string, message: string) => void found.push({ path, message })
  if (title != null && CONTROL_OR_LINE.test(title))
    report('/title', 'must be one line without control characters or halves of surrogate pairs')
  for (const [name, value] of Object.entries(metadata)) {
    const path = `/metadata/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (name === '' || Buffer.byteLength(name) > MAX_NAME_BYTES)
      report(path, `needs a name of 1 to ${MAX_NAME_BYTES} bytes`)
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES) report(path, `must have at most ${MAX_VALUE_BYTES} bytes`)
    if (CONTROL.test(name + value)) report(path, NO_CONTROL)
  }
  if (Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA_BYTES)
    report('/metadata', `must have at most ${MAX_METADATA_BYTES} bytes as JSON`)
  for (const [at, tag] of tags.entries()) {
    if (Buffer.byteLength(tag) > MAX_TAG_BYTES) report(`/tags/${at}`, `must have at most ${MAX_TAG_BYTES} bytes`)
    if (CONTROL.test(tag)) report(`/tags/${at}`, NO_CONTROL)
    if (tags.indexOf(tag) < at) report(`/tags/${at}`, 'is given twice')
  }
  return found
}
