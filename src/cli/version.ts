/** Put in by the build. */
declare const SVC_VERSION: string | undefined

/** Version of this package; `0.0.0-source` when it runs from its sources. */
export const version = typeof SVC_VERSION === 'string' ? SVC_VERSION : '0.0.0-source'
