/** Defined by the build. */
declare const SVC_VERSION: string | undefined

/** Version of this package; `0.0.0-source` when it runs from its sources. */
export const packageVersion = typeof SVC_VERSION === 'string' ? SVC_VERSION : '0.0.0-source'

/** Handles `--version` before anything else is loaded. False for any other argument. */
export function handleVersionFlag([word]: readonly string[], out: { write(text: string): unknown }): boolean {
  if (word !== '-V' && word !== '--version') return false
  out.write(`${packageVersion}\n`)
  return true
}
