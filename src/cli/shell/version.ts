/** Both are defined by the build. */
declare const SVC_VERSION: string | undefined
declare const SVC_SPECIFIER: string | undefined

/** Version of this package; `0.0.0-source` when it runs from its sources. */
export const packageVersion = typeof SVC_VERSION === 'string' ? SVC_VERSION : '0.0.0-source'

/** What the `package.json` of a project names to get this version: `file:` and an archive while no registry has the package. */
export const packageSpecifier = typeof SVC_SPECIFIER === 'string' ? SVC_SPECIFIER : packageVersion

/** Handles `--version` before anything else is loaded. False for any other argument. */
export function handleVersionFlag([word]: readonly string[], out: { write(text: string): unknown }): boolean {
  if (word !== '-V' && word !== '--version') return false
  out.write(`${packageVersion}\n`)
  return true
}
