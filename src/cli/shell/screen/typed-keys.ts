/** Reads keys from the terminal of this process: one key, keys buffered for later, or the beginning of a line. */
import { systemClock } from '../../../base/clock.ts'
import { Interrupted, QuestionLeft, type KeyReading } from '../io.ts'
import { createKeyPressReader, type KeyPress } from './key-presses.ts'
import { isInterrupt, unparseKeys } from './keys.ts'

/** Makes a terminal enclose what is pasted, so that no part of it is taken for a key. */
const ENCLOSE_PASTES = '\u001b[?2004h'
const LEAVE_PASTES = '\u001b[?2004l'

/** Presses that nobody has taken; buffered only between `holdKeys` and its release. */
let kept: KeyPress[] = []
let holders = 0
let presses = createKeyPressReader(-Infinity)
let settling: NodeJS.Timeout | undefined
/** The open question, if any: takes the presses that it can, and leaves the rest in `kept`. */
let takeKept: (() => void) | undefined
/** The time at which each key was last typed: a held key repeats. */
const times = new Map<string, number>()
let enclosesPastes = false

function onData(bytes: Buffer): void {
  arrive(presses.receive(bytes, systemClock.monotonic()))
  settleLater()
}

function arrive(typed: readonly KeyPress[]): void {
  for (const { key, isPasted, at } of typed) if (!isPasted) times.set(key, at)
  kept.push(...typed)
  takeKept?.()
}

function settleLater(): void {
  clearTimeout(settling)
  const due = presses.settlesAt
  if (due === undefined || due === Infinity) return
  settling = setTimeout(() => setImmediate(settleNow), Math.max(0, due - systemClock.monotonic()))
}

/** After a read of the terminal: where this process was busy, the rest may have been waiting there all the time. */
function settleNow(): void {
  const now = systemClock.monotonic()
  if ((presses.settlesAt ?? Infinity) > now) return settleLater()
  arrive(presses.settle(now))
  settleLater()
}

export function lastTyped(keys: readonly string[]): number | undefined {
  const known = keys.flatMap((key) => times.get(key) ?? [])
  return known.length === 0 ? undefined : Math.max(...known)
}

/** Raw mode from now on, so that what is typed is not echoed. */
export function holdKeys(): () => void {
  holders++
  startListening()
  let isOpen = true
  return () => {
    if (!isOpen) return
    isOpen = false
    if (--holders > 0) return
    stopListening()
    kept = []
    if (process.stdin.isTTY) process.stdin.setRawMode(false)
    process.stdin.pause()
  }
}

function startListening(): void {
  const { stdin, stderr } = process
  if (stdin.listeners('data').includes(onData)) return
  presses = createKeyPressReader(systemClock.monotonic())
  if (stdin.isTTY) stdin.setRawMode(true)
  if (stdin.isTTY && stderr.isTTY && !enclosesPastes) {
    stderr.write(ENCLOSE_PASTES)
    enclosesPastes = true
    process.once('exit', leavePastes)
  }
  stdin.on('data', onData)
  stdin.resume()
}

function stopListening(): void {
  process.stdin.off('data', onData)
  clearTimeout(settling)
  leavePastes()
}

function leavePastes(): void {
  if (enclosesPastes) process.stderr.write(LEAVE_PASTES)
  enclosesPastes = false
  process.off('exit', leavePastes)
}

/** Lets input from before raw mode arrive, and a question of the library start listening. */
async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((done) => setImmediate(done))
}

const isKeptInterrupt = ({ key, isPasted }: KeyPress): boolean => !isPasted && isInterrupt(key)

export async function dropTyped(): Promise<readonly string[]> {
  await nextTurns()
  const dropped = kept.filter((press) => !isKeptInterrupt(press))
  kept = kept.filter(isKeptInterrupt)
  return dropped.map(({ key }) => key)
}

/** Lets another program or a question read the terminal, and discards earlier input. */
export async function withoutKeeping<T>(work: () => Promise<T>): Promise<T> {
  stopListening()
  if (holders > 0) process.stdin.pause()
  kept = kept.filter(isKeptInterrupt)
  try {
    return await work()
  } finally {
    if (holders > 0) startListening()
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
  const typed = unparseKeys(kept.map(({ key }) => key))
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
export function readKey(
  question: string,
  keys: readonly string[] | 'any',
  signal?: AbortSignal,
  { deciding = [], onRefused }: KeyReading = {},
): Promise<string> {
  const { stdin, stderr } = process
  if (question !== '') stderr.write(`${question} `)
  return new Promise((done, failed) => {
    const settle = (finish: () => void) => {
      takeKept = undefined
      stdin.off('end', onEnd)
      signal?.removeEventListener('abort', onAbort)
      if (holders === 0) {
        stopListening()
        kept = []
        if (stdin.isTTY) stdin.setRawMode(false)
        stdin.pause()
      }
      if (question !== '') stderr.write('\n')
      finish()
    }
    const onAbort = () => settle(() => failed(signal?.reason as Error))
    const onEnd = () => settle(() => failed(new Interrupted('SIGINT')))
    const take = () => {
      for (;;) {
        const press = kept[0]
        if (press === undefined) return
        const isDeciding = deciding.includes(press.key)
        if (isDeciding && press.standing() === 'open') return
        kept.shift()
        // In raw mode the terminal no longer turns Ctrl-C and Ctrl-D into signals.
        if (isKeptInterrupt(press)) return settle(() => failed(new Interrupted('SIGINT')))
        const isMeant = keys === 'any' || (keys.includes(press.key) && !press.isPasted)
        if (!isMeant) continue
        if (isDeciding && press.standing() !== 'alone') {
          onRefused?.(press.key)
          // It may have ended the question.
          if (takeKept !== take) return
          continue
        }
        if (question !== '') stderr.write(press.key)
        return settle(() => done(press.key))
      }
    }
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort)
    stdin.on('end', onEnd)
    takeKept = take
    startListening()
    take()
  })
}
