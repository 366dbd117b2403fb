// Formats generated text as `npm run format` wants it.
import { readFileSync } from 'node:fs'
import { loadFormatter } from './tool.js'

const { format } = await loadFormatter()
const { ignorePatterns: _, ...style } = JSON.parse(readFileSync(new URL('../.oxfmtrc.json', import.meta.url), 'utf8'))

/** @param {string} file says by its name what the text is */
export async function formatGenerated(file, text) {
  const { code, errors } = await format(file, text, style)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  return code
}
