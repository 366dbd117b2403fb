/**
 * Types of the platform, taken from whatever declares them: the DOM library, Node, a worker's or Deno's. Where nothing does, a
 * minimal shape stands in, so that the declarations compile without any of them.
 */
type Platform<Name extends string, Otherwise> = typeof globalThis extends {
  readonly [N in Name]: { readonly prototype: infer Instance }
}
  ? Instance
  : Otherwise

export type PlatformSignal = Platform<'AbortSignal', { readonly aborted: boolean; readonly reason: unknown }>

export type PlatformBlob = Platform<
  'Blob',
  { readonly size: number; readonly type: string; arrayBuffer(): Promise<ArrayBuffer> }
>

export type PlatformStream = Platform<'ReadableStream', { readonly locked: boolean; cancel(): Promise<void> }>

export type PlatformResponse = Platform<
  'Response',
  {
    readonly ok: boolean
    readonly status: number
    readonly headers: { get(name: string): string | null }
    readonly body: PlatformStream | null
    text(): Promise<string>
  }
>

export type PlatformRequestInit = typeof globalThis extends { fetch: (input: never, init?: infer Init) => unknown }
  ? Exclude<Init, undefined>
  : {
      readonly method?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Uint8Array | PlatformBlob | PlatformStream
      readonly redirect?: string
      readonly signal?: PlatformSignal
    }
