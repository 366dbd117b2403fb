/** Reads keys from the terminal of this process: one key, keys buffered for later, or the beginning of a line. */
import { systemClock } from '../../../base/clock.ts'
import { Interrupted, QuestionLeft } from '../io.ts'
import { isInterrupt, matchKey, parseKeys, unparseKeys } from './keys.ts'

/** Keys typed while nothing waited for one; buffered only between `holdKeys` and its release. */
let kept: string[] = []
let holders = 0
/** The time at which each key was last typed: a held key repeats. */
const times = new Map<string, number>()
const onKept = (bytes: Buffer): void => void kept.push(...receive(bytes))

function receive(bytes: Buffer): string[] {
  const keys = parseKeys(bytes.toString('utf8'))
  const now = systemClock.monotonic()
  for (const key of keys) if (key.length === 1) times.set(key.toLowerCase(), now)
  return keys
}

export function lastTyped(keys: readonly string[]): number | undefined {
  const known = keys.flatMap((key) => times.get(key.toLowerCase()) ?? [])
  return known.length === 0 ? undefined : Math.max(...known)
}

/** Raw mode from now on, so that what is typed is not echoed. */
export function holdKeys(): () => void {
  holders++
  startKeeping()
  let isOpen = true
  return () => {
    if (!isOpen) return
    isOpen = false
    if (--holders > 0) return
    stopKeeping()
    kept = []
    if (process.stdin.isTTY) process.stdin.setRawMode(false)
    process.stdin.pause()
  }
}

function startKeeping(): void {
  const { stdin } = process
  if (stdin.listeners('data').includes(onKept)) return
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.on('data', onKept)
  stdin.resume()
}

const stopKeeping = (): void => void process.stdin.off('data', onKept)

/** Lets input from before raw mode arrive, and a question of the library start listening. */
async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((done) => setImmediate(done))
}

export async function dropTyped(): Promise<readonly string[]> {
  await nextTurns()
  const dropped = kept.filter((key) => !isInterrupt(key))
  kept = kept.filter(isInterrupt)
  return dropped
}

/** Lets another program or a question read the terminal, and discards earlier input. */
export async function withoutKeeping<T>(work: () => Promise<T>): Promise<T> {
  stopKeeping()
  if (holders > 0) process.stdin.pause()
  kept = kept.filter(isInterrupt)
  try {
    return await work()
  } finally {
    if (holders > 0) startKeeping()
  }
}

/**
 * Lets Escape leave a line that is asked for; the library knows no such key. What was typed since the key that asked for the
 * line is its beginning.
 */
export async function untilEscape<T>(
  signal: AbortSignal | undefined,
  ask: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const left = new AbortController()
  const onKey = (_: string | undefined, { name }: { name?: string }): void => {
    if (name === 'escape') left.abort(new QuestionLeft())
  }
  const typed = unparseKeys(kept)
  kept = []
  process.stdin.on('keypress', onKey)
  try {
    const answer = ask(AbortSignal.any([left.signal, ...(signal ? [signal] : [])]))
    if (typed !== '') void nextTurns().then(() => process.stdin.unshift(Buffer.from(typed)))
    return await answer
  } finally {
    process.stdin.off('keypress', onKey)
  }
}

/** Reads one keypress in raw mode and leaves raw mode again, unless the keys are held. */
export function readKey(question: string, keys: readonly string[] | 'any', signal?: AbortSignal): Promise<string> {
  const { stdin, stderr } = process
  if (question !== '') stderr.write(`${question} `)
  return new Promise((done, failed) => {
    const close = () => {
      stdin.off('data', onData)
      stdin.off('end', onEnd)
      signal?.removeEventListener('abort', onAbort)
      if (holders > 0) startKeeping()
      else {
        if (stdin.isTTY) stdin.setRawMode(false)
        stdin.pause()
      }
      if (question !== '') stderr.write('\n')
    }
    const settle = (finish: () => void) => {
      close()
      finish()
    }
    const onAbort = () => settle(() => failed(signal?.reason as Error))
    const onEnd = () => settle(() => failed(new Interrupted('SIGINT')))
    /** True when a key was taken; those after it are kept for the next call where keys are held. */
    const take = (typed: readonly string[]): boolean => {
      for (const [at, key] of typed.entries()) {
        // In raw mode the terminal no longer turns Ctrl-C and Ctrl-D into signals.
        if (isInterrupt(key)) {
          settle(() => failed(new Interrupted('SIGINT')))
          return true
        }
        const chosen = matchKey(key, keys)
        if (chosen === undefined) continue
        if (holders > 0) kept = typed.slice(at + 1)
        if (question !== '') stderr.write(key)
        settle(() => done(chosen))
        return true
      }
      return false
    }
    const onData = (bytes: Buffer) => void take(receive(bytes))
    if (signal?.aborted) return onAbort()
    stopKeeping()
    const earlier = kept
    kept = []
    if (stdin.isTTY) stdin.setRawMode(true)
    if (take(earlier)) return
    signal?.addEventListener('abort', onAbort)
    stdin.on('data', onData)
    stdin.on('end', onEnd)
    stdin.resume()
  })
}
