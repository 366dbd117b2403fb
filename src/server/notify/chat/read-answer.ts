/** Reads what a chat's server answered, and no more of it than a message can need. */
const MOST_BYTES = 256 * 1024

/** The start of a body as text; the rest is not read. */
export async function readAnswerText(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const chunks: Uint8Array[] = []
  for (let size = 0; size <= MOST_BYTES;) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    size += value.length
  }
  await reader.cancel()
  return Buffer.concat(chunks).subarray(0, MOST_BYTES).toString('utf8')
}
