/** A value of the server that a screen shows, read again when a hint says that it may have changed. */
import { signal, type ReadonlySignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { LiveHint } from '../../spec/operator/inbox.ts'
import { onHint } from './live.ts'
import { RequestError } from './request.ts'

export interface Resource<T> {
  /** Undefined until it was read. Stays while a later read fails. */
  readonly value: ReadonlySignal<T | undefined>
  readonly error: ReadonlySignal<RequestError | undefined>
  /** Reads again. Calls meanwhile are one read more. */
  reload(): Promise<void>
}

function createResource<T>(load: () => Promise<T>): Resource<T> {
  const value = signal<T | undefined>(undefined)
  const error = signal<RequestError | undefined>(undefined)
  let reading: Promise<void> | undefined
  let isAsked = false
  const read = async (): Promise<void> => {
    do {
      isAsked = false
      try {
        value.value = await load()
        error.value = undefined
      } catch (thrown) {
        if (!(thrown instanceof RequestError)) throw thrown
        error.value = thrown
      }
    } while (isAsked)
  }
  return {
    value,
    error,
    reload() {
      isAsked = true
      reading ??= read().finally(() => (reading = undefined))
      return reading
    },
  }
}

/**
 * @param key another key is another value
 * @param concerns whether a hint is about the value; every hint where absent
 */
export function useResource<T>(
  key: string,
  load: () => Promise<T>,
  concerns: (hint: LiveHint) => boolean = () => true,
): Resource<T> {
  const resource = useMemo(() => createResource(load), [key])
  useEffect(() => {
    void resource.reload()
    return onHint((hint) => {
      if (concerns(hint)) void resource.reload()
    })
  }, [resource])
  return resource
}

/** Hints about one session. */
export const aboutSession =
  (sessionId: () => string | undefined) =>
  ({ sessions }: LiveHint): boolean => {
    const id = sessionId()
    return sessions === 'any' || id === undefined || sessions.includes(id)
  }

export const aboutAnySession = ({ sessions }: LiveHint): boolean => sessions === 'any' || sessions.length > 0

export const aboutWorkspace = ({ workspace }: LiveHint): boolean => workspace
