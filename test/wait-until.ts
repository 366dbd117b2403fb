/** Waiting for what other processes do, on a machine on which others work too. */
import { setTimeout as after } from 'node:timers/promises'

/** Only a test that fails waits this long. */
export const PATIENCE_MS = 120_000

/** @throws Error with what `describe` says where the promise takes longer than `PATIENCE_MS` */
export async function waitPatiently<T>(promise: Promise<T>, describe: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, failed) => {
    timer = setTimeout(() => failed(new Error(describe())), PATIENCE_MS)
  })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Waits until something is so. @returns milliseconds it took */
export async function waitUntil(isSo: () => Promise<boolean> | boolean): Promise<number> {
  const from = performance.now()
  while (!(await isSo())) {
    if (performance.now() - from > PATIENCE_MS) throw new Error(`It did not become so: ${isSo.toString()}`)
    await after(5)
  }
  return performance.now() - from
}
